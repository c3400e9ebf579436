/* test_config.c: the config files, and what beats what. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "commands.h"
#include "options/config.h"
#include "options/load.h"
#include "options/opt.h"
#include "output/out.h"
#include "rlock.h"

#define SECRET "s3cret"

static char directory[] = "/tmp/rlock-test-XXXXXX";
static char path[64]; /* of the file that each test writes */

static void write_bytes(const char *content, size_t size) {
    FILE *stream = fopen(path, "w");
    assert_non_null(stream);
    assert_int_equal(fwrite(content, 1, size, stream), size);
    assert_int_equal(fclose(stream), 0);
}

static bool read_content(struct settings *settings, const char *content, struct complaint *why) {
    *settings = (struct settings){0};
    write_bytes(content, strlen(content));
    return opt_preset(settings, why) && config_read(settings, path, SOURCE_USER_FILE, true, why);
}

static void reads_settings(void **state) {
    (void)state;
    struct settings settings;
    struct complaint why = {0};
    if (!read_content(&settings,
                      "# a comment\n"
                      "\n"
                      "server = redis://h/0#not-a-comment   # but this is one\n"
                      "  wait=5m\r\n"
                      "\tlease\t=\t1.5\t\n"
                      "no-renew = yes\n"
                      "quiet = on\n"
                      "verbose = 1\n"
                      "on-lost = warn\n"
                      "conflict-exit-code = 3\n"
                      "min-hold = 1s\n"
                      "lease = 2s\n"        /* the last one counts */
                      "io-timeout = 250ms", /* no newline at the end */
                      &why))
        fail_msg("%s", why.text);
    assert_string_equal(settings.servers[0], "redis://h/0#not-a-comment");
    assert_int_equal(OPT_FROM(&settings, servers)->source, SOURCE_USER_FILE);
    assert_int_equal(settings.wait_ms, 300000);
    assert_int_equal(settings.lease_ms, 2000);
    assert_int_equal(OPT_FROM(&settings, lease_ms)->line, 12);
    assert_true(settings.no_renew && settings.quiet && settings.on_lost == ON_LOST_WARN);
    assert_int_equal(settings.verbosity, 1);
    assert_int_equal(settings.conflict_exit_code, 3);
    assert_int_equal(settings.min_hold_ms, 1000);
    assert_int_equal(settings.io_timeout_ms, 250);
    settings_free(&settings);
}

static void flags_can_be_taken_back(void **state) {
    (void)state;
    struct settings settings;
    struct complaint why = {0};
    assert_true(read_content(&settings,
                             "quiet=yes\nquiet=no\nno-renew=true\nno-renew=false\n"
                             "verbose=on\nverbose=off\nno-wait=1\nno-wait=0\n",
                             &why));
    assert_false(settings.quiet || settings.no_renew);
    assert_int_equal(settings.verbosity, 0);
    assert_true(settings.wait_ms == RLOCK_FOREVER);
    settings_free(&settings);
    assert_true(read_content(&settings, "wait = 5m\nno-wait = no\n", &why));
    assert_int_equal(settings.wait_ms, 300000);
    settings_free(&settings);
}

static void mistakes_are_told_with_file_and_line(void **state) {
    (void)state;
    static const struct {
        const char *content, *place, *text;
    } rows[] = {
        {"leese = 5s", ":1: ", "unknown key 'leese': did you mean 'lease'?"},
        {"\n\nfrobnicate = 5s", ":3: ", "unknown key 'frobnicate'"},
        {"lea = 5s", ":1: ", "unknown key 'lea'"}, /* no abbreviations */
        {"list-options = yes", ":1: ", "unknown key"},
        {"lease = 5x", ":1: ", "cannot use lease '5x': unknown unit"},
        {"# x\nlease = 5ms", ":2: ", "too short"},
        {"wait = -1", ":1: ", "negative"},
        {"lease =", ":1: ", "has no value"},
        {"lease = # nothing", ":1: ", "has no value"},
        {"lease", ":1: ", "write 'key = value'"},
        {"= 5s", ":1: ", "write 'key = value'"},
        {"name = x", ":1: ", "'name' cannot stand in a config file"},
        {"command = x", ":1: ", "cannot stand in a config file"},
        {"help = yes", ":1: ", "cannot stand in a config file"},
        {"quiet = maybe", ":1: ", "give yes or no"},
        {"log = xml", ":1: ", "text or json"},
        {"server = redis://a\nserver = redis://:" SECRET "@b", ":2: ", "stand on one line"},
        {"replicas = 101", ":1: ", "from 0 to 100"},
        {"tls-insecure = maybe", ":1: ", "give yes or no"},
        {"server redis://:" SECRET "@a", ":1: ", "write 'key = value'"},
        {"server unix:///" SECRET "?db=1", ":1: ", "write 'key = value'"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct settings settings;
        struct complaint why = {0};
        bool good = read_content(&settings, rows[i].content, &why);
        bool placed = strncmp(why.text, path, strlen(path)) == 0 &&
                      strncmp(why.text + strlen(path), rows[i].place, strlen(rows[i].place)) == 0;
        if (good || why.status != EXIT_CONFIG || !placed ||
            strstr(why.text, rows[i].text) == NULL || strstr(why.text, SECRET) != NULL)
            fail_msg("'%s': %d '%s'", rows[i].content, why.status, why.text);
        settings_free(&settings);
    }
}

static void lines_have_a_limit_and_no_nul(void **state) {
    (void)state;
    struct settings settings = {0};
    struct complaint why;
    char line[5000];
    memset(line, '#', sizeof line);
    write_bytes(line, sizeof line);
    assert_false(config_read(&settings, path, SOURCE_USER_FILE, true, &why));
    assert_non_null(strstr(why.text, ":1: the line is too long"));
    write_bytes("quiet = yes\nlease = 5\0s\n", 24);
    assert_false(config_read(&settings, path, SOURCE_USER_FILE, true, &why));
    assert_non_null(strstr(why.text, ":2: the line has a NUL byte"));
    settings_free(&settings);
}

static void only_a_named_file_must_be_there(void **state) {
    (void)state;
    struct settings settings = {0};
    struct complaint why;
    assert_true(config_read(&settings, "/nowhere/rlock.conf", SOURCE_USER_FILE, false, &why));
    assert_true(config_read(&settings, "/dev/null/rlock.conf", SOURCE_USER_FILE, false, &why));
    assert_false(config_read(&settings, "/nowhere/rlock.conf", SOURCE_USER_FILE, true, &why));
    assert_int_equal(why.status, EXIT_CONFIG);
    assert_non_null(strstr(why.text, strerror(ENOENT)));
    assert_false(config_read(&settings, directory, SOURCE_USER_FILE, false, &why));
    assert_non_null(strstr(why.text, strerror(EISDIR)));
    settings_free(&settings);
}

static void stronger_sources_win(void **state) {
    (void)state;
    struct settings settings = {0};
    struct complaint why;
    static const struct origin option = {.source = SOURCE_OPTION};
    assert_true(opt_preset(&settings, &why));
    assert_true(opt_set(opt_find("no-wait"), &settings, "yes", &option, &why));
    write_bytes("lease = 1s\nwait = 1s\nmin-hold = 1s\nserver = redis://system\n", 58);
    assert_true(config_read(&settings, path, SOURCE_SYSTEM_FILE, true, &why));
    write_bytes("lease = 2s\nwait = 2s\nserver = redis://user\n", 43);
    assert_true(config_read(&settings, path, SOURCE_USER_FILE, true, &why));
    assert_int_equal(settings.wait_ms, 0);
    assert_int_equal(settings.lease_ms, 2000);
    assert_int_equal(settings.min_hold_ms, 1000);
    assert_string_equal(settings.servers[0], "redis://user");

    /* What is overridden must make sense all the same. */
    write_bytes("wait = 5x\n", 10);
    assert_false(config_read(&settings, path, SOURCE_USER_FILE, true, &why));
    settings_free(&settings);
}

static void kill_after_of_a_file_gives_way_to_a_lease_from_the_command_line(void **state) {
    (void)state;
    static const struct cmd run = {.name = "run", .options = CMD_RUN};
    char *with_lease[] = {"run", "-n", "a", "-l", "3s", "true", NULL};
    char *without[] = {"run", "-n", "a", "true", NULL};
    struct settings settings;
    struct complaint why;
    setenv("RLOCK_CONFIG", path, 1);
    write_bytes("kill-after = 4s\n", 16);
    assert_int_equal(settings_load(&settings, &run, 6, with_lease, &why), SETTINGS_OK);
    assert_int_equal(settings.kill_after_ms, 1000);
    settings_free(&settings);
    write_bytes("lease = 3s\nkill-after = 4s\n", 27);
    assert_int_equal(settings_load(&settings, &run, 4, without, &why), SETTINGS_BAD);
    assert_int_equal(why.status, EXIT_CONFIG);
    assert_non_null(strstr(why.text, ":2: cannot use kill-after '4s'"));
    settings_free(&settings);
}

static void finds_the_users_file(void **state) {
    (void)state;
    struct settings settings = {0};
    struct complaint why;
    unsetenv("RLOCK_CONFIG");
    setenv("XDG_CONFIG_HOME", directory, 1);
    write_bytes("min-hold = 7s\n", 14);
    assert_true(config_load(&settings, &why));
    assert_int_equal(settings.min_hold_ms, 7000);
    settings_free(&settings);

    unsetenv("XDG_CONFIG_HOME");
    unsetenv("HOME");
    assert_true(config_load(&settings, &why));
    assert_int_equal(OPT_FROM(&settings, min_hold_ms)->source != SOURCE_USER_FILE, 1);
    settings_free(&settings);

    setenv("RLOCK_CONFIG", "/nowhere/rlock.conf", 1);
    assert_false(config_load(&settings, &why));
    settings_free(&settings);
}

static int make_directory(void **state) {
    (void)state;
    char below[64];
    if (mkdtemp(directory) == NULL)
        return -1;
    snprintf(below, sizeof below, "%s/rlock", directory);
    snprintf(path, sizeof path, "%s/rlock/rlock.conf", directory);
    unsetenv("RLOCK_SERVER");
    unsetenv("RLOCK_PASSWORD");
    unsetenv("RLOCK_PASSWORD_FILE");
    return mkdir(below, 0700);
}

static int remove_directory(void **state) {
    (void)state;
    unlink(path);
    *strrchr(path, '/') = '\0';
    rmdir(path);
    return rmdir(directory);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_settings),
        cmocka_unit_test(flags_can_be_taken_back),
        cmocka_unit_test(mistakes_are_told_with_file_and_line),
        cmocka_unit_test(lines_have_a_limit_and_no_nul),
        cmocka_unit_test(only_a_named_file_must_be_there),
        cmocka_unit_test(stronger_sources_win),
        cmocka_unit_test(kill_after_of_a_file_gives_way_to_a_lease_from_the_command_line),
        cmocka_unit_test(finds_the_users_file),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
