/* probe_rights.c: which rights this user lacks: rlock(7), ACCESS CONTROL, as data.
 *
 * A server is asked by a script, which knows what its user may do; nothing is touched. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "admin/probe.h"
#include "lock/kind.h"

enum { FIRST_RULE = 3 }; /* in the answer, behind the numbers */

#define LISTENING "publish subscribe"

/* Of some kinds of locks: all of their keys and channels. tests/cli/inspect/doctor_rights.bats
 * compares them with the manual. */
enum { KINDS_MAX = 3 };
static const struct right {
    const char *name, *kinds[KINDS_MAX], *commands, *on_channels;
} rights[] = {
    {"run",
     {"run"},
     "exists hget hgetall hrandfield lpos lrange pttl zcard zcount zmscore zrange zrangebyscore "
     "zrank zscore del hdel hset incr pexpire zadd zrem",
     LISTENING},
    {"fair",
     {"fair"},
     "exists hget hgetall hrandfield linsert llen lpos lrange pttl zcard zcount zrange "
     "zrangebyscore zmscore zrank zscore del hdel hset incr lrem persist pexpire rpush zadd zrem",
     LISTENING},
    {"read, write",
     {"write"},
     "exists get hget hlen hrandfield pttl zcard zcount zmscore zrange zrangebyscore zrank "
     "zscore del hdel hincrby hset incr pexpire rename set zadd zrem",
     LISTENING},
    {"sem",
     {"sem"},
     "exists get hget hmget hrandfield pttl zcard zcount zmscore zrange zrangebyscore zrank zscore "
     "del hdel hset incr incrby pexpire set zadd zrem",
     LISTENING},
    {"sem --plain",
     {"plain"},
     "get hget hmget hrandfield pttl zcard zcount zmscore zrange zrangebyscore zrank zscore "
     "del hdel hincrby hset incr incrby pexpire set zadd zrem",
     LISTENING},
    {"sem --resize",
     {"sem"},
     "get hget hmget zcard zmscore zrange zrangebyscore hdel incrby set zadd zrem",
     "publish"},
    {"latch set", {"latch"}, "type get hget hset pexpire set", "publish"},
    {"latch down", {"latch"}, "type get hget hrandfield decrby del hdel hset pexpire", "publish"},
    {"latch wait", {"latch"}, "type get hget", "subscribe"},
    {"status", {"fair", "write", "sem"}, "type get hgetall lrange pttl zrange zscore", ""},
    {"status, all",
     {"fair", "write", "sem"},
     "type get hget hgetall hkeys hlen lrange pttl scan zrange zscore",
     ""},
    {"break",
     {"fair", "write", "sem"},
     "type get hget hgetall hlen hmget hrandfield lrange pttl zcard zmscore zrange "
     "zrangebyscore zscore del hdel hincrby hset incrby pexpire set zadd zrem",
     "publish"},
};

static bool has_word(const char *text, const char *word) {
    const size_t length = strlen(word);
    for (const char *at = text; (at = strstr(at, word)) != NULL; at += length) {
        if ((at == text || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
            return true;
    }
    return false;
}

/* Adds what is missing to a text in which each rule stands once, separated by spaces. */
static bool add_rules(char **text, const rlock__reply *reply) {
    for (size_t i = FIRST_RULE; i < rlock__reply_count(reply); i++) {
        const char *rule = rlock__reply_text(reply, i);
        char *longer;
        if (rule == NULL || has_word(*text, rule))
            continue;
        if (asprintf(&longer, "%s%s%s", *text, **text != '\0' ? " " : "", rule) < 0)
            return false;
        free(*text);
        *text = longer;
    }
    return true;
}

static enum rlock_status ask(struct rlock__probe *probe, const struct right *right,
                             const char *kind_name, struct rlock__answer *answer) {
    const struct rlock__kind *kind = rlock__kind_find(kind_name);
    const char *lock_name = probe->options->name;
    char *keys[RLOCK__KEYS_MAX], *publish = rlock__kind_publish(kind, lock_name);
    char *record = rlock__kind_key(kind->record != NULL ? kind->record : "", lock_name);
    const bool made =
        rlock__kind_keys(keys, kind->keys, lock_name) && publish != NULL && record != NULL;
    struct rlock__call call = {
        .arg_count = 7, .args = {"", "0", "", "0", publish, right->commands, right->on_channels}};
    for (size_t i = 0; i < RLOCK__KEYS_MAX && keys[i] != NULL; i++)
        call.args[call.arg_count++] = keys[i];
    if (kind->record != NULL)
        call.args[call.arg_count++] = record;
    call.keys[0] = lock_name; /* where it goes; it has none */
    const struct rlock__limit limit = rlock__probe_limit(probe);
    const enum rlock_status status =
        made ? rlock__script_run(&probe->client->routes.at[0], RLOCK__ACL_MISSING, &call, &limit,
                                 answer)
             : RLOCK_SYSTEM;
    rlock__kind_keys_free(keys);
    free(publish);
    free(record);
    return status;
}

/* Adds the fact; of a server that can't be asked it is none. */
static enum rlock_status probe_right(struct rlock__probe *probe, const struct right *right) {
    enum rlock_status status = RLOCK_OK;
    bool known = true;
    char name[64] = "rights.", *missing = strdup("");
    if (missing == NULL)
        return RLOCK_SYSTEM;
    for (size_t i = 0; status == RLOCK_OK && i < KINDS_MAX && right->kinds[i] != NULL; i++) {
        struct rlock__answer answer = {.code = 0};
        status = ask(probe, right, right->kinds[i], &answer);
        known = known && answer.code > 0;
        if (status == RLOCK_OK && !add_rules(&missing, answer.reply))
            status = RLOCK_SYSTEM;
        rlock__reply_free(answer.reply);
    }
    if (status == RLOCK_OK && known)
        rlock__fact_add(probe->facts, strncat(name, right->name, sizeof name - 8), "%s", missing);
    free(missing);
    return status;
}

void rlock__probe_rights(struct rlock__probe *probe) {
    for (size_t i = 0; i < sizeof rights / sizeof *rights; i++) {
        if (probe_right(probe, &rights[i]) == RLOCK_OK)
            continue;
        rlock__fact_add(probe->facts, "rights.refused", "%s",
                        probe->client->routes.at[0].error.text);
        return;
    }
}
