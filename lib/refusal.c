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
} refusals[] = {
    {"NOAUTH", RLOCK_DENIED},
    {"WRONGPASS", RLOCK_DENIED},
    {"NOPERM", RLOCK_DENIED},
    {"DENIED", RLOCK_DENIED},                                      /* protected mode */
    {"ERR AUTH <password> called without any password", RLOCK_OK}, /* as redis-cli: go on without */
    {"ERR Client sent AUTH, but no password is set", RLOCK_OK},
    {"ERR AUTH", RLOCK_DENIED},
    {"ERR invalid password", RLOCK_DENIED},
    {"ERR The user executing the script can't", RLOCK_DENIED},
    {"ERR ACL failure in script", RLOCK_DENIED},
    {"ERR Protocol error: unauthenticated", RLOCK_DENIED},
    {"WRONGTYPE", RLOCK_WRONG_KIND},
    {"LOADING", RLOCK_AGAIN},
    {"BUSY", RLOCK_AGAIN},
    {"MASTERDOWN", RLOCK_AGAIN},
    {"CLUSTERDOWN", RLOCK_AGAIN},
    {"TRYAGAIN", RLOCK_AGAIN},
    {"NOREPLICAS", RLOCK_AGAIN},
    {"MISCONF", RLOCK_AGAIN},
    {"OOM", RLOCK_AGAIN},
    {"READONLY", RLOCK_AGAIN},
    {"UNBLOCKED", RLOCK_AGAIN},
    {"ERR max number of clients", RLOCK_AGAIN},
};

enum rlock_status rlock__refusal(const char *text) {
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        if (strncmp(text, refusals[i].prefix, strlen(refusals[i].prefix)) == 0)
            return refusals[i].status;
    }
    return RLOCK_UNAVAILABLE;
}
