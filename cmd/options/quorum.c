/* quorum.c: which servers can be a quorum, and for which commands.
 *
 * A majority is worth something when its members fail one by one: each has to be a server of its
 * own. */
#include "options/quorum.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options/command.h"
#include "options/local_url.h"
#include "options/opt.h"
#include "output/out.h"

enum {
    WITH_HANDLE = CMD_RENEW | CMD_RELEASE | CMD_CHECK, /* whatever the handle's lock is */
    QUORUM_COMMANDS = CMD_RUN | CMD_READ | CMD_WRITE | CMD_ACQUIRE_RUN | CMD_ACQUIRE_READ |
                      CMD_ACQUIRE_WRITE | WITH_HANDLE | CMD_STATUS | CMD_BREAK | CMD_DOCTOR,
};

/* What follows the scheme, which is one of these; NULL: it is none of them. */
static const char *behind(const char *url, const char *const *schemes) {
    for (; *schemes != NULL; schemes++) {
        if (strncmp(url, *schemes, strlen(*schemes)) == 0)
            return url + strlen(*schemes);
    }
    return NULL;
}

static bool is_group(const char *url) {
    static const char *const schemes[] = {"sentinel://", "sentinels://", "cluster://",
                                          "clusters://", NULL};
    return behind(url, schemes) != NULL;
}

/* HOST:PORT, whoever logs in and whatever the database. */
static char *network_place(const char *authority) {
    const char *at = strrchr(authority, '@');
    const char *host = at != NULL ? at + 1 : authority;
    const int length = (int)strcspn(host, "/");
    const char *colon = memrchr(host, ':', (size_t)length);
    const char *bracket = memrchr(host, ']', (size_t)length);
    const bool has_port = colon != NULL && (bracket == NULL || bracket < colon);
    char *place = NULL;
    if (asprintf(&place, has_port ? "%.*s" : "%.*s:6379", length, host) < 0)
        return NULL;
    for (char *c = place; *c != '\0'; c++)
        *c = (char)tolower((unsigned char)*c);
    return place;
}

/* Two URLs of one place lead to one server. Yours to free; NULL: no memory. */
static char *place_of(const char *url) {
    static const char *const network[] = {"redis://", "rediss://", NULL};
    static const char *const unix_socket[] = {"unix://", NULL};
    if (local_is(url))
        return local_socket(url);
    const char *rest = behind(url, network);
    if (rest != NULL)
        return network_place(rest);
    rest = behind(url, unix_socket);
    return rest != NULL ? strndup(rest, strcspn(rest, "?")) : strdup(url);
}

/* Finds the first server that one before it is, too. Where memory is short nothing is found. */
static bool find_double(const struct settings *settings, size_t *first, size_t *second) {
    char *places[RLOCK_SERVERS_MAX];
    bool found = false;
    for (size_t i = 0; i < settings->server_count; i++) {
        places[i] = place_of(settings->servers[i]);
        for (size_t j = 0; j < i && !found; j++) {
            found = places[i] != NULL && places[j] != NULL && strcmp(places[i], places[j]) == 0;
            *first = j;
            *second = i;
        }
    }
    for (size_t i = 0; i < settings->server_count; i++)
        free(places[i]);
    return found;
}

bool quorum_check(const struct settings *settings, const struct cmd *cmd, struct complaint *why) {
    const size_t count = settings->server_count;
    struct reason reason = {.text = ""};
    size_t first = 0, second = 0;
    if (count < 2)
        return true;
    if ((cmd->options & QUORUM_COMMANDS) == 0)
        return complain(why, EXIT_USAGE,
                        "several servers: 'rlock %s' works on one: give one, or use run, read or "
                        "write, which take a lock on a majority of several",
                        cmd->name);
    for (size_t i = 0; i < count && *reason.text == '\0'; i++) {
        if (is_group(settings->servers[i]))
            snprintf(reason.text, sizeof reason.text,
                     "the servers of a quorum are single ones (redis://, rediss://, unix://, "
                     "local:), and number %zu is a sentinel:// or cluster://: give it alone",
                     i + 1);
    }
    if (*reason.text == '\0' && find_double(settings, &first, &second))
        snprintf(reason.text, sizeof reason.text,
                 "numbers %zu and %zu are one server: those of a quorum are independent: give each "
                 "once",
                 first + 1, second + 1);
    if (*reason.text == '\0' && count % 2 == 0)
        snprintf(
            reason.text, sizeof reason.text,
            "%zu is an even number of servers, which survives no more failures than one fewer: "
            "give %zu or %zu",
            count, count - 1, count + 1);
    return *reason.text == '\0' || opt_complain(opt_find("server"), settings->servers[0],
                                                &settings->origins[SETTING_SERVER], &reason, why);
}
