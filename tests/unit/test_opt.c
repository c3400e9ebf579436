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

#include "cmd.h"
#include "opt.h"
#include "out.h"
#include "rlock.h"

#define ARGS_MAX 24
#define SECRET   "s3cret"

static const struct cmd run = {.name = "run", .options = CMD_RUN};

/* One command line and what became of it. */
struct fixture {
    char *argv[ARGS_MAX];
    struct settings settings;
    struct complaint why;
};

/* The words of line, parted by spaces; "''" stands for an empty one. */
static enum settings_outcome load(struct fixture *fixture, const char *line) {
    static char words[2048];
    int argc = 0;
    snprintf(words, sizeof words, "run %s", line);
    char *rest = words, *word;
    while ((word = strtok_r(rest, " ", &rest)) != NULL && argc < ARGS_MAX - 1)
        fixture->argv[argc++] = strcmp(word, "''") == 0 ? word + 2 : word;
    fixture->argv[argc] = NULL;
    return settings_load(&fixture->settings, &run, argc, fixture->argv, &fixture->why);
}

static void assert_loads(struct fixture *fixture, const char *line) {
    if (load(fixture, line) != SETTINGS_OK)
        fail_msg("%s: %s", line, fixture->why.text);
}

static void defaults_are_the_contracts(void **state) {
    (void)state;
    struct fixture f;
    assert_loads(&f, "-n deploy true");
    assert_int_equal(f.settings.name_count, 1);
    assert_string_equal(f.settings.names[0], "deploy");
    assert_string_equal(f.settings.server, "redis://127.0.0.1:6379");
    assert_int_equal(f.settings.server_source, SOURCE_DEFAULT);
    assert_null(f.settings.password);
    assert_true(f.settings.wait_ms == RLOCK_FOREVER);
    assert_int_equal(f.settings.lease_ms, 30000);
    assert_int_equal(f.settings.kill_after_ms, 5000);
    assert_int_equal(f.settings.min_hold_ms, 0);
    assert_int_equal(f.settings.connect_timeout_ms, 5000);
    assert_int_equal(f.settings.io_timeout_ms, 5000);
    assert_int_equal(f.settings.conflict_exit_code, EXIT_CONFLICT);
    assert_false(f.settings.no_renew || f.settings.warn_on_lost || f.settings.quiet);
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
    assert_string_equal(f.settings.server, "unix:///x");
    assert_int_equal(f.settings.wait_ms, 300000);
    assert_int_equal(f.settings.lease_ms, 60000);
    assert_true(f.settings.quiet);
    assert_int_equal(f.settings.verbosity, 2);
    settings_free(&f.settings);

    assert_loads(&f, "--no-renew --kill-after 0 --on-lost warn --min-hold 2s -E 0 -c true "
                     "--connect-timeout=1ms --io-timeout=.5 --log=json -n a");
    assert_true(f.settings.no_renew && f.settings.warn_on_lost);
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

/* Each is refused with 64 and one line that has the text. */
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
        {"-n a -s redis://h -s redis://i true", "quorum"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fixture f;
        if (load(&f, rows[i].line) != SETTINGS_BAD || f.why.status != EXIT_USAGE ||
            strstr(f.why.text, rows[i].text) == NULL)
            fail_msg("'%s': %d '%s'", rows[i].line, f.why.status, f.why.text);
        settings_free(&f.settings);
    }
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
        "-n a -s redis://:" SECRET "@h -s redis://i true",
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
    assert_string_equal(f.settings.server, "redis://environment");
    assert_int_equal(f.settings.server_source, SOURCE_ENVIRONMENT);
    settings_free(&f.settings);
    assert_loads(&f, "-n a -s redis://option true");
    assert_string_equal(f.settings.server, "redis://option");
    assert_int_equal(f.settings.server_source, SOURCE_OPTION);
    settings_free(&f.settings);
    setenv("RLOCK_SERVER", "redis://:" SECRET "@a redis://b", 1);
    assert_int_equal(load(&f, "-n a true"), SETTINGS_BAD);
    assert_int_equal(f.why.status, EXIT_USAGE);
    assert_non_null(strstr(f.why.text, "RLOCK_SERVER: several servers are a quorum"));
    assert_null(strstr(f.why.text, SECRET));
    settings_free(&f.settings);
    setenv("RLOCK_SERVER", "", 1);
    assert_loads(&f, "-n a true");
    assert_int_equal(f.settings.server_source, SOURCE_DEFAULT);
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
        cmocka_unit_test(mistakes_are_told),
        cmocka_unit_test(names_have_at_most_512_bytes),
        cmocka_unit_test(no_message_tells_a_password),
        cmocka_unit_test(help_stops_reading),
        cmocka_unit_test(options_beat_the_environment),
        cmocka_unit_test(passwords_come_from_variable_or_file),
    };
    return cmocka_run_group_tests(tests, clear_environment, NULL);
}
