/* test_config.c: the config files, and what beats what. */
#include "support/test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "options/opt.h"
#include "options/settings.h"
#include "output/out.h"
#include "rlock.h"

#define SECRET "s3cret"

static char path[] = "/tmp/rlock-test-XXXXXX"; /* of the file that each test writes */

static void write_content(const char *content) {
    FILE *stream = fopen(path, "w");
    assert_non_null(stream);
    assert_true(fputs(content, stream) >= 0);
    assert_int_equal(fclose(stream), 0);
}

static struct settings settings;
static struct complaint why;

void after_each(void) {
    settings_free(&settings);
    why = (struct complaint){0};
}

static bool read_file(void) {
    settings.cmd = cmd_find(&cmd_rlock, "run");
    return config_read(&settings, path, SOURCE_USER_FILE, true, &why);
}

static bool read_content(const char *content) {
    after_each();
    write_content(content);
    return opt_preset(&settings, &why) && read_file();
}

TEST(reads_settings) {
    if (!read_content("# a comment\n"
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
                      "note = \"any text\"\n" /* in quotes, if it likes */
                      "lease = 2s\n"          /* the last one counts */
                      "io-timeout = 250ms"))  /* no newline at the end */
        fail_msg("%s", why.text);
    assert_string_equal(settings.server.urls[0], "redis://h/0#not-a-comment");
    assert_int_equal(OPT_FROM(&settings, server.urls)->source, SOURCE_USER_FILE);
    assert_true(settings.lock.wait_ms == 300000 && settings.lock.lease_ms == 2000);
    assert_int_equal(OPT_FROM(&settings, lock.lease_ms)->line, 13);
    assert_true(settings.run.no_renew && !settings.quiet && settings.run.on_lost == ON_LOST_WARN);
    assert_true(settings.verbose && settings.lock.conflict_exit_code == 3);
    assert_true(settings.lock.min_hold_ms == 1000 && settings.server.io_timeout_ms == 250);
}

TEST(flags_can_be_taken_back) {
    assert_true(read_content("quiet=yes\nquiet=no\nno-renew=true\nno-renew=false\n"
                             "verbose=on\nverbose=off\nno-wait=1\nno-wait=0\n"));
    assert_false(settings.quiet || settings.run.no_renew);
    assert_false(settings.verbose);
    assert_true(settings.lock.wait_ms == RLOCK_FOREVER);
    assert_true(read_content("quiet=yes\nverbose=yes\n")); /* as -v does where a file has quiet */
    assert_true(settings.verbose && !settings.quiet);
    assert_true(read_content("quiet=yes\nverbose=no\n"));
    assert_true(settings.quiet && !settings.verbose);
    assert_true(read_content("wait = 5m\nno-wait = no\n"));
    assert_int_equal(settings.lock.wait_ms, 300000);
}

TEST(mistakes_are_told_with_file_and_line) {
    static const struct {
        int line;
        const char *text, *contents[5];
    } rows[] = {
        {1, "unknown key 'leese': did you mean 'lease'?", {"leese = 5s"}},
        {3, "unknown key 'frobnicate'", {"\n\nfrobnicate = 5s"}},
        {1, "see 'rlock run --help'", {"leaseleaseleaseleaseleaseleaseleaselease = 5s"}},
        {1, "unknown key", {"lea = 5s", "list-options = yes"}}, /* no abbreviations */
        {1, "cannot use lease '5x': unknown unit", {"lease = 5x"}},
        {1, "has no value", {"lease =", "lease = # nothing"}},
        {1,
         "write 'key = value'",
         {"lease", "= 5s", "server redis://:" SECRET "@a", "server unix:///" SECRET "?db=1"}},
        {1, "'name' cannot stand in a config file", {"name = x"}},
        {1, "cannot stand in a config file", {"command = x", "help = yes"}},
        {1, "give yes or no", {"quiet = maybe", "tls-insecure = maybe"}},
        {2, "stand on one line", {"server = redis://a\nserver = redis://:" SECRET "@b"}},
        {1, "relative", {"server = local:./here", "server = redis://h local:here"}},
        {1,
         "'locks' is no URL: in local:DIR, write a space as %20",
         {"server = local:/var/my locks"}},
        {1,
         "whole path",
         {"password-file = here", "tls-ca = here", "tls-cert = here", "tls-key = ./here"}},
        {1, "'lease' has a value in quotes: write it without them", {"lease = '30s'"}},
        {1, "'server' has a value in quotes", {"server = \"redis://h\""}},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        for (const char *const *content = rows[i].contents; *content != NULL; content++) {
            char place[96];
            const bool good = read_content(*content);
            (void)snprintf(place, sizeof place, "%s:%d: ", path, rows[i].line);
            if (good || why.status != EXIT_CONFIG || strncmp(why.text, place, strlen(place)) != 0 ||
                strstr(why.text, rows[i].text) == NULL || strstr(why.text, SECRET) != NULL)
                fail_msg("'%s': %d '%s'", *content, why.status, why.text);
        }
    }
}

TEST(only_a_named_file_must_be_there) {
    assert_true(config_read(&settings, "/nowhere/rlock.conf", SOURCE_USER_FILE, false, &why));
    assert_true(config_read(&settings, "/dev/null/rlock.conf", SOURCE_USER_FILE, false, &why));
    assert_false(config_read(&settings, "/nowhere/rlock.conf", SOURCE_USER_FILE, true, &why));
    assert_int_equal(why.status, EXIT_CONFIG);
    assert_non_null(strstr(why.text, strerror(ENOENT)));
}

TEST(what_is_overridden_must_make_sense_all_the_same) {
    static const struct origin option = {.source = SOURCE_OPTION};
    assert_true(opt_preset(&settings, &why));
    assert_true(opt_set(opt_find("no-wait"), &settings, "yes", &option, &why));
    write_content("wait = 5s\n");
    assert_true(read_file());
    assert_int_equal(settings.lock.wait_ms, 0);
    write_content("wait = 5x\n");
    assert_false(read_file());
}

TEST(kill_after_of_a_file_gives_way_to_a_lease_from_the_command_line) {
    char *with_lease[] = {"run", "-n", "a", "-l", "3s", "true", NULL};
    char *without[] = {"run", "-n", "a", "true", NULL};
    const struct cmd *run = cmd_find(&cmd_rlock, "run");
    setenv("RLOCK_CONFIG", path, 1);
    write_content("kill-after = 4s\n");
    assert_int_equal(settings_load(&settings, run, 6, with_lease, &why), SETTINGS_OK);
    assert_int_equal(settings.run.kill_after_ms, 1000);
    settings_free(&settings);
    write_content("lease = 3s\nkill-after = 4s\n");
    assert_int_equal(settings_load(&settings, run, 4, without, &why), SETTINGS_BAD);
    assert_int_equal(why.status, EXIT_CONFIG);
    assert_non_null(strstr(why.text, ":2: cannot use kill-after '4s'"));
}

TEST(without_a_home_there_is_no_users_file) {
    unsetenv("RLOCK_CONFIG");
    unsetenv("XDG_CONFIG_HOME");
    unsetenv("HOME");
    assert_true(config_load(&settings, &why));
}

void before_all(void) {
    close(mkstemp(path));
    unsetenv("RLOCK_SERVER");
    unsetenv("RLOCK_PASSWORD");
    unsetenv("RLOCK_PASSWORD_FILE");
}

void after_all(void) {
    unlink(path);
}
