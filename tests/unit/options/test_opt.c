/* test_opt.c: the command line, merged with the environment. */
#include "support/test.h"

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
#define THREE    "-s redis://h -s redis://i -s redis://j "

/* What the last command line has set, or what is wrong with it. */
static struct settings s;
static struct complaint why;

/* The words of line, separated by spaces, a command's first; "''" stands for an empty one. */
static enum settings_outcome load(const char *line) {
    static char words[2048], *argv[ARGS_MAX];
    const struct cmd *cmd = &cmd_rlock;
    int argc = 0;
    snprintf(words, sizeof words, "%s", line);
    char *rest = words, *word;
    while ((word = strtok_r(rest, " ", &rest)) != NULL && argc < ARGS_MAX - 1) {
        if (cmd->group != NULL) {
            cmd = cmd_find(cmd, word);
            argc = 0;
        }
        argv[argc++] = strcmp(word, "''") == 0 ? word + 2 : word;
    }
    argv[argc] = NULL;
    settings_free(&s);
    return settings_load(&s, cmd, argc, argv, &why);
}

/* It is read, and then `so` holds. */
#define LOADS(line, so)                                                                            \
    do {                                                                                           \
        if (load(line) != SETTINGS_OK)                                                             \
            fail_msg("%s: %s", line, why.text);                                                    \
        if (!(so))                                                                                 \
            fail_msg("%s: not %s", line, #so);                                                     \
    } while (0)

static bool is(const char *text, const char *expected) {
    return text != NULL && expected != NULL ? strcmp(text, expected) == 0 : text == expected;
}

TEST(defaults_are_the_contracts) {
    LOADS("run -n deploy true", s.name_count == 1 && is(s.names[0], "deploy"));
    assert_true(s.server.count == 0 && OPT_FROM(&s, server.urls)->source == SOURCE_DEFAULT);
    assert_true(s.lock.wait_ms == RLOCK_FOREVER && s.lock.lease_ms == 30000);
    assert_true(s.run.kill_after_ms == 5000 && s.lock.min_hold_ms == 0);
    assert_true(s.server.connect_timeout_ms == 5000 && s.server.io_timeout_ms == 5000);
    assert_true(s.lock.conflict_exit_code == EXIT_CONFLICT && s.server.password == NULL);
    assert_true(!s.run.no_renew && s.run.on_lost != ON_LOST_WARN);
    assert_true(!s.quiet && !s.verbose && s.log == LOG_TEXT);
    assert_true(s.server.replicas == RLOCK_REPLICAS_AUTO && s.server.replica_timeout_ms == 1000);
    assert_true(!s.server.tls.ca && !s.server.tls.cert && !s.server.tls.key);
    assert_true(!s.server.tls.name && !s.server.tls.insecure);
}

TEST(every_option_is_read) {
    LOADS("run -na --name=b -s unix:///x -w 5m -qvv --lea 60 --on-lost warn --no-renew -- true",
          s.name_count == 2 && is(s.names[1], "b") && is(s.server.urls[0], "unix:///x"));
    assert_true(s.lock.wait_ms == 300000 && s.lock.lease_ms == 60000);
    assert_true(s.verbose && !s.quiet); /* the last counts */
    assert_true(s.run.no_renew && s.run.on_lost == ON_LOST_WARN);
    LOADS("run --kill-after 0 --min-hold 2s -E 0 -c true --connect-timeout=1ms "
          "--io-timeout=.5 --log=json -n a",
          s.run.kill_after_ms == 0 && s.lock.min_hold_ms == 2000);
    assert_true(s.lock.conflict_exit_code == 0 && s.log == LOG_JSON);
    assert_true(s.server.connect_timeout_ms == 1 && s.server.io_timeout_ms == 500);
    LOADS("sem -n a --replicas 0 --replica-timeout 250ms --tls-ca ca --tls-cert c "
          "--tls-key k --tls-name h --tls-insecure true",
          s.server.replicas == 0 && s.server.replica_timeout_ms == 250 && s.server.tls.insecure);
    assert_true(is(s.server.tls.ca, "ca") && is(s.server.tls.cert, "c"));
    assert_true(is(s.server.tls.key, "k") && is(s.server.tls.name, "h"));
    LOADS("latch set -n a --count 1 --tls-ca ca", is(s.server.tls.ca, "ca"));
}

TEST(options_end_at_the_command) {
    LOADS("run -n a ls -n b --quiet", s.name_count == 1 && is(s.run.command[0], "ls"));
    assert_true(is(s.run.command[3], "--quiet") && s.run.command[4] == NULL);
    LOADS("run -n a -- -x", is(s.run.command[0], "-x"));
    LOADS("run -n a -- ls --help", is(s.run.command[1], "--help"));
    LOADS("run -n a -c true", is(s.run.command[0], "/bin/sh") && is(s.run.command[1], "-c"));
    assert_true(is(s.run.command[2], "true") && s.run.command[3] == NULL);
}

TEST(options_take_each_other_into_account) {
    LOADS("run -n a -w 5s -x true", s.lock.wait_ms == 0);
    LOADS("run -n a -x --wait forever true", s.lock.wait_ms == RLOCK_FOREVER);
    LOADS("run -n a -l 3s true", s.run.kill_after_ms == 1000);
    LOADS("run -n a -l 3s --kill-after 1s true", s.run.kill_after_ms == 1000);
}

TEST(each_kind_has_its_options) {
    LOADS("fair -n a -n b --supersede true", s.lock.supersede);
    LOADS("fair -n a true", !s.lock.supersede && s.lock.priority == 0);
    LOADS("fair -n a --priority -1000 true", s.lock.priority == -1000);
    LOADS("fair -n a --priority=1000 true", s.lock.priority == 1000);
    LOADS("sem -n a true", s.lock.permits == 0 && s.lock.take == 1 && !s.lock.plain);
    LOADS("sem -n a --permits 1000000000 --take 10000 --plain -c true",
          s.lock.permits == RLOCK_PERMITS_MAX && s.lock.take == RLOCK_TAKE_MAX && s.lock.plain);
    LOADS("sem -n a --plain -l 1s --no-renew true", s.lock.plain); /* of no effect */
    LOADS("sem -n a --resize 7 -w 5s", s.counter.resize == 7);
    LOADS("latch set -n a --count 3", s.counter.count == 3);
    LOADS("latch down -n a", s.counter.by == 1 && !s.run.always && s.run.command == NULL);
    LOADS("latch down -n a --by 2 --always -- ls -l",
          s.counter.by == 2 && s.run.always && is(s.run.command[1], "-l"));
    LOADS("latch wait -n a", s.lock.wait_ms == RLOCK_FOREVER && !s.lock.must_exist);
    LOADS("latch wait -n a --must-exist -x -E 3 -c true",
          s.lock.must_exist && s.lock.conflict_exit_code == 3 && is(s.run.command[2], "true"));
}

/* Refused with 64 and one line that has the text. */
static void assert_refuses(const char *line, const char *text) {
    if (load(line) != SETTINGS_BAD || why.status != EXIT_USAGE || strstr(why.text, text) == NULL ||
        strstr(why.text, SECRET) != NULL)
        fail_msg("'%s': %d '%s', not '%s'", line, why.status, why.text, text);
}

static void fill(char *out, const char *pattern, const char *word, size_t length) {
    const char *at = strpbrk(pattern, "{%");
    if (at == NULL) {
        strcpy(out, pattern);
        return;
    }
    sprintf(out, "%.*s%.*s%s", (int)(at - pattern), pattern, (int)length, word,
            *at == '{' ? strchr(at, '}') + 1 : at + 1);
}

static void assert_refuses_each_of(const char *lines, const char *text) {
    const char *word = strchr(lines, '{');
    if (word == NULL)
        assert_refuses(lines, text);
    for (size_t length; word != NULL && *word != '}'; word += length) {
        char line[512], said[512];
        length = strcspn(++word, ",}");
        fill(line, lines, word, length);
        fill(said, text, word, length);
        assert_refuses_each_of(line, said);
    }
}

static const struct {
    const char *line; /* with "{this,that}" it is two lines, for each such choice */
    const char *text; /* in which % is the first choice's word */
} mistakes[] = {
    /* Values out of range. */
    {"fair -n a --priority {1001,-1001,-,+1,1.5,''} true",
     "give a whole number from -1000 to 1000"},
    {"sem -n a --permits {0,-1,two,1.5,1000000001,9999999999,18446744073709551617} true",
     "from 1 to 1000000000"},
    {"{sem -n a --resize,latch set -n a --count,latch down -n a --by} 0", "from 1 to 1000000000"},
    {"{sem -n a --take 0,sem -n a --take 10001,run -n a --any 0,run -n a --any x} true",
     "from 1 to 10000"},
    {"run -n a -x --max-skips {0,''} true", "from 1 to 1000000"},
    {"run -n a -E {256,-1,1.5,'',99999999999999999999} true", "from 0 to 255"},
    {"run -n a --replicas {-1,101} true", "from 0 to 100"},
    {"run -n a {--connect-timeout=0,--io-timeout=0,--replica-timeout=0} true", "at least 1ms"},
    {"{run -n a -l 99ms true,run -n a -l 169h true,status --watch=1ms x}", "give 100ms to 7d"},
    {"run -n a {-w,--timeout,--lease,-E} -x true",
     "needs an argument, and '-x' looks like an option"},
    {"run -n a {--wait=-1,--once-per=-1s,--timeout=-1} true", "it is negative"},
    {"run -n a {--wait=ever,--lease=forever,--once-per=never} true", "it is not a duration"},
    {"run -n a {-w5x,--timeout=5y} true", "unknown unit"},
    {"run -n a --once-per 0 true", "it is too short"},
    {"run -n a -l 3s --kill-after 1001ms true",
     "'1001ms': it is more than a third of the lease: give at most 1000ms"},
    {"run -n a -s local:{~,~/x} true", "give local:\"$HOME\"/DIR"},
    {"run -n a --on-lost {ignore,''} true", "give stop or warn"},
    {"run -n a --log xml true", "give text or json"},
    {"run -n '' true", "1 to 512 bytes"},
    {"run -n a {--name,--note} {a\nb,a\x7f} true", "control character"},
    {"{run -n a -s '' true,run -n a --once-per= true,run -n a --once-key= true,"
     "run -n a --tls-ca= true,status '',break --owner '' a}",
     "it is empty"},
    /* What is missing, or too much. */
    {"{run true,sem --permits=1,sem --resize=3,latch set --count 1,latch wait -w 1s}",
     "missing --name"},
    {"{run -n a,run -n a --,fair -n a --supersede,sem -n a --permits 1}", "missing command"},
    {"latch set -n a", "missing --count"},
    {"status -q", "missing NAME: -q tells by"},
    {"break --force", "missing NAME: give it, as in 'rlock break NAME'"},
    {"break {a,-na} b", "too many operands"},
    {"run -n a {-l,--lease}", "--lease needs an argument: give --lease D"},
    {"latch down -n a --by", "--by needs an argument: give --by K"},
    {"run -n a {--quiet,--tls-insecure}=yes true", "% takes no argument"},
    {"latch down -n a --always=yes true", "--always takes no argument"},
    {"run -n a -x{=,=1} true", "unexpected '=' behind a letter that takes no argument"},
    {"{run,latch down} -n a -c true false", "-c and a command"},
    {"latch set -n a --count 1 true", "'rlock latch set' runs no command"},
    {"sem -n a -n {a,b} true", "several names: 'rlock sem' takes one"},
    {"{latch set,latch wait} -n a -n b", "'rlock %' takes one"},
    {"run -n a --tls-cert c true", "cannot use --tls-cert 'c': its key is missing"},
    {"run -n a --tls-key k true", "cannot use --tls-key 'k': the key's certificate is missing"},
    /* Options that do not go together. */
    {"sem -n a {--permits 2 --take 3,--take 3 --permits 2} true",
     "cannot use --take '3': it is more than all permits: give at most 2"},
    {"sem -n a --plain --min-hold 1s true", "both --plain and --min-hold"},
    {"sem -n a --resize 3 {-q,-c} true", "both --resize and a command"},
    {"sem -n a --resize 3 --plain", "both --resize and --plain"},
    {"sem -n a --resize 3 {--permits,--take,--min-hold} 3", "both --resize and %"},
    {"run -n a --any 2 true", "--any 2 and fewer names"},
    {"write -n a -n b -n a --any 3 true", "--any 3 and fewer names"},
    {"run -n a -n b --any 1 --preempt true", "--any and --preempt"},
    {"run -n a -n b --any 1 -x --max-skips 2 true", "--max-skips and --any"},
    {"run -n a -n b --any 1 --once-per 1h true", "--once-per and several names"},
    {"run -n a -n b --once-key k true", "--once-key and several names"},
    {"run -n a --any 1 " THREE "true", "--any and several servers"},
    {"run -n a -x " THREE "--max-skips 2 true", "--max-skips and several servers"},
    {"run -n a --max-skips 2 true", "--max-skips and no end of the wait"},
    {"run -n a --preempt {-x,-w0} true", "--preempt and no wait"},
    {"fair -n a --preemptible --no-renew true", "--preemptible and --no-renew"},
    {"status -q {--json,--watch} x", "-q and %"},
    {"{fair,sem,latch down,latch wait} -n a " THREE "true", "'rlock %' works on one"},
    {"latch set -n a " THREE "--count 1", "'rlock latch set' works on one"},
    {"sem -n a " THREE "--resize=3", "'rlock sem' works on one"},
    /* Options of other commands lead to those. */
    {"{fair,read,sem,latch wait} -n a --any 1 true",
     "it goes with rlock run or rlock write, not with rlock %"},
    {"{read,write,sem,latch down,latch wait} -n a "
     "{--once-per=1h,--once-key=k,--max-skips=2,--preempt} true",
     "it goes with rlock run or rlock fair, not with rlock %"},
    {"{run,read} -n a --supersede true", "it goes with rlock fair, not with rlock %"},
    {"run -n x --while 1 true", "it goes with rlock acquire run, not with rlock run"},
    {"run -n a {--supersede,--permits,--priority} 1 true", "unknown option '%'"},
    {"latch set -n a --count 1 {-c,-w} 1s", "unknown option '%'"},
    {"latch down -n a -l 1s true", "unknown option '-l'"},
    {"latch wait -n a {--lease,--by,--replicas} 1", "unknown option '%'"},
    /* A name or a value that was lost, or that an = was joined to. */
    {"run -n {-x,-1,--} true", "looks like an option: give --name NAME, or --name=% if"},
    {"run -c -n x", "'-n' looks like an option"},
    {"run -n x --tls-ca -v true", "give --tls-ca F, or --tls-ca=-v"},
    {"run -n x -s -v true", "give --server URL"},
    {"break x --owner --force", "--owner=--force"},
    {"run -n a {-s redis://:" SECRET "@h --lease 0,--sever=redis://:" SECRET
     "@h,--quiet=redis://:" SECRET "@h,--=redis://:" SECRET "@h,-Sredis://:" SECRET "@h} true",
     "" /* but for the password */},
    {"run -n a {--password " SECRET ",--pass=" SECRET "} true",
     "give RLOCK_PASSWORD, or --password-file F"},
    {"run -n a -s redis://:" SECRET "@h", "missing command"},
    {"run -n=foo true", "'--name==foo'"},
    {"run -qxn=foo true", "'-n foo'"},
    {"run -n x {-w,-l}=5s true", "'% 5s'"},
    {"run -n x -c=true", "'-c true'"},
    {"run -n x -s=redis://alice:" SECRET "@h true", "give -s URL"},
    {"run -h 127.0.0.1 -p 6379 true", "--server URL"},
    {"{run -n x -h true,run -n x -xh true,status x -h,latch set -h h -n x --count 1}",
     "unexpected -h"},
    /* Mistyped; of flock(1), timeout(1), setlock, consul lock and etcdctl lock; with one dash,
     * as in Go's programs. */
    {"run -n a --{leese,leasse,xlease} 5 true", "did you mean '--lease'? See 'rlock run --help'"},
    /* Too far: the opposite, or another thing. */
    {"run -n a --{renew,auto-renew,max-wait,fail,wait-timeout,shell} true",
     "unknown option '--%': see 'rlock run --help'"},
    {"latch set -n a --cuont 1", "did you mean '--count'? See 'rlock latch set --help'"},
    {"run -n a --nay 1 true", "did you mean '--any'?"},         /* neighbours swapped: one slip */
    {"run -n a --tls-kay k true", "did you mean '--tls-key'?"}, /* not --tls-ca */
    {"run -n a --no true", "it could be --no-wait or --no-renew"},
    {"run -n a --{frobnicate,x,leeeeese} true", "unknown option '--%': see"},
    {"run -n a {-Z,-qZ} true", "unknown option '-Z'"},
    {"run -n x {--nonblock,--nb,-no-wait} true", "'%': did you mean '--no-wait'?"},
    {"run -n x --shared true", "'rlock read'"},
    {"run -n x --exclusive true", "leave it out: that is what 'rlock run' does"},
    {"fair -n x --exclusive true", "'--exclusive': did you mean 'rlock run'?"},
    {"run -n x {--close,-F,--no-fork,-N,--foreground,--pass-stdin,-child-exit-code} true",
     "'%': leave it out: "},
    {"run -n x {--preserve-status,--child-exit-code} true",
     "leave it out: rlock always exits as the command"},
    {"run -n x -k 5 true", "'-k': did you mean '--kill-after'?"},
    {"run -n x {--endpoints=https://u:" SECRET "@h,--user=root:" SECRET ",-http-addr=" SECRET
     "} true",
     "'--server'"},
    {"run -n x --cacert f true", "'--tls-ca'"},
    {"run -n x --ttl 5s true", "'--lease'"},
    {"check --ttl 5s", "'--min-ttl'"},
    {"latch {wait,down} -n x --timeout=5", "what limits a wait is --wait"},
    {"sem -n x --resize 3 --timeout 5", "--wait"},
    {"status --timeout 5", "'--connect-timeout'"}, /* which has no --wait */
    {"run -name=x true", "'-name': did you mean '--name'?"},
    {"run -n x -command=true", "'-command': did you mean '--command'?"},
    {"status -json", "'-json': did you mean '--json'?"},
    {"status -help", "'-help'"},
};

TEST(mistakes_are_told) {
    for (size_t i = 0; i < COUNT(mistakes); i++)
        assert_refuses_each_of(mistakes[i].line, mistakes[i].text);
}

/* Letters are letters, and a value is what stands behind them. */
TEST(what_looks_like_a_mistake_and_is_none) {
    LOADS("run -n-x true", is(s.names[0], "-x"));
    LOADS("run -n =foo -w0 true", is(s.names[0], "=foo"));
    LOADS("run --name==foo true", is(s.names[0], "=foo"));
    LOADS("run -xqnname true", is(s.names[0], "name") && s.quiet);
    LOADS("run -n x echo -name -no-wait", is(s.run.command[1], "-name"));
}

TEST(operands_stand_anywhere) {
    LOADS("status a --json b --connect-timeout 1 -- -c",
          s.name_count == 3 && is(s.names[0], "a") && is(s.names[1], "b"));
    assert_true(is(s.names[2], "-c") && s.server.connect_timeout_ms == 1000 && !s.run.command);
}

TEST(several_servers_are_a_quorum) {
    LOADS("run -n a -s redis://h -s unix:///i?db=1 --server=local:j true",
          s.server.count == 3 && is(s.server.urls[1], "unix:///i?db=1"));
    assert_true(is(s.server.urls[2], "local:j"));
    /* The environment and the files have one text for all of them; an option replaces them all. */
    setenv("RLOCK_SERVER", " redis://a redis://b  redis://c\tredis://d redis://e\n", 1);
    LOADS("run -n a true", s.server.count == 5 && is(s.server.urls[0], "redis://a"));
    assert_true(is(s.server.urls[4], "redis://e"));
    assert_int_equal(OPT_FROM(&s, server.urls)->source, SOURCE_ENVIRONMENT);
    LOADS("run -n a -s redis://option true",
          s.server.count == 1 && is(s.server.urls[0], "redis://option"));
    assert_int_equal(OPT_FROM(&s, server.urls)->source, SOURCE_OPTION);
    setenv("RLOCK_SERVER", "", 1);
    LOADS("run -n a true", OPT_FROM(&s, server.urls)->source == SOURCE_DEFAULT);
    char many[512] = "";
    for (int i = 0; i <= RLOCK_SERVERS_MAX; i++)
        snprintf(many + strlen(many), sizeof many - strlen(many), "redis://h%d ", i);
    setenv("RLOCK_SERVER", many, 1);
    assert_refuses("run -n a true", "cannot use RLOCK_SERVER: too many servers");
    unsetenv("RLOCK_SERVER");
}

TEST(names_have_at_most_512_bytes_and_notes_256) {
    char line[600];
    snprintf(line, sizeof line, "run -n %0512d true", 0);
    LOADS(line, strlen(s.names[0]) == 512);
    snprintf(line, sizeof line, "run -n %0513d true", 0);
    assert_int_equal(load(line), SETTINGS_BAD);
    assert_true(strlen(why.text) < 150); /* and not all of them in the message */
    snprintf(line, sizeof line, "run -n a --note %0256d true", 0);
    LOADS(line, strlen(s.lock.note) == 256);
    snprintf(line, sizeof line, "run -n a --note %0257d true", 0);
    assert_refuses(line, "256");
}

void before_all(void) {
    static const char *const names[] = {"RLOCK_SERVER", "RLOCK_PASSWORD", "RLOCK_PASSWORD_FILE"};
    for (size_t i = 0; i < COUNT(names); i++)
        unsetenv(names[i]);
    setenv("RLOCK_CONFIG", "/dev/null", 1); /* whatever this machine has set up */
}

TEST(a_password_is_the_first_line_of_its_file) {
    static const char *const rows[][2] = {{" of the file \nsecond line\n", " of the file "},
                                          {"no newline", "no newline"},
                                          {"\nsecond", NULL}};
    setenv("RLOCK_SERVER", "redis://h", 1); /* which wants it */
    for (size_t i = 0; i < COUNT(rows); i++) {
        char path[32];
        const int fd = memfd_create("password", 0);
        assert_int_equal(write(fd, rows[i][0], strlen(rows[i][0])), strlen(rows[i][0]));
        (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        setenv("RLOCK_PASSWORD_FILE", path, 1);
        const enum settings_outcome outcome = load("run -n a true");
        assert_int_equal(outcome, rows[i][1] != NULL ? SETTINGS_OK : SETTINGS_BAD);
        assert_true(is(s.server.password, rows[i][1]));
        assert_true(outcome == SETTINGS_OK ||
                    (why.status == EXIT_CONFIG && strstr(why.text, "the first line is empty")));
        close(fd);
    }
    before_all();
}

void after_all(void) {
    settings_free(&s);
}
