/* refusal.c: what a server's error means for us.
 *
 * The texts are those of Redis 7.0 and 8.0 and of Valkey 8.1; inside scripts a refused command is
 * not a NOPERM. Scripts append " script: SHA, on @user_script:1.", so only the beginning counts. */
#include "refusal.h"

#include <stddef.h>
#include <string.h>

static const struct {
    const char *prefix;
    enum rlock_status status;
    const char *plain; /* in plain words, where the server's are not; NULL: they will do */
} refusals[] = {
    {"NOAUTH", RLOCK_DENIED, "the server wants a password"},
    {"WRONGPASS", RLOCK_DENIED, NULL},
    {"NOPERM", RLOCK_DENIED, NULL},
    {"DENIED", RLOCK_DENIED, NULL}, /* protected mode */
    {"ERR AUTH <password> called without any password", RLOCK_OK,
     NULL}, /* as redis-cli: go on without */
    {"ERR Client sent AUTH, but no password is set", RLOCK_OK, NULL},
    {"ERR AUTH", RLOCK_DENIED, NULL},
    {"ERR invalid password", RLOCK_DENIED, NULL},
    {"ERR The user executing the script can't", RLOCK_DENIED, NULL},
    {"ERR ACL failure in script", RLOCK_DENIED, NULL},
    {"ERR Protocol error: unauthenticated", RLOCK_DENIED, "the server wants a password"},
    {"WRONGTYPE", RLOCK_WRONG_KIND, NULL},
    {"LOADING", RLOCK_AGAIN, NULL},
    {"BUSY", RLOCK_AGAIN, NULL},
    {"MASTERDOWN", RLOCK_AGAIN, NULL},
    {"CLUSTERDOWN", RLOCK_AGAIN, NULL},
    {"TRYAGAIN", RLOCK_AGAIN, NULL},
    {"NOREPLICAS", RLOCK_AGAIN, NULL},
    {"MISCONF", RLOCK_AGAIN, NULL},
    {"OOM", RLOCK_AGAIN, NULL},
    {"READONLY", RLOCK_AGAIN, NULL},
    {"UNBLOCKED", RLOCK_AGAIN, NULL},
    {"ERR max number of clients", RLOCK_AGAIN, NULL},
};

enum rlock_status rlock__refusal(const char *text, const char **plain) {
    *plain = text;
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        if (strncmp(text, refusals[i].prefix, strlen(refusals[i].prefix)) == 0) {
            *plain = refusals[i].plain != NULL ? refusals[i].plain : text;
            return refusals[i].status;
        }
    }
    return RLOCK_UNAVAILABLE;
}
