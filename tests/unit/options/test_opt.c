/* test_opt.c: the command line, merged with the environment. */
#include "support/test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "commands.h"
#include "options/opt.h"
#include "options/settings.h"
#include "output/out.h"
#include "rlock.h"

#define ARGS_MAX 24
#define SECRET   "s3cret"

/* One command line and what became of it. */
struct fixture {
    char *argv[ARGS_MAX];
    struct settings settings;
    struct complaint why;
};

/* The words of line, separated by spaces; "''" stands for an empty one. */
static enum settings_outcome load_for(struct fixture *fixture, const struct cmd *cmd,
                                      const char *line) {
    static char words[2048];
    int argc = 0;
    snprintf(words, sizeof words, "%s %s", cmd_word(cmd), line);
    char *rest = words, *word;
    while ((word = strtok_r(rest, " ", &rest)) != NULL && argc < ARGS_MAX - 1)
        fixture->argv[argc++] = strcmp(word, "''") == 0 ? word + 2 : word;
    fixture->argv[argc] = NULL;
    return settings_load(&fixture->settings, cmd, argc, fixture->argv, &fixture->why);
}

static enum settings_outcome load(struct fixture *fixture, const char *line) {
    return load_for(fixture, &cmd_run, line);
}

/* It is read, and then `so` holds of s, the settings. */
#define LOADS(cmd, line, so)                                                                       \
    do {                                                                                           \
        struct fixture loaded;                                                                     \
        if (load_for(&loaded, cmd, line) != SETTINGS_OK)                                           \
            fail_msg("%s %s: %s", (cmd)->name, line, loaded.why.text);                             \
        const struct settings *s = &loaded.settings;                                               \
        if (!(so))                                                                                 \
            fail_msg("%s %s: not %s", (cmd)->name, line, #so);                                     \
        settings_free(&loaded.settings);                                                           \
    } while (0)

static bool is(const char *text, const char *expected) {
    return text != NULL && expected != NULL ? strcmp(text, expected) == 0 : text == expected;
}

TEST(defaults_are_the_contracts) {
    LOADS(&cmd_run, "-n deploy true", s->name_count == 1 && is(s->names[0], "deploy"));
    LOADS(&cmd_run, "-n a true",
          s->server.count == 0 && OPT_FROM(s, server.urls)->source == SOURCE_DEFAULT);
    LOADS(&cmd_run, "-n a true", s->lock.wait_ms == RLOCK_FOREVER && s->lock.lease_ms == 30000);
    LOADS(&cmd_run, "-n a true", s->run.kill_after_ms == 5000 && s->lock.min_hold_ms == 0);
    LOADS(&cmd_run, "-n a true",
          s->server.connect_timeout_ms == 5000 && s->server.io_timeout_ms == 5000);
    LOADS(&cmd_run, "-n a true",
          s->lock.conflict_exit_code == EXIT_CONFLICT && s->server.password == NULL);
    LOADS(&cmd_run, "-n a true", !s->run.no_renew && s->run.on_lost != ON_LOST_WARN && !s->quiet);
    LOADS(&cmd_run, "-n a true", s->verbosity == 0 && s->log == LOG_TEXT);
    LOADS(&cmd_run, "-n a true",
          s->server.replicas == RLOCK_REPLICAS_AUTO && s->server.replica_timeout_ms == 1000);
    LOADS(&cmd_run, "-n a true",
          !s->server.tls.ca && !s->server.tls.cert && !s->server.tls.key && !s->server.tls.name);
    LOADS(&cmd_run, "-n a true", !s->server.tls.insecure);
}

TEST(every_option_is_read) {
    static const char some[] = "-na --name=b -s unix:///x -w 5m -qvv --lea 60 -- true";
    static const char others[] =
        "--no-renew --kill-after 0 --on-lost warn --min-hold 2s -E 0 -c true "
        "--connect-timeout=1ms --io-timeout=.5 --log=json -n a";
    static const char secure[] = "-n a --replicas 0 --replica-timeout 250ms --tls-ca ca "
                                 "--tls-cert c --tls-key k --tls-name h --tls-insecure true";
    LOADS(&cmd_run, some, s->name_count == 2 && is(s->names[1], "b"));
    LOADS(&cmd_run, some, is(s->server.urls[0], "unix:///x") && s->lock.wait_ms == 300000);
    LOADS(&cmd_run, some, s->lock.lease_ms == 60000 && s->quiet && s->verbosity == 2);
    LOADS(&cmd_run, others,
          s->run.no_renew && s->run.on_lost == ON_LOST_WARN && s->run.kill_after_ms == 0);
    LOADS(&cmd_run, others, s->lock.min_hold_ms == 2000 && s->lock.conflict_exit_code == 0);
    LOADS(&cmd_run, others, s->server.connect_timeout_ms == 1 && s->server.io_timeout_ms == 500);
    LOADS(&cmd_run, others, s->log == LOG_JSON);
    LOADS(&cmd_sem, secure, s->server.replicas == 0 && s->server.replica_timeout_ms == 250);
    LOADS(&cmd_sem, secure,
          is(s->server.tls.ca, "ca") && is(s->server.tls.cert, "c") && is(s->server.tls.key, "k"));
    LOADS(&cmd_sem, secure, is(s->server.tls.name, "h") && s->server.tls.insecure);
    LOADS(&cmd_latch_set, "-n a --count 1 --tls-ca ca", is(s->server.tls.ca, "ca"));
}

TEST(options_end_at_the_command) {
    LOADS(&cmd_run, "-n a ls -n b --quiet", s->name_count == 1 && is(s->run.command[0], "ls"));
    LOADS(&cmd_run, "-n a ls -n b --quiet", is(s->run.command[3], "--quiet") && !s->run.command[4]);
    LOADS(&cmd_run, "-n a -- -x", is(s->run.command[0], "-x"));
    LOADS(&cmd_run, "-n a -- ls --help", is(s->run.command[1], "--help"));
    LOADS(&cmd_run, "-n a -c true",
          is(s->run.command[0], "/bin/sh") && is(s->run.command[1], "-c"));
    LOADS(&cmd_run, "-n a -c true", is(s->run.command[2], "true") && s->run.command[3] == NULL);
}

TEST(options_take_each_other_into_account) {
    LOADS(&cmd_run, "-n a -w 5s -x true", s->lock.wait_ms == 0);
    LOADS(&cmd_run, "-n a -x --wait forever true", s->lock.wait_ms == RLOCK_FOREVER);
    LOADS(&cmd_run, "-n a -l 3s true", s->run.kill_after_ms == 1000);
    LOADS(&cmd_run, "-n a -l 3s --kill-after 1s true", s->run.kill_after_ms == 1000);
}

TEST(each_kind_has_its_options) {
    LOADS(&cmd_fair, "-n a -n b --supersede true", s->lock.supersede);
    LOADS(&cmd_fair, "-n a true", !s->lock.supersede && s->lock.priority == 0);
    LOADS(&cmd_fair, "-n a --priority -1000 true", s->lock.priority == -1000);
    LOADS(&cmd_fair, "-n a --priority=1000 true", s->lock.priority == 1000);
    LOADS(&cmd_read, "-n a -n b true", s->name_count == 2);
    LOADS(&cmd_write, "-n a -n b --prefer=readers true", s->lock.prefer == PREFER_READERS);
    LOADS(&cmd_write, "-n a --prefer readers --prefer writers true",
          s->lock.prefer == PREFER_WRITERS);
    LOADS(&cmd_sem, "-n a true", s->lock.permits == 0 && s->lock.take == 1 && !s->lock.plain);
    LOADS(&cmd_sem, "-n a --permits 1000000000 --take 10000 --plain -c true",
          s->lock.permits == RLOCK_PERMITS_MAX && s->lock.take == RLOCK_TAKE_MAX && s->lock.plain);
    LOADS(&cmd_sem, "-n a --plain -l 1s --no-renew true", s->lock.plain); /* of no effect */
    LOADS(&cmd_sem, "-n a --resize 7 -w 5s", s->counter.resize == 7);
    LOADS(&cmd_latch_set, "-n a --count 3", s->counter.count == 3);
    LOADS(&cmd_latch_down, "-n a", s->counter.by == 1 && !s->run.always && s->run.command == NULL);
    LOADS(&cmd_latch_down, "-n a --by 2 --always -- ls -l",
          s->counter.by == 2 && s->run.always && is(s->run.command[1], "-l"));
    LOADS(&cmd_latch_wait, "-n a", s->lock.wait_ms == RLOCK_FOREVER && !s->lock.must_exist);
    LOADS(&cmd_latch_wait, "-n a --must-exist -x -E 3 -c true",
          s->lock.must_exist && s->lock.conflict_exit_code == 3 && is(s->run.command[2], "true"));
}

/* A file is a fleet's: it says nothing of one lock, but what it says must not stand in the way. */
TEST(a_files_min_hold_does_not_stop_plain_permits) {
    char path[] = "/tmp/rlock-test-XXXXXX";
    static const char content[] = "min-hold = 5m\n";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, content, strlen(content)), strlen(content));
    close(fd);
    setenv("RLOCK_CONFIG", path, 1);
    LOADS(&cmd_sem, "-n a --plain true", s->lock.plain);
    setenv("RLOCK_CONFIG", "/dev/null", 1);
    unlink(path);
}

/* Refused with 64 and one line that has the text. */
static void assert_refuses(const struct cmd *cmd, const char *line, const char *text) {
    struct fixture f;
    if (load_for(&f, cmd, line) != SETTINGS_BAD || f.why.status != EXIT_USAGE ||
        strstr(f.why.text, text) == NULL || strstr(f.why.text, SECRET) != NULL)
        fail_msg("'%s %s': %d '%s'", cmd->name, line, f.why.status, f.why.text);
    settings_free(&f.settings);
}

struct mistake {
    const struct cmd *cmd;
    const char *line, *text;
};

#define ASSERT_REFUSES_EACH(rows)                                                                  \
    for (size_t i = 0; i < COUNT(rows); i++)                                                       \
    assert_refuses((rows)[i].cmd, (rows)[i].line, (rows)[i].text)

TEST(mistakes_of_a_kind_are_told) {
    static const struct mistake rows[] = {
        {&cmd_run, "-n a --supersede true", "unknown option '--supersede'"},
        {&cmd_run, "-n a --permits 1 true", "unknown option '--permits'"},
        {&cmd_fair, "-n a --supersede", "missing command"},
        {&cmd_run, "-n a --priority 1 true", "unknown option '--priority'"},
        {&cmd_fair, "-n a --priority 1001 true", "give a whole number from -1000 to 1000"},
        {&cmd_fair, "-n a --priority -1001 true", "give a whole number from -1000 to 1000"},
        {&cmd_fair, "-n a --priority - true", "give a whole number from -1000 to 1000"},
        {&cmd_fair, "-n a --priority --1 true", "give a whole number from -1000 to 1000"},
        {&cmd_fair, "-n a --priority +1 true", "give a whole number from -1000 to 1000"},
        {&cmd_fair, "-n a --priority 1.5 true", "give a whole number from -1000 to 1000"},
        {&cmd_fair, "-n a --priority= true", "give a whole number from -1000 to 1000"},
        {&cmd_write, "-n a --prefer writer true", "give readers or writers"},
        {&cmd_write, "-n a --prefer '' true", "give readers or writers"},
        {&cmd_read, "-n a --prefer readers true", "unknown option '--prefer'"},
        {&cmd_sem, "--permits 1 true", "missing --name"},
        {&cmd_sem, "-n a --permits 1", "missing command"},
        {&cmd_sem, "-n a -n b --permits 1 true", "several names: 'rlock sem' takes one"},
        {&cmd_sem, "-n a -n a --permits 1 true", "several names"},
        {&cmd_sem, "-n a --permits 0 true", "from 1 to 1000000000"},
        {&cmd_sem, "-n a --permits -1 true", "from 1 to 1000000000"},
        {&cmd_sem, "-n a --permits two true", "from 1 to 1000000000"},
        {&cmd_sem, "-n a --permits 1.5 true", "from 1 to 1000000000"},
        {&cmd_sem, "-n a --permits 1000000001 true", "from 1 to 1000000000"},
        {&cmd_sem, "-n a --permits 9999999999 true", "from 1 to 1000000000"},
        {&cmd_sem, "-n a --permits 18446744073709551617 true", "from 1 to 1000000000"},
        {&cmd_sem, "-n a --take 0 true", "from 1 to 10000"},
        {&cmd_sem, "-n a --permits 2 --take 3 true", "cannot use --take '3': it is more than"},
        {&cmd_sem, "-n a --take 3 --permits 2 true", "give at most 2"},
        {&cmd_sem, "-n a --plain --min-hold 1s true", "both --plain and --min-hold"},
        {&cmd_sem, "-n a --resize 0", "from 1 to 1000000000"},
        {&cmd_sem, "-n a --resize 3 true", "both --resize and a command"},
        {&cmd_sem, "-n a --resize 3 -c true", "both --resize and a command"},
        {&cmd_sem, "-n a --resize 3 --permits 3", "both --resize and --permits"},
        {&cmd_sem, "-n a --resize 3 --take 1", "both --resize and --take"},
        {&cmd_sem, "-n a --resize 3 --plain", "both --resize and --plain"},
        {&cmd_sem, "-n a --resize 3 --min-hold 1s", "both --resize and --min-hold"},
        {&cmd_sem, "--resize 3", "missing --name"},
        {&cmd_latch_set, "-n a", "missing --count"},
        {&cmd_latch_set, "--count 1", "missing --name"},
        {&cmd_latch_set, "-n a -n b --count 1", "'rlock latch set' takes one"},
        {&cmd_latch_set, "-n a --count 0", "from 1 to 1000000000"},
        {&cmd_latch_set, "-n a --count 1 true", "'rlock latch set' runs no command"},
        {&cmd_latch_set, "-n a --count 1 -c true", "unknown option '-c'"},
        {&cmd_latch_set, "-n a --count 1 -w 1s", "unknown option '-w'"},
        {&cmd_latch_set, "-n a --cuont 1", "did you mean '--count'? See 'rlock latch set --help'"},
        {&cmd_latch_down, "-n a --by 0", "from 1 to 1000000000"},
        {&cmd_latch_down, "-n a --by", "--by needs an argument: give --by K"},
        {&cmd_latch_down, "-n a --always=yes true", "--always takes no argument"},
        {&cmd_latch_down, "-n a -c true false", "-c and a command"},
        {&cmd_latch_down, "-n a -l 1s true", "unknown option '-l'"},
        {&cmd_latch_wait, "-w 1s", "missing --name"},
        {&cmd_latch_wait, "-n a -n b", "'rlock latch wait' takes one"},
        {&cmd_latch_wait, "-n a --lease 1s", "unknown option '--lease'"},
        {&cmd_latch_wait, "-n a --by 1", "unknown option '--by'"},
        {&cmd_latch_wait, "-n a --replicas 1", "unknown option '--replicas'"},
    };
    ASSERT_REFUSES_EACH(rows);
}

TEST(options_that_do_not_go_together_are_told) {
#define RUN_OR_FAIR  "it goes with rlock run or rlock fair, not with rlock "
#define RUN_OR_WRITE "it goes with rlock run or rlock write, not with rlock "
    static const struct mistake rows[] = {
        {&cmd_run, "-n a --any 0 true", "from 1 to 10000"},
        {&cmd_run, "-n a --any x true", "from 1 to 10000"},
        {&cmd_run, "-n a --any 2 true", "--any 2 and fewer names"},
        {&cmd_write, "-n a -n b -n a --any 3 true", "--any 3 and fewer names"},
        {&cmd_run, "-n a -n b --any 1 --preempt true", "--any and --preempt"},
        {&cmd_run, "-n a -n b --any 1 -x --max-skips 2 true", "--max-skips and --any"},
        {&cmd_run, "-n a -n b --any 1 --once-per 1h true", "--once-per and several names"},
        {&cmd_run, "-n a --any 1 -s unix://x -s unix://y -s unix://z true",
         "--any and several servers"},
        {&cmd_fair, "-n a --any 1 true", RUN_OR_WRITE "fair"},
        {&cmd_read, "-n a --any 1 true", RUN_OR_WRITE "read"},
        {&cmd_sem, "-n a --any 1 true", RUN_OR_WRITE "sem"},
        {&cmd_latch_wait, "-n a --any 1", RUN_OR_WRITE "latch wait"},
        {&cmd_run, "-n a --once-per 0 true", "it is too short"},
        {&cmd_run, "-n a --once-per=-1s true", "it is negative"},
        {&cmd_run, "-n a --once-per never true", "it is not a duration"},
        {&cmd_run, "-n a --once-per= true", "it is empty"},
        {&cmd_read, "-n a --once-per 1h true", RUN_OR_FAIR "read"},
        {&cmd_write, "-n a --once-per 1h true", RUN_OR_FAIR "write"},
        {&cmd_sem, "-n a --permits 1 --once-per 1h true", RUN_OR_FAIR "sem"},
        {&cmd_latch_down, "-n a --once-per 1h true", RUN_OR_FAIR "latch down"},
        {&cmd_run, "-n a --once-key= true", "it is empty"},
        {&cmd_run, "-n a -n b --once-key k true", "--once-key and several names"},
        {&cmd_write, "-n a --once-key k true", RUN_OR_FAIR "write"},
        {&cmd_run, "-n a --max-skips 2 true", "--max-skips and no end of the wait"},
        {&cmd_run, "-n a -x -s redis://a -s redis://b -s redis://c --max-skips 2 true",
         "--max-skips and several servers"},
        {&cmd_run, "-n a -x --max-skips 0 true", "from 1 to 1000000"},
        {&cmd_run, "-n a -x --max-skips= true", "from 1 to 1000000"},
        {&cmd_read, "-n a -x --max-skips 2 true", RUN_OR_FAIR "read"},
        {&cmd_fair, "-n a --preempt -x true", "--preempt and no wait"},
        {&cmd_run, "-n a --preempt -w 0 true", "--preempt and no wait"},
        {&cmd_fair, "-n a --preemptible --no-renew true", "--preemptible and --no-renew"},
        {&cmd_latch_wait, "-n a --preempt", RUN_OR_FAIR "latch wait"},
        {&cmd_read, "-n a --supersede true", "it goes with rlock fair, not with rlock read"},
        {&cmd_run, "-n a --timeout=-1 true", "it is negative"},
        {&cmd_run, "-n a --timeout 5y true", "unknown unit"},
        {&cmd_status, "-q", "missing NAME"},
        {&cmd_status, "-q --json x", "-q and --json"},
        {&cmd_status, "-q --watch x", "-q and --watch"},
        {&cmd_status, "--watch=1ms x", "give 100ms to 7d"},
        {&cmd_status, "''", "it is empty"},
        {&cmd_status, "--prometheus --json x", "--prometheus and --json"},
        {&cmd_status, "--prometheus --watch x", "--prometheus and --watch"},
        {&cmd_status, "--prometheus -q x", "-q and --prometheus"},
        {&cmd_status, "--prometheus=x", "takes no argument"},
        {&cmd_break, "", "missing NAME"},
        {&cmd_break, "--force a b", "too many operands"},
        {&cmd_break, "-n a b", "too many operands"},
        {&cmd_break, "--owner '' a", "it is empty"},
    };
    ASSERT_REFUSES_EACH(rows);
}

static const struct cmd cmd_named = {
    .name = "named",
    .synopsis = "[NAME...] [options]",
    .options = CMD_LATCH_SET,
    .operand = &opt_operand_name,
    .operands_min = 1,
    .operands_max = 3,
};

TEST(operands_stand_anywhere) {
    static const char line[] = "a --count 7 b -q -- -c";
    LOADS(&cmd_named, line, s->name_count == 3 && is(s->names[0], "a") && is(s->names[1], "b"));
    LOADS(&cmd_named, line,
          is(s->names[2], "-c") && s->counter.count == 7 && s->quiet && !s->run.command);
    assert_refuses(&cmd_named, "-q", "missing NAME: give it, as in 'rlock named NAME'");
    assert_refuses(&cmd_named, "a b c d", "too many operands");
    assert_refuses(&cmd_named, "a ''", "cannot use NAME '': it is empty");
    assert_refuses(&cmd_named, "a --cuont 1", "did you mean '--count'");
}

TEST(mistakes_are_told) {
    static const struct {
        const char *line, *text;
    } rows[] = {
        {"true", "missing --name"},
        {"-n a", "missing command"},
        {"-n a --", "missing command"},
        {"-n '' true", "1 to 512 bytes"},
        {"-n a\nb true", "control character"},
        {"-n a\x7f true", "control character"},
        {"-n a --note a\nb true", "control"},
        {"-n a --note a\x7f true", "control"},
        {"-n a -c true false", "-c and a command"},
        {"-n a --leese 5 true", "did you mean '--lease'? See 'rlock run --help'"},
        {"-n a --no true", "it could be --no-wait or --no-renew"},
        {"-n a --frobnicate true", "unknown option '--frobnicate': see"},
        {"-n a -Z true", "unknown option '-Z'"},
        {"-n a -qZ true", "unknown option '-Z'"},
        {"-n a -l", "--lease needs an argument: give --lease D"},
        {"-n a --lease", "--lease needs an argument"},
        {"-n a --quiet=yes true", "--quiet takes no argument"},
        {"-n a -l 99ms true", "too short: give 100ms to 7d"},
        {"-n a -l 169h true", "too long: give 100ms to 7d"},
        {"-n a -l forever true", "cannot use --lease 'forever'"},
        {"-n a -w -1 true", "cannot use --wait '-1': it is negative"},
        {"-n a -w ever true", "cannot use --wait 'ever': it is not a duration"},
        {"-n a -w 5x true", "unknown unit"},
        {"-n a -l 3s --kill-after 1001ms true",
         "'1001ms': it is more than a third of the lease: give at most 1000ms"},
        {"-n a --connect-timeout 0 true", "at least 1ms"},
        {"-n a --io-timeout 0 true", "at least 1ms"},
        {"-n a -E 256 true", "from 0 to 255"},
        {"-n a -E -1 true", "from 0 to 255"},
        {"-n a -E 1.5 true", "from 0 to 255"},
        {"-n a -E '' true", "from 0 to 255"},
        {"-n a -E 99999999999999999999 true", "from 0 to 255"},
        {"-n a --on-lost ignore true", "give stop or warn"},
        {"-n a --log xml true", "give text or json"},
        {"-n a -s '' true", "it is empty"},
        {"-n a --replicas -1 true", "from 0 to 100"},
        {"-n a --replicas 101 true", "from 0 to 100"},
        {"-n a --replica-timeout 0 true", "at least 1ms"},
        {"-n a --tls-ca '' true", "cannot use --tls-ca '': it is empty"},
        {"-n a --tls-cert c true", "cannot use --tls-cert 'c': its key is missing"},
        {"-n a --tls-key k true", "cannot use --tls-key 'k': the key's certificate is missing"},
        {"-n a --tls-insecure=yes true", "--tls-insecure takes no argument"},
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_refuses(&cmd_run, rows[i].line, rows[i].text);
}

/* A name or a value that was lost, or that an = was joined to. */
TEST(values_that_were_not_meant_are_told) {
    static const struct mistake rows[] = {
        {&cmd_run, "-n -x true", "'-x' looks like an option: give --name NAME, or --name=-x"},
        {&cmd_run, "-n -1 true", "--name=-1"},
        {&cmd_run, "-w 1s -n -- true", "--name=--"},
        {&cmd_run, "-c -n x", "'-n' looks like an option"},
        {&cmd_run, "-n x --tls-ca -v true", "--tls-ca=-v"},
        {&cmd_run, "-n x -s -v true", "give --server URL"},
        {&cmd_break, "x --owner --force", "--owner=--force"},
        {&cmd_run, "-n=foo true", "'--name==foo'"},
        {&cmd_run, "-qxn=foo true", "'-n foo'"},
        {&cmd_run, "-n x -w=5s true", "'-w 5s'"},
        {&cmd_run, "-n x -l=5s true", "'-l 5s'"},
        {&cmd_run, "-n x -c=true", "'-c true'"},
        {&cmd_run, "-n x -s=redis://alice:" SECRET "@h true", "give -s URL"},
        {&cmd_run, "-h 127.0.0.1 -p 6379 true", "--server URL"},
        {&cmd_run, "-n x -h true", "unexpected -h"},
        {&cmd_run, "-n x -xh true", "unexpected -h"},
        {&cmd_status, "x -h", "unexpected -h"},
        {&cmd_latch_set, "-h h -n x --count 1", "unexpected -h"},
    };
    ASSERT_REFUSES_EACH(rows);
    LOADS(&cmd_run, "-n-x true", is(s->names[0], "-x"));
    LOADS(&cmd_run, "-n =foo -w0 true", is(s->names[0], "=foo"));
    LOADS(&cmd_run, "--name==foo true", is(s->names[0], "=foo"));
}

/* Of other commands; of flock(1), timeout(1), setlock, consul lock and etcdctl lock; with one dash,
 * as in Go's programs. */
TEST(options_of_others_lead_to_ours) {
    static const struct mistake rows[] = {
        {&cmd_run, "-n x --supersede true", "it goes with rlock fair, not with rlock run"},
        {&cmd_read, "-n x --preempt true",
         "goes with rlock run or rlock fair, not with rlock read"},
        {&cmd_run, "-n x --while 1 true", "it goes with rlock acquire run, not with rlock run"},
        {&cmd_run, "-n x --nonblock true", "'--nonblock': did you mean '--no-wait'?"},
        {&cmd_run, "-n x --shared true", "'rlock read'"},
        {&cmd_run, "-n x --exclusive true", "leave it out: that is what 'rlock run' does"},
        {&cmd_fair, "-n x --exclusive true", "'--exclusive': did you mean 'rlock run'?"},
        {&cmd_run, "-n x --close true", "'--close': leave it out: "},
        {&cmd_run, "-n x -F true", "'-F': leave it out: "},
        {&cmd_run, "-n x --no-fork true", "'--no-fork': leave it out: "},
        {&cmd_run, "-n x -N true", "'-N': leave it out: "},
        {&cmd_run, "-n x -k 5 true", "'-k': did you mean '--kill-after'?"},
        {&cmd_run, "-n x --preserve-status true",
         "leave it out: rlock always exits as the command"},
        {&cmd_run, "-n x --child-exit-code true",
         "leave it out: rlock always exits as the command"},
        {&cmd_run, "-n x --foreground true", "'--foreground': leave it out: "},
        {&cmd_run, "-n x --pass-stdin true", "'--pass-stdin': leave it out: "},
        {&cmd_run, "-n x --endpoints https://u:" SECRET "@h true", "'--server'"},
        {&cmd_run, "-n x --user root:" SECRET " true", "'--server'"},
        {&cmd_run, "-n x --cacert f true", "'--tls-ca'"},
        {&cmd_run, "-n x --ttl 5s true", "'--lease'"},
        {&cmd_check, "--ttl 5s", "'--min-ttl'"},
        {&cmd_latch_wait, "-n x --timeout=5", "what limits a wait is --wait"},
        {&cmd_status, "--timeout 5", "'--connect-timeout'"}, /* which has no --wait */
        {&cmd_run, "-n x -no-wait true", "'-no-wait': did you mean '--no-wait'?"},
        {&cmd_run, "-name=x true", "'-name': did you mean '--name'?"},
        {&cmd_run, "-n x -command=true", "'-command': did you mean '--command'?"},
        {&cmd_run, "-n x -child-exit-code true", "'-child-exit-code': leave it out: "},
        {&cmd_run, "-n x -http-addr=" SECRET " true", "'-http-addr': did you mean '--server'?"},
        {&cmd_status, "-json", "'-json': did you mean '--json'?"},
        {&cmd_status, "-help", "'-help'"},
    };
    ASSERT_REFUSES_EACH(rows);
    LOADS(&cmd_run, "-xqnname true", is(s->names[0], "name") && s->quiet); /* letters are letters */
    LOADS(&cmd_run, "-n x echo -name -no-wait", is(s->run.command[1], "-name"));
}

TEST(several_servers_are_a_quorum) {
    LOADS(&cmd_run, "-n a -s redis://h -s unix:///i?db=1 --server=local:j true",
          s->server.count == 3 && is(s->server.urls[1], "unix:///i?db=1") &&
              is(s->server.urls[2], "local:j"));
    LOADS(&cmd_read, "-n a -s redis://h:1 -s redis://h:2 -s rediss://[::1]:3 true",
          s->server.count == 3);
    LOADS(&cmd_write, "-n a -s redis://h -s redis://[::1] -s redis://[::2] true",
          s->server.count == 3);

    /* The environment and the files have one text for all of them. */
    setenv("RLOCK_SERVER", " redis://a redis://b  redis://c\tredis://d redis://e\n", 1);
    LOADS(&cmd_run, "-n a true", s->server.count == 5 && is(s->server.urls[0], "redis://a"));
    LOADS(&cmd_run, "-n a true", is(s->server.urls[4], "redis://e"));
    /* A stronger source replaces them all. */
    LOADS(&cmd_run, "-n a -s redis://option true",
          s->server.count == 1 && is(s->server.urls[0], "redis://option"));
    unsetenv("RLOCK_SERVER");
}

TEST(several_servers_are_not_for_each_command) {
#define THREE "-n a -s redis://h -s redis://i -s redis://j "
    static const struct mistake rows[] = {
        {&cmd_fair, THREE "true", "'rlock fair' works on one"},
        {&cmd_sem, THREE "true", "'rlock sem' works on one"},
        {&cmd_sem, THREE "--resize 3", "'rlock sem' works on one"},
        {&cmd_latch_set, THREE "--count 1", "'rlock latch set' works on one"},
        {&cmd_latch_down, THREE, "'rlock latch down' works on one"},
        {&cmd_latch_wait, THREE, "'rlock latch wait' works on one"},
    };
    ASSERT_REFUSES_EACH(rows);

    char many[512] = "";
    for (int i = 0; i <= RLOCK_SERVERS_MAX; i++)
        snprintf(many + strlen(many), sizeof many - strlen(many), "redis://h%d ", i);
    setenv("RLOCK_SERVER", many, 1);
    assert_refuses(&cmd_run, "-n a true", "cannot use RLOCK_SERVER: too many servers");
    unsetenv("RLOCK_SERVER");
}

TEST(names_have_at_most_512_bytes) {
    char line[600];
    struct fixture f;
    memset(line, 'x', sizeof line);
    memcpy(line, "-n ", 3);
    memcpy(line + 3 + RLOCK_NAME_MAX, " true", sizeof " true");
    LOADS(&cmd_run, line, s->name_count == 1);
    memcpy(line + 3 + RLOCK_NAME_MAX, "x true", sizeof "x true");
    assert_int_equal(load(&f, line), SETTINGS_BAD);
    assert_true(strlen(f.why.text) < 150); /* and not all of them in the message */
    settings_free(&f.settings);
    snprintf(line, sizeof line, "-n a --note %0256d true", 0);
    LOADS(&cmd_run, line, strlen(s->lock.note) == 256);
    snprintf(line, sizeof line, "-n a --note %0257d true", 0);
    assert_refuses(&cmd_run, line, "256");
}

TEST(no_message_tells_a_password) {
    static const char *const lines[] = {
        "-n a -s redis://:" SECRET "@h --lease 0 true",
        "-n a --sever=redis://:" SECRET "@h true",
        "-n a --quiet=redis://:" SECRET "@h true",
        "-n a --=redis://:" SECRET "@h true",
        "-n a -Sredis://:" SECRET "@h true",
        "-n a -s redis://:" SECRET "@h",
    };
    for (size_t i = 0; i < COUNT(lines); i++) {
        struct fixture f;
        assert_int_equal(load(&f, lines[i]), SETTINGS_BAD);
        assert_null(strstr(f.why.text, SECRET));
        settings_free(&f.settings);
    }
}

TEST(help_stops_reading) {
    struct fixture f;
    assert_int_equal(load(&f, "-h"), SETTINGS_HELP);
    settings_free(&f.settings);
    assert_int_equal(load(&f, "-n a --help --frobnicate"), SETTINGS_HELP);
    settings_free(&f.settings);
    assert_int_equal(load(&f, "--list-options"), SETTINGS_LIST);
    settings_free(&f.settings);
}

TEST(options_beat_the_environment) {
    setenv("RLOCK_SERVER", "redis://environment", 1);
    LOADS(&cmd_run, "-n a true",
          is(s->server.urls[0], "redis://environment") &&
              OPT_FROM(s, server.urls)->source == SOURCE_ENVIRONMENT);
    LOADS(&cmd_run, "-n a -s redis://option true",
          is(s->server.urls[0], "redis://option") &&
              OPT_FROM(s, server.urls)->source == SOURCE_OPTION);
    setenv("RLOCK_SERVER", "", 1);
    LOADS(&cmd_run, "-n a true", OPT_FROM(s, server.urls)->source == SOURCE_DEFAULT);
    unsetenv("RLOCK_SERVER");
}

void before_all(void) {
    static const char *const names[] = {"RLOCK_SERVER", "RLOCK_PASSWORD", "RLOCK_PASSWORD_FILE"};
    for (size_t i = 0; i < COUNT(names); i++)
        unsetenv(names[i]);
    setenv("RLOCK_CONFIG", "/dev/null", 1); /* whatever this machine has set up */
}

/* RLOCK_PASSWORD_FILE names a file with this content. */
static void password_file(const char *content) {
    char path[32];
    const int fd = memfd_create("password", 0); /* until the test ends */
    assert_int_equal(write(fd, content, strlen(content)), strlen(content));
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    setenv("RLOCK_PASSWORD_FILE", path, 1);
}

static void assert_misconfigured(const char *text) {
    struct fixture f;
    assert_int_equal(load(&f, "-n a true"), SETTINGS_BAD);
    assert_int_equal(f.why.status, EXIT_CONFIG);
    assert_non_null(strstr(f.why.text, text));
    settings_free(&f.settings);
}

TEST(passwords_come_from_variable_or_file) {
    setenv("RLOCK_SERVER", "redis://h", 1); /* which wants it */
    password_file(" of the file \nsecond line\n");
    LOADS(&cmd_run, "-n a true", is(s->server.password, " of the file "));
    password_file("no newline");
    LOADS(&cmd_run, "-n a true", is(s->server.password, "no newline"));
    password_file("\nsecond");
    assert_misconfigured("the first line is empty");
    password_file("");
    assert_misconfigured("the first line is empty");
    setenv("RLOCK_PASSWORD_FILE", "/nowhere/at/all", 1);
    assert_misconfigured("/nowhere/at/all: ");
    assert_misconfigured(strerror(ENOENT));
    setenv("RLOCK_PASSWORD", SECRET, 1);
    LOADS(&cmd_run, "-n a true", is(s->server.password, SECRET));
    before_all();
}
