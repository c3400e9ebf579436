/* test_opt.c: the command line, merged with the environment. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "commands.h"
#include "options/load.h"
#include "options/opt.h"
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

static void assert_loads_for(struct fixture *fixture, const struct cmd *cmd, const char *line) {
    if (load_for(fixture, cmd, line) != SETTINGS_OK)
        fail_msg("%s %s: %s", cmd->name, line, fixture->why.text);
}

static void assert_loads(struct fixture *fixture, const char *line) {
    assert_loads_for(fixture, &cmd_run, line);
}

static void defaults_are_the_contracts(void **state) {
    (void)state;
    struct fixture f;
    assert_loads(&f, "-n deploy true");
    assert_int_equal(f.settings.name_count, 1);
    assert_string_equal(f.settings.names[0], "deploy");
    assert_int_equal(f.settings.server_count, 0);
    assert_int_equal(OPT_FROM(&f.settings, servers)->source, SOURCE_DEFAULT);
    assert_null(f.settings.password);
    assert_true(f.settings.wait_ms == RLOCK_FOREVER);
    assert_int_equal(f.settings.lease_ms, 30000);
    assert_int_equal(f.settings.kill_after_ms, 5000);
    assert_int_equal(f.settings.min_hold_ms, 0);
    assert_int_equal(f.settings.connect_timeout_ms, 5000);
    assert_int_equal(f.settings.io_timeout_ms, 5000);
    assert_int_equal(f.settings.conflict_exit_code, EXIT_CONFLICT);
    assert_false(f.settings.no_renew || f.settings.on_lost == ON_LOST_WARN || f.settings.quiet);
    assert_int_equal(f.settings.verbosity, 0);
    assert_int_equal(f.settings.log, LOG_TEXT);
    settings_free(&f.settings);
}

static void every_option_is_read(void **state) {
    (void)state;
    struct fixture f;
    assert_loads(&f, "-na --name=b -s unix:///x -w 5m -qvv --lea 60 -- true");
    assert_int_equal(f.settings.name_count, 2);
    assert_string_equal(f.settings.names[1], "b");
    assert_string_equal(f.settings.servers[0], "unix:///x");
    assert_int_equal(f.settings.wait_ms, 300000);
    assert_int_equal(f.settings.lease_ms, 60000);
    assert_true(f.settings.quiet);
    assert_int_equal(f.settings.verbosity, 2);
    settings_free(&f.settings);

    assert_loads(&f, "--no-renew --kill-after 0 --on-lost warn --min-hold 2s -E 0 -c true "
                     "--connect-timeout=1ms --io-timeout=.5 --log=json -n a");
    assert_true(f.settings.no_renew && f.settings.on_lost == ON_LOST_WARN);
    assert_int_equal(f.settings.kill_after_ms, 0);
    assert_int_equal(f.settings.min_hold_ms, 2000);
    assert_int_equal(f.settings.conflict_exit_code, 0);
    assert_int_equal(f.settings.connect_timeout_ms, 1);
    assert_int_equal(f.settings.io_timeout_ms, 500);
    assert_int_equal(f.settings.log, LOG_JSON);
    settings_free(&f.settings);
}

static void options_end_at_the_command(void **state) {
    (void)state;
    struct fixture f;
    assert_loads(&f, "-n a ls -n b --quiet");
    assert_int_equal(f.settings.name_count, 1);
    assert_string_equal(f.settings.command[0], "ls");
    assert_string_equal(f.settings.command[3], "--quiet");
    assert_null(f.settings.command[4]);
    settings_free(&f.settings);

    assert_loads(&f, "-n a -- -x");
    assert_string_equal(f.settings.command[0], "-x");
    settings_free(&f.settings);

    assert_loads(&f, "-n a -c true");
    assert_string_equal(f.settings.command[0], "/bin/sh");
    assert_string_equal(f.settings.command[1], "-c");
    assert_string_equal(f.settings.command[2], "true");
    assert_null(f.settings.command[3]);
    settings_free(&f.settings);
}

static void the_last_of_wait_and_no_wait_counts(void **state) {
    (void)state;
    struct fixture f;
    assert_loads(&f, "-n a -w 5s -x true");
    assert_int_equal(f.settings.wait_ms, 0);
    settings_free(&f.settings);
    assert_loads(&f, "-n a -x --wait forever true");
    assert_true(f.settings.wait_ms == RLOCK_FOREVER);
    settings_free(&f.settings);
}

static void kill_after_follows_the_lease(void **state) {
    (void)state;
    struct fixture f;
    assert_loads(&f, "-n a -l 3s true");
    assert_int_equal(f.settings.kill_after_ms, 1000);
    settings_free(&f.settings);
    assert_loads(&f, "-n a -l 3s --kill-after 1s true");
    settings_free(&f.settings);
}

static void each_kind_has_its_options(void **state) {
    (void)state;
    struct fixture f;
    assert_loads_for(&f, &cmd_fair, "-n a -n b --supersede true");
    assert_true(f.settings.supersede);
    settings_free(&f.settings);
    assert_loads_for(&f, &cmd_fair, "-n a true");
    assert_false(f.settings.supersede);
    settings_free(&f.settings);

    assert_loads_for(&f, &cmd_read, "-n a -n b true");
    settings_free(&f.settings);
    assert_loads_for(&f, &cmd_write, "-n a -n b --prefer=readers true");
    assert_int_equal(f.settings.prefer, PREFER_READERS);
    settings_free(&f.settings);
    assert_loads_for(&f, &cmd_write, "-n a --prefer readers --prefer writers true");
    assert_int_equal(f.settings.prefer, PREFER_WRITERS);
    settings_free(&f.settings);

    assert_loads_for(&f, &cmd_sem, "-n a true");
    assert_int_equal(f.settings.permits, 0);
    assert_int_equal(f.settings.take, 1);
    assert_false(f.settings.plain);
    settings_free(&f.settings);
    assert_loads_for(&f, &cmd_sem, "-n a --permits 1000000000 --take 10000 --plain -c true");
    assert_int_equal(f.settings.permits, RLOCK_PERMITS_MAX);
    assert_int_equal(f.settings.take, RLOCK_TAKE_MAX);
    assert_true(f.settings.plain);
    settings_free(&f.settings);
    assert_loads_for(&f, &cmd_sem, "-n a --plain -l 1s --no-renew true"); /* of no effect */
    settings_free(&f.settings);
    assert_loads_for(&f, &cmd_sem, "-n a --resize 7 -w 5s");
    assert_int_equal(f.settings.resize, 7);
    settings_free(&f.settings);
}

static void latches_have_their_options(void **state) {
    (void)state;
    struct fixture f;
    assert_loads_for(&f, &cmd_latch_set, "-n a --count 3");
    assert_int_equal(f.settings.count, 3);
    settings_free(&f.settings);
    assert_loads_for(&f, &cmd_latch_down, "-n a");
    assert_int_equal(f.settings.by, 1);
    assert_false(f.settings.always);
    assert_null(f.settings.command);
    settings_free(&f.settings);
    assert_loads_for(&f, &cmd_latch_down, "-n a --by 2 --always -- ls -l");
    assert_int_equal(f.settings.by, 2);
    assert_true(f.settings.always);
    assert_string_equal(f.settings.command[1], "-l");
    settings_free(&f.settings);
    assert_loads_for(&f, &cmd_latch_wait, "-n a");
    assert_true(f.settings.wait_ms == RLOCK_FOREVER);
    assert_false(f.settings.must_exist);
    settings_free(&f.settings);
    assert_loads_for(&f, &cmd_latch_wait, "-n a --must-exist -x -E 3 -c true");
    assert_true(f.settings.must_exist);
    assert_string_equal(f.settings.command[2], "true");
    settings_free(&f.settings);
}

/* A file is a fleet's: it says nothing of one lock, but what it says must not stand in the way. */
static void a_files_min_hold_does_not_stop_plain_permits(void **state) {
    (void)state;
    char path[] = "/tmp/rlock-test-XXXXXX";
    static const char content[] = "min-hold = 5m\n";
    struct fixture f;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, content, strlen(content)), strlen(content));
    close(fd);
    setenv("RLOCK_CONFIG", path, 1);
    assert_loads_for(&f, &cmd_sem, "-n a --plain true");
    settings_free(&f.settings);
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

static void mistakes_of_a_kind_are_told(void **state) {
    (void)state;
    static const struct {
        const struct cmd *cmd;
        const char *line, *text;
    } rows[] = {
        {&cmd_run, "-n a --supersede true", "unknown option '--supersede'"},
        {&cmd_run, "-n a --permits 1 true", "unknown option '--permits'"},
        {&cmd_fair, "-n a --supersede", "missing command"},
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
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_refuses(rows[i].cmd, rows[i].line, rows[i].text);
}

static const struct cmd cmd_named = {
    .name = "named",
    .synopsis = "[NAME...] [options]",
    .options = CMD_LATCH_SET,
    .operand = &opt_operand_name,
    .operands_min = 1,
    .operands_max = 3,
    .child = CHILD_NONE,
};

static void operands_stand_anywhere(void **state) {
    (void)state;
    struct fixture f;
    assert_loads_for(&f, &cmd_named, "a --count 7 b -q -- -c");
    assert_int_equal(f.settings.name_count, 3);
    assert_string_equal(f.settings.names[0], "a");
    assert_string_equal(f.settings.names[1], "b");
    assert_string_equal(f.settings.names[2], "-c");
    assert_int_equal(f.settings.count, 7);
    assert_true(f.settings.quiet);
    assert_null(f.settings.command);
    settings_free(&f.settings);
    assert_refuses(&cmd_named, "-q", "missing NAME: give it, as in 'rlock named NAME'");
    assert_refuses(&cmd_named, "a b c d", "too many operands");
    assert_refuses(&cmd_named, "a ''", "cannot use NAME '': it is empty");
    assert_refuses(&cmd_named, "a --cuont 1", "did you mean '--count'");
}

static void mistakes_are_told(void **state) {
    (void)state;
    static const struct {
        const char *line, *text;
    } rows[] = {
        {"true", "missing --name"},
        {"-n a", "missing command"},
        {"-n a --", "missing command"},
        {"-n '' true", "1 to 512 bytes"},
        {"-n a\nb true", "control character"},
        {"-n a\x7f true", "control character"},
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
        {"-n a -l 3s --kill-after 1001ms true", "give at most 1000ms"},
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
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_refuses(&cmd_run, rows[i].line, rows[i].text);
}

static void several_servers_are_a_quorum(void **state) {
    (void)state;
    struct fixture f;
    assert_loads(&f, "-n a -s redis://h -s unix:///i?db=1 --server=local:j true");
    assert_int_equal(f.settings.server_count, 3);
    assert_string_equal(f.settings.servers[1], "unix:///i?db=1");
    assert_string_equal(f.settings.servers[2], "local:j");
    settings_free(&f.settings);
    assert_loads_for(&f, &cmd_read, "-n a -s redis://h:1 -s redis://h:2 -s rediss://[::1]:3 true");
    settings_free(&f.settings);
    assert_loads_for(&f, &cmd_write, "-n a -s redis://h -s redis://[::1] -s redis://[::2] true");
    settings_free(&f.settings);

    /* The environment and the files have one text for all of them. */
    setenv("RLOCK_SERVER", " redis://a redis://b  redis://c\tredis://d redis://e\n", 1);
    assert_loads(&f, "-n a true");
    assert_int_equal(f.settings.server_count, 5);
    assert_string_equal(f.settings.servers[0], "redis://a");
    assert_string_equal(f.settings.servers[4], "redis://e");
    settings_free(&f.settings);
    /* A stronger source replaces them all. */
    assert_loads(&f, "-n a -s redis://option true");
    assert_int_equal(f.settings.server_count, 1);
    assert_string_equal(f.settings.servers[0], "redis://option");
    settings_free(&f.settings);
    unsetenv("RLOCK_SERVER");
}

static void several_servers_are_not_for_each_command(void **state) {
    (void)state;
#define THREE "-n a -s redis://h -s redis://i -s redis://j "
    static const struct {
        const struct cmd *cmd;
        const char *line, *text;
    } rows[] = {
        {&cmd_fair, THREE "true", "'rlock fair' works on one"},
        {&cmd_sem, THREE "true", "'rlock sem' works on one"},
        {&cmd_sem, THREE "--resize 3", "'rlock sem' works on one"},
        {&cmd_latch_set, THREE "--count 1", "'rlock latch set' works on one"},
        {&cmd_latch_down, THREE, "'rlock latch down' works on one"},
        {&cmd_latch_wait, THREE, "'rlock latch wait' works on one"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_refuses(rows[i].cmd, rows[i].line, rows[i].text);

    char many[512] = "";
    for (int i = 0; i <= RLOCK_SERVERS_MAX; i++)
        snprintf(many + strlen(many), sizeof many - strlen(many), "redis://h%d ", i);
    setenv("RLOCK_SERVER", many, 1);
    assert_refuses(&cmd_run, "-n a true", "cannot use RLOCK_SERVER: too many servers");
    unsetenv("RLOCK_SERVER");
}

static void replicas_and_tls_are_read(void **state) {
    (void)state;
    struct fixture f;
    assert_loads(&f, "-n a true");
    assert_int_equal(f.settings.replicas, RLOCK_REPLICAS_AUTO);
    assert_int_equal(f.settings.replica_timeout_ms, 1000);
    assert_null(f.settings.tls.ca);
    assert_null(f.settings.tls.cert);
    assert_null(f.settings.tls.key);
    assert_null(f.settings.tls.name);
    assert_false(f.settings.tls.insecure);
    settings_free(&f.settings);
    assert_loads_for(&f, &cmd_sem,
                     "-n a --replicas 0 --replica-timeout 250ms --tls-ca ca "
                     "--tls-cert c --tls-key k --tls-name h --tls-insecure true");
    assert_int_equal(f.settings.replicas, 0);
    assert_int_equal(f.settings.replica_timeout_ms, 250);
    assert_string_equal(f.settings.tls.ca, "ca");
    assert_string_equal(f.settings.tls.cert, "c");
    assert_string_equal(f.settings.tls.key, "k");
    assert_string_equal(f.settings.tls.name, "h");
    assert_true(f.settings.tls.insecure);
    settings_free(&f.settings);
    assert_refuses(&cmd_latch_wait, "-n a --replicas 1", "unknown option '--replicas'");
    assert_loads_for(&f, &cmd_latch_set, "-n a --count 1 --tls-ca ca");
    settings_free(&f.settings);
}

static void names_have_at_most_512_bytes(void **state) {
    (void)state;
    char line[600];
    struct fixture f;
    memset(line, 'x', sizeof line);
    memcpy(line, "-n ", 3);
    memcpy(line + 3 + RLOCK_NAME_MAX, " true", sizeof " true");
    assert_loads(&f, line);
    settings_free(&f.settings);
    memcpy(line + 3 + RLOCK_NAME_MAX, "x true", sizeof "x true");
    assert_int_equal(load(&f, line), SETTINGS_BAD);
    assert_true(strlen(f.why.text) < 150); /* and not all of them in the message */
    settings_free(&f.settings);
}

static void no_message_tells_a_password(void **state) {
    (void)state;
    static const char *const lines[] = {
        "-n a -s redis://:" SECRET "@h --lease 0 true",
        "-n a --sever=redis://:" SECRET "@h true",
        "-n a --quiet=redis://:" SECRET "@h true",
        "-n a --=redis://:" SECRET "@h true",
        "-n a -Sredis://:" SECRET "@h true",
        "-n a -s redis://:" SECRET "@h",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct fixture f;
        assert_int_equal(load(&f, lines[i]), SETTINGS_BAD);
        assert_null(strstr(f.why.text, SECRET));
        settings_free(&f.settings);
    }
}

static void help_stops_reading(void **state) {
    (void)state;
    struct fixture f;
    assert_int_equal(load(&f, "-h"), SETTINGS_HELP);
    settings_free(&f.settings);
    assert_int_equal(load(&f, "-n a --help --frobnicate"), SETTINGS_HELP);
    settings_free(&f.settings);
    assert_int_equal(load(&f, "--list-options"), SETTINGS_LIST);
    settings_free(&f.settings);
    assert_loads(&f, "-n a -- ls --help");
    settings_free(&f.settings);
}

static void options_beat_the_environment(void **state) {
    (void)state;
    struct fixture f;
    setenv("RLOCK_SERVER", "redis://environment", 1);
    assert_loads(&f, "-n a true");
    assert_string_equal(f.settings.servers[0], "redis://environment");
    assert_int_equal(OPT_FROM(&f.settings, servers)->source, SOURCE_ENVIRONMENT);
    settings_free(&f.settings);
    assert_loads(&f, "-n a -s redis://option true");
    assert_string_equal(f.settings.servers[0], "redis://option");
    assert_int_equal(OPT_FROM(&f.settings, servers)->source, SOURCE_OPTION);
    settings_free(&f.settings);
    setenv("RLOCK_SERVER", "", 1);
    assert_loads(&f, "-n a true");
    assert_int_equal(OPT_FROM(&f.settings, servers)->source, SOURCE_DEFAULT);
    settings_free(&f.settings);
    unsetenv("RLOCK_SERVER");
}

/* Writes what RLOCK_PASSWORD_FILE names, and loads. */
static enum settings_outcome load_password_file(struct fixture *fixture, const char *content) {
    char path[] = "/tmp/rlock-test-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, content, strlen(content)), strlen(content));
    close(fd);
    setenv("RLOCK_PASSWORD_FILE", path, 1);
    enum settings_outcome outcome = load(fixture, "-n a true");
    unlink(path);
    unsetenv("RLOCK_PASSWORD_FILE");
    return outcome;
}

static void passwords_come_from_variable_or_file(void **state) {
    (void)state;
    struct fixture f;
    setenv("RLOCK_SERVER", "redis://h", 1); /* which wants it */
    assert_int_equal(load_password_file(&f, " of the file \nsecond line\n"), SETTINGS_OK);
    assert_string_equal(f.settings.password, " of the file ");
    settings_free(&f.settings);
    assert_int_equal(load_password_file(&f, "no newline"), SETTINGS_OK);
    assert_string_equal(f.settings.password, "no newline");
    settings_free(&f.settings);
    assert_int_equal(load_password_file(&f, "\nsecond"), SETTINGS_BAD);
    assert_int_equal(f.why.status, EXIT_CONFIG);
    settings_free(&f.settings);
    assert_int_equal(load_password_file(&f, ""), SETTINGS_BAD);
    assert_non_null(strstr(f.why.text, "the first line is empty"));
    settings_free(&f.settings);

    setenv("RLOCK_PASSWORD_FILE", "/nowhere/at/all", 1);
    assert_int_equal(load(&f, "-n a true"), SETTINGS_BAD);
    assert_int_equal(f.why.status, EXIT_CONFIG);
    assert_non_null(strstr(f.why.text, "/nowhere/at/all: "));
    assert_non_null(strstr(f.why.text, strerror(ENOENT)));
    settings_free(&f.settings);
    setenv("RLOCK_PASSWORD", SECRET, 1);
    assert_loads(&f, "-n a true");
    assert_string_equal(f.settings.password, SECRET);
    settings_free(&f.settings);
    unsetenv("RLOCK_PASSWORD");
    unsetenv("RLOCK_PASSWORD_FILE");
    unsetenv("RLOCK_SERVER");
}

static int clear_environment(void **state) {
    (void)state;
    static const char *const names[] = {"RLOCK_SERVER", "RLOCK_PASSWORD", "RLOCK_PASSWORD_FILE"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unsetenv(names[i]);
    return setenv("RLOCK_CONFIG", "/dev/null", 1); /* whatever this machine has set up */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_the_contracts),
        cmocka_unit_test(every_option_is_read),
        cmocka_unit_test(options_end_at_the_command),
        cmocka_unit_test(the_last_of_wait_and_no_wait_counts),
        cmocka_unit_test(kill_after_follows_the_lease),
        cmocka_unit_test(each_kind_has_its_options),
        cmocka_unit_test(latches_have_their_options),
        cmocka_unit_test(a_files_min_hold_does_not_stop_plain_permits),
        cmocka_unit_test(mistakes_of_a_kind_are_told),
        cmocka_unit_test(operands_stand_anywhere),
        cmocka_unit_test(mistakes_are_told),
        cmocka_unit_test(several_servers_are_a_quorum),
        cmocka_unit_test(several_servers_are_not_for_each_command),
        cmocka_unit_test(replicas_and_tls_are_read),
        cmocka_unit_test(names_have_at_most_512_bytes),
        cmocka_unit_test(no_message_tells_a_password),
        cmocka_unit_test(help_stops_reading),
        cmocka_unit_test(options_beat_the_environment),
        cmocka_unit_test(passwords_come_from_variable_or_file),
    };
    return cmocka_run_group_tests(tests, clear_environment, NULL);
}
