/* load.c: the settings from everywhere: options, environment and config files merged.
 *
 * The command line is read first, so that its mistakes are reported whatever the files hold, and
 * the weaker sources afterwards: opt_set() lets none of them replace what a stronger one has set.
 */
#include "options/settings.h"

#include <stdlib.h>
#include <string.h>

#include "options/command.h"
#include "options/lines.h"
#include "options/local_url.h"
#include "options/opt.h"
#include "output/describe.h"
#include "output/out.h"

static bool keep_password(struct settings *settings, const char *password, struct complaint *why) {
    settings->server.password = settings_keep(settings, password);
    return settings->server.password != NULL ||
           complain(why, EXIT_SYSTEM, "cannot keep the password: out of memory");
}

/* The first line of a file, or of a pipe such as a shell makes of <(...). False: why names the
 * file, never what is in it. */
static bool read_password_file(struct settings *settings, struct complaint *why) {
    const char *path = settings->server.password_file, *wrong;
    char by[OPT_ORIGIN_SIZE];
    struct lines lines;
    if (lines_open(&lines, path, true, &wrong)) {
        const bool found = lines_next(&lines, &wrong) && *lines.text != '\0';
        const bool kept = found && keep_password(settings, lines.text, why);
        lines_close(&lines);
        if (found)
            return kept;
        if (wrong == NULL)
            wrong = "the first line is empty";
    }
    return complain(why, EXIT_CONFIG, "%s: cannot read the password that %s names: %s", path,
                    opt_origin(opt_find("password-file"), settings, by), wrong);
}

/* How long the login in front of a URL's host is, which begins at *login; 0: it has none. */
static size_t find_login(const char *url, const char **login) {
    const char *scheme_end = strstr(url, "://");
    if (scheme_end == NULL)
        return 0;
    *login = scheme_end + strlen("://");
    const char *at = memrchr(*login, '@', strcspn(*login, "/?#"));
    return at != NULL ? (size_t)(at - *login) : 0;
}

/* A local: server has no password, and another's URL may have its own; the Sentinels' own leaves
 * the servers' to be told. */
static bool needs_password_of(const char *url) {
    const char *login = NULL;
    const size_t length = find_login(url, &login);
    return !local_is(url) && (strncmp(url, "sentinel", strlen("sentinel")) == 0 || length == 0 ||
                              memchr(login, ':', length) == NULL);
}

/* A file for the whole fleet may be unreadable to some. */
static bool needs_password(const struct settings *settings) {
    for (size_t i = 0; i < settings->server.count; i++) {
        if (needs_password_of(settings->server.urls[i]))
            return true;
    }
    return false;
}

/* The command line, then the environment, where RLOCK_PASSWORD goes before the file, then the
 * files. The file is read only if a server needs it. */
static bool read_password(struct settings *settings, struct complaint *why) {
    const char *password = getenv("RLOCK_PASSWORD");
    if (password != NULL && *password != '\0' && !OPT_IS_GIVEN(settings, server.password_file)) {
        settings->server.password_file = NULL;
        return keep_password(settings, password, why);
    }
    return settings->server.password_file == NULL || !needs_password(settings) ||
           read_password_file(settings, why);
}

enum { URL_SIZE = 1024 }; /* more than a note can be */

/* The page of a CI job as its runner's variables have it, each behind a text. */
static const char *const job_pages[][6] = {
    {"", "CI_JOB_URL"}, /* GitLab */
    {"", "GITHUB_SERVER_URL", "/", "GITHUB_REPOSITORY", "/actions/runs/", "GITHUB_RUN_ID"},
    {"", "BUILD_URL"}, /* Jenkins */
};

/* False: a variable is not set, or is empty. */
static bool make_job_url(char url[URL_SIZE], const char *const page[6]) {
    size_t length = 0;
    for (size_t i = 0; i < 6 && page[i] != NULL; i += 2) {
        const char *value = getenv(page[i + 1]);
        if (value == NULL || *value == '\0')
            return false;
        describe_append(url, URL_SIZE, &length, "%s%s", page[i], value);
    }
    return true;
}

/* A login in it may be a token, even without a password; readers of the note use their own. */
static void drop_login(char *url) {
    const char *login = NULL;
    const size_t length = find_login(url, &login);
    if (length > 0)
        memmove(url + (login - url), login + length + 1, strlen(login + length + 1) + 1);
}

/* Sets the note, unless it is set, to the page of the CI job that we run in, from the variables
 * that its runner sets, and without a login. A URL that cannot be a note is ignored. False: out of
 * memory. */
static bool job_note(struct settings *settings) {
    static const struct origin preset = {.source = SOURCE_DEFAULT};
    char url[URL_SIZE];
    struct complaint ignored = {0};
    for (size_t i = 0; i < sizeof job_pages / sizeof job_pages[0]; i++) {
        if (!make_job_url(url, job_pages[i]))
            continue;
        drop_login(url);
        const char *kept = settings_keep(settings, url);
        if (kept == NULL)
            return false;
        if (opt_set(opt_find("note"), settings, kept, &preset, &ignored))
            break;
    }
    return true;
}

/* An empty variable counts as none, as in `RLOCK_SERVER= rlock …`. */
static bool read_environment(struct settings *settings, struct complaint *why) {
    static const struct origin environment = {.source = SOURCE_ENVIRONMENT};
    for (const struct opt *row = NULL; (row = opt_next(~0U, row)) != NULL;) {
        const char *value = row->variable != NULL ? getenv(row->variable) : NULL;
        if (value != NULL && *value != '\0' && !opt_set(row, settings, value, &environment, why))
            return false;
    }
    return job_note(settings) ||
           complain(why, EXIT_SYSTEM, "cannot keep the job's URL: out of memory");
}

enum settings_outcome settings_load(struct settings *settings, const struct cmd *cmd, int argc,
                                    char **argv, struct complaint *why) {
    *settings = (struct settings){
        .cmd = cmd, .server = {.replicas = RLOCK_REPLICAS_AUTO, .tls = RLOCK_TLS_OPTIONS_INIT}};
    why->status = 0;
    if (!opt_preset(settings, why))
        return SETTINGS_BAD;
    const enum settings_outcome outcome = opt_parse(settings, argc, argv, why);
    if (outcome != SETTINGS_OK && outcome != SETTINGS_BAD)
        return outcome;
    const bool given = outcome == SETTINGS_OK && settings_check_command_line(settings, why);
    const bool good = config_load(settings, why) && given && read_environment(settings, why) &&
                      read_password(settings, why) && settings_check(settings, why);
    return good ? SETTINGS_OK : SETTINGS_BAD;
}
