/* reply_error.c: what a server's error means for us.
 *
 * The texts are those of Redis 7.0 and 8.0 and of Valkey 8.1; inside scripts a refused command is
 * not a NOPERM. Scripts append " script: SHA, on @user_script:1.", so only the beginning counts. */
#include "redis/reply_error.h"

#include <stddef.h>
#include <string.h>

static const char after_code[] = ""; /* plain words are behind the first one */

static const char no_wait[] =
    "it has no WAIT, by which replicas acknowledge a lock: give --replicas 0 "
    "to do without";

static const struct {
    const char *prefix;
    enum rlock_status status;
    const char *plain; /* in plain words, where the server's are not; NULL: they will do */
} refusals[] = {
    {"NOAUTH", RLOCK_DENIED, "the server wants a password"},
    {"WRONGPASS ", RLOCK_DENIED, after_code},
    {"NOPERM ", RLOCK_DENIED, after_code},
    {"DENIED", RLOCK_DENIED, NULL}, /* protected mode */
    {"ERR AUTH <password> called without any password", RLOCK_OK,
     NULL}, /* as redis-cli: go on without */
    {"ERR Client sent AUTH, but no password is set", RLOCK_OK, NULL},
    {"ERR AUTH", RLOCK_DENIED, NULL},
    {"ERR invalid password", RLOCK_DENIED, NULL},
    {"ERR The user executing the script can't", RLOCK_DENIED,
     "this user has no right to all that the lock needs"}, /* Redis 7.0 does not say to what */
    {"ERR ACL failure in script: ", RLOCK_DENIED, after_code},
    {"ERR Protocol error: unauthenticated", RLOCK_DENIED, "the server wants a password"},
    {"WRONGTYPE", RLOCK_WRONG_KIND, NULL},
    {"LOADING", RLOCK_AGAIN, NULL},
    {"BUSY", RLOCK_AGAIN, NULL},
    {"MASTERDOWN", RLOCK_AGAIN, NULL},
    {"CLUSTERDOWN", RLOCK_AGAIN, NULL},
    {"TRYAGAIN", RLOCK_AGAIN, "the slot is being moved to another node (TRYAGAIN)"},
    {"MOVED", RLOCK_UNAVAILABLE, "it is on another node of a cluster: give cluster://HOST"},
    {"CROSSSLOT", RLOCK_REFUSED,
     "in a cluster the braces of a name enclose something, as in {tag}name"},
    {"ERR This instance has cluster support disabled", RLOCK_UNAVAILABLE,
     "it is not a cluster: give redis://HOST"},
    {"NOREPLICAS", RLOCK_AGAIN, NULL},
    {"MISCONF", RLOCK_AGAIN, NULL},
    {"OOM", RLOCK_AGAIN, NULL},
    {"READONLY", RLOCK_AGAIN, NULL},
    {"UNBLOCKED", RLOCK_AGAIN, NULL},
    {"ERR WAIT cannot be used with replica", RLOCK_AGAIN, NULL}, /* it was a master just now */
    {"ERR max number of clients", RLOCK_AGAIN, NULL},
    {"ERR unknown command 'WAIT'", RLOCK_UNAVAILABLE, no_wait},
    {"ERR unknown command `WAIT`", RLOCK_UNAVAILABLE, no_wait},
};

enum rlock_status rlock__reply_error_status(const char *text, const char **plain) {
    *plain = text;
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        if (strncmp(text, refusals[i].prefix, strlen(refusals[i].prefix)) == 0) {
            if (refusals[i].plain == after_code)
                *plain = text + strlen(refusals[i].prefix);
            else if (refusals[i].plain != NULL)
                *plain = refusals[i].plain;
            return refusals[i].status;
        }
    }
    return RLOCK_UNAVAILABLE;
}

/* It is the right one to ask, at another time. All else that may pass (it is a replica, cut off
 * from its replicas, loading) may also last, while another one has taken its place. */
static bool is_only_busy(const char *text) {
    static const char *const words[] = {"BUSY", "TRYAGAIN", "UNBLOCKED", "OOM"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strncmp(text, words[i], strlen(words[i])) == 0)
            return true;
    }
    return false;
}

enum rlock_status rlock__reply_judge(struct rlock__link *link, const rlock__reply *reply) {
    const char *text = rlock__reply_error(reply);
    if (text == NULL)
        return RLOCK_OK;
    const char *plain;
    const enum rlock_status status = rlock__reply_error_status(text, &plain);
    rlock__error_set(link->error, "%s", plain);
    char *where = strstr(link->error->text, " script: ");
    if (where != NULL) /* its SHA-1 and line are no use to anybody */
        *where = '\0';
    if (status == RLOCK_AGAIN && !is_only_busy(text))
        rlock__link_distrust(link);
    return status;
}
