/* reply_error.c: what a server's error means for us.
 *
 * The texts are those of Redis 6.0 to 8.0 and of Valkey, of proxies, and of servers that are
 * stricter, see rlock-server(7), SERVERS; inside scripts a refused command is not a NOPERM. Scripts
 * append " script: SHA, on @user_script:1.", so only the beginning counts. */
#include "redis/link.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* What servers put behind an error, and we cut off: the words that they were sent, of which one may
 * be a password; and in Redis 7 which script has called the command, by its SHA-1 and line. */
static const char *const tails[] = {", with args beginning with:", " script: "};

static const char after_text[] = ""; /* plain words are behind the text */
static const char no_wait[] =
    "it has no WAIT, by which replicas acknowledge a lock: --replicas 0 does without";
static const char no_waitaof[] =
    "it has no WAITAOF, by which it tells what is on its disk: --fsync "
    "needs Redis 7.2 or later";
static const char early_waitaof[] =
    "its WAITAOF may answer before the disk has it (Redis 7.4, Valkey): set 'appendfsync always' "
    "there, which needs no --fsync, or use Redis 8.0 or later";
static const char no_aof[] = "it keeps no append-only file: --fsync needs 'appendonly yes' there";
static const char no_scripts[] =
    "it runs no Lua scripts (EVAL), which all locks need: give sentinel[s]:// for a Sentinel, "
    "connect past a proxy, load the server's Lua module, or use another server";
static const char no_sentinel[] = "it is no Sentinel: give redis[s]://HOST";
static const char by_text[] = "it takes no scripts but such as it can check by their text: set "
                              "script_check_enable to 0 there";
static const char only_declared[] =
    "it lets scripts use declared keys only, and rlock needs others here: of Dragonfly set "
    "--default_lua_flags=allow-undeclared-keys";
static const char other_node[] =
    "a script met a key of another node: the slot is being moved, or the server lets scripts use "
    "declared keys only, and this does not work there";

/* Users came with Redis 6.0, and AUTH takes one word before; before 3.2 a script that has asked for
 * the time may not write. */
static const char too_old[] = "the server is older than Redis 6.0, the oldest that rlock can use";

/* "ERR " before a text may be there or not. The first that fits counts. */
static const struct {
    const char *text;
    enum rlock_status status;
    const char *plain; /* in plain words, where the server's are not; NULL: they will do */
} refusals[] = {
    {"NOAUTH", RLOCK_DENIED, "the server wants a password"},
    {"WRONGPASS ", RLOCK_DENIED, after_text},
    {"NOPERM ", RLOCK_DENIED, after_text},
    {"DENIED", RLOCK_DENIED, NULL},                                  /* protected mode */
    {"AUTH <password> called without any password", RLOCK_OK, NULL}, /* as redis-cli: go on */
    {"Client sent AUTH, but no password is set", RLOCK_OK, NULL},
    {"AUTH", RLOCK_DENIED, NULL},
    {"invalid password", RLOCK_DENIED, NULL},
    {"The user executing the script can't", RLOCK_DENIED,
     "this user has no right to all that the lock needs"}, /* Redis 7.0 does not say to what */
    {"ACL failure in script: ", RLOCK_DENIED, after_text},
    {"Protocol error: unauthenticated", RLOCK_DENIED, "the server wants a password"},
    {"WRONGTYPE", RLOCK_WRONG_KIND, NULL},
    {"LOADING", RLOCK_AGAIN, NULL},
    {"BUSY", RLOCK_AGAIN, NULL},
    {"MASTERDOWN", RLOCK_AGAIN, NULL},
    {"CLUSTERDOWN", RLOCK_AGAIN, NULL},
    {"TRYAGAIN", RLOCK_AGAIN, "the slot is being moved to another node (TRYAGAIN)"},
    {"MOVED", RLOCK_UNAVAILABLE, "it is on another node of a cluster: give cluster[s]://HOST"},
    {"CROSSSLOT", RLOCK_REFUSED,
     "in a cluster the braces of a name enclose something, as in {tag}name"},
    {"This instance has cluster support disabled", RLOCK_UNAVAILABLE,
     "it is not a cluster: give redis[s]://HOST"},
    {"NOREPLICAS", RLOCK_AGAIN, NULL},
    {"MISCONF", RLOCK_AGAIN, NULL},
    {"OOM", RLOCK_AGAIN, NULL},
    {"READONLY", RLOCK_AGAIN, NULL},
    {"UNBLOCKED", RLOCK_AGAIN, NULL},
    {"WAIT cannot be used with replica", RLOCK_AGAIN, NULL}, /* it was a master just now */
    {"max number of clients", RLOCK_AGAIN, NULL},
    /* What it does not have, or does not allow. */
    {"WAITAOF cannot be used with replica", RLOCK_AGAIN, NULL},
    {"WAITAOF cannot be used when numlocal is set", RLOCK_UNAVAILABLE, no_aof},
    {"WAITAOF: early", RLOCK_UNAVAILABLE, early_waitaof}, /* lua/include/rights.lua */
    {"WAITAOF: missing", RLOCK_UNAVAILABLE, no_waitaof},
    {"unknown command 'WAITAOF'", RLOCK_UNAVAILABLE, no_waitaof},
    {"unknown command `WAITAOF`", RLOCK_UNAVAILABLE, no_waitaof},
    {"unknown command 'WAIT'", RLOCK_UNAVAILABLE, no_wait},
    {"unknown command `WAIT`", RLOCK_UNAVAILABLE, no_wait},
    {"command wait not support", RLOCK_UNAVAILABLE, no_wait},
    {"unknown command 'EVAL", RLOCK_UNAVAILABLE, no_scripts},
    {"unknown command `EVAL", RLOCK_UNAVAILABLE, no_scripts},
    {"unsupported command 'EVAL", RLOCK_UNAVAILABLE, no_scripts},
    {"command eval", RLOCK_UNAVAILABLE, no_scripts}, /* "... not support for normal user" */
    {"unknown command 'SENTINEL'", RLOCK_UNAVAILABLE, no_sentinel},
    {"unknown command `SENTINEL`", RLOCK_UNAVAILABLE, no_sentinel},
    {"unknown command", RLOCK_UNAVAILABLE, NULL},
    {"older than Redis 6.0", RLOCK_UNAVAILABLE, too_old}, /* lua/include/base.lua */
    {"wrong number of arguments for 'auth'", RLOCK_UNAVAILABLE, too_old},
    {"Write commands not allowed after non deterministic", RLOCK_UNAVAILABLE, too_old},
    {"unsupported command", RLOCK_UNAVAILABLE, NULL},
    {"wrong number of arguments", RLOCK_UNAVAILABLE, NULL},
    {"bad lua script for redis cluster", RLOCK_UNAVAILABLE, by_text},
    {"for redis cluster, eval/evalsha", RLOCK_UNAVAILABLE, by_text},
    {"Error compiling script", RLOCK_UNAVAILABLE, NULL},
    {"script tried accessing undeclared key", RLOCK_UNAVAILABLE, only_declared},
    {"Script attempted to access keys that do not hash", RLOCK_UNAVAILABLE, only_declared},
    {"Script attempted to access a non local key", RLOCK_AGAIN, other_node},
    {"Lua script attempted to access a non local key", RLOCK_AGAIN, other_node},
    {"Unknown Redis command called from", RLOCK_UNAVAILABLE,
     "it lacks a command that rlock's scripts need: one is renamed or disabled there, or it is "
     "older "
     "than Redis 6.0.6"},
    {"increment or decrement would overflow", RLOCK_UNAVAILABLE, NULL}, /* there is no next token */
    {"value is not an integer", RLOCK_UNAVAILABLE, NULL},               /* nor of this one */
    {"user_script:", RLOCK_UNAVAILABLE, NULL}, /* Lua's own: it runs our scripts otherwise */
};

enum { COUNT = sizeof refusals / sizeof refusals[0] };

static bool begins(const char *text, const char *with) {
    return strncasecmp(text, with, strlen(with)) == 0;
}

/* Behind "@user_script:12: " and "@user_script: 12: ", of which there may be several. */
static const char *behind_places(const char *text) {
    static const char place[] = "@user_script:";
    while (begins(text, place)) {
        const char *end = text + strlen(place);
        end += strspn(end, " ");
        end += strspn(end, "0123456789");
        if (strncmp(end, ": ", 2) != 0)
            break;
        text = end + 2;
    }
    return text;
}

/* Redis 6 and Dragonfly wrap what a script has met: "ERR Error running script (call to f_SHA):
 * @user_script:12: -OOM ...". */
static const char *unwrapped(const char *text) {
    const char *end =
        begins(text, "ERR Error running script (call to ") ? strstr(text, "): ") : NULL;
    if (end == NULL)
        return text;
    text = behind_places(end + 3);
    return text + (*text == '-');
}

/* *rest: what is behind the row's text. COUNT: none fits. */
static size_t find(const char *text, const char **rest) {
    text += begins(text, "ERR ") ? strlen("ERR ") : 0;
    for (size_t i = 0; i < COUNT; i++) {
        *rest = text + strlen(refusals[i].text);
        if (begins(text, refusals[i].text))
            return i;
    }
    return COUNT;
}

enum rlock_status rlock__reply_error_status(const char *text, const char **plain) {
    const char *rest;
    *plain = text = unwrapped(text);
    const size_t row = find(text, &rest);
    if (row == COUNT)
        return RLOCK_AGAIN;
    if (refusals[row].plain == after_text)
        *plain = rest;
    else if (refusals[row].plain != NULL)
        *plain = refusals[row].plain;
    return refusals[row].status;
}

bool rlock__reply_error_place(const char *text, unsigned long *slot, char host[RLOCK__HOST_SIZE],
                              const char **port) {
    char *place;
    if (strncmp(text, "ASK ", 4) != 0 && strncmp(text, "MOVED ", 6) != 0)
        return false;
    text = strchr(text, ' ') + 1;
    *slot = strtoul(text, &place, 10);
    if (place == text || *place != ' ')
        return false;
    place += strspn(place, " ");
    const char *colon = strrchr(place, ':'); /* an IPv6 address has colons of its own */
    if (colon == NULL || colon - place >= RLOCK__HOST_SIZE)
        return false;
    memcpy(host, place, (size_t)(colon - place));
    host[colon - place] = '\0';
    *port = colon + 1;
    return true;
}

bool rlock__reply_error_known(const char *text) {
    const char *rest;
    return find(unwrapped(text), &rest) != COUNT;
}

bool rlock__reply_error_untouched(const char *text) {
    const bool from_script = unwrapped(text) != text || strstr(text, "user_script:") != NULL;
    return !from_script && rlock__reply_error_known(text);
}

/* It is the right one to ask, at another time. All else that may pass (it is a replica, cut off
 * from its replicas, loading) may also last, while another one has taken its place. */
static bool is_only_busy(const char *text) {
    static const char *const words[] = {"BUSY", "TRYAGAIN", "UNBLOCKED", "OOM"};
    text = unwrapped(text);
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
    for (size_t i = 0; i < sizeof tails / sizeof tails[0]; i++) {
        char *tail = strstr(link->error->text, tails[i]);
        if (tail != NULL)
            *tail = '\0';
    }
    if (link->error->text[0] == '\0') /* which would mean that nothing has failed */
        rlock__error_set(link->error, "the server reports an error, and does not say which");
    if (status == RLOCK_AGAIN && !is_only_busy(text))
        rlock__link_distrust(link);
    return status;
}
