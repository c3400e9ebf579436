/* job.c: the page of the CI job that we run in, from the variables that its runner sets. */
#include "options/load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options/opt.h"

enum { URL_SIZE = 1024 }; /* more than a note can be */

static const char *variable(const char *name) {
    const char *value = getenv(name);
    return value != NULL ? value : "";
}

static void gitlab(char url[URL_SIZE]) {
    (void)snprintf(url, URL_SIZE, "%s", variable("CI_JOB_URL"));
}

static void github(char url[URL_SIZE]) {
    const char *server = variable("GITHUB_SERVER_URL"), *repository = variable("GITHUB_REPOSITORY"),
               *run = variable("GITHUB_RUN_ID");
    url[0] = '\0';
    if (*server != '\0' && *repository != '\0' && *run != '\0')
        (void)snprintf(url, URL_SIZE, "%s/%s/actions/runs/%s", server, repository, run);
}

static void jenkins(char url[URL_SIZE]) {
    (void)snprintf(url, URL_SIZE, "%s", variable("BUILD_URL"));
}

/* A login in it may be a token, even without a password; readers of the note use their own. */
static void drop_login(char *url) {
    char *host = strstr(url, "://");
    if (host == NULL)
        return;
    host += strlen("://");
    const char *at = memrchr(host, '@', strcspn(host, "/?#"));
    if (at != NULL)
        memmove(host, at + 1, strlen(at + 1) + 1);
}

bool settings_job_note(struct settings *settings) {
    static const struct origin preset = {.source = SOURCE_DEFAULT};
    static void (*const runners[])(char *) = {gitlab, github, jenkins};
    char url[URL_SIZE];
    struct complaint ignored;
    for (size_t i = 0; i < sizeof runners / sizeof runners[0]; i++) {
        runners[i](url);
        drop_login(url);
        if (*url == '\0')
            continue;
        const char *kept = settings_keep(settings, url);
        if (kept == NULL)
            return false;
        if (opt_set(opt_find("note"), settings, kept, &preset, &ignored))
            break;
    }
    return true;
}
