/* probe_rights.c: which rights this user lacks: rlock(7), ACCESS CONTROL, as data.
 *
 * A server is asked by a script, which knows what its user may do; nothing is touched. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kind.h"
#include "probe.h"

enum { FIRST_RULE = 3 }; /* in the answer, behind the numbers */

#define LISTENING "publish subscribe unsubscribe"

/* tests/cli/doctor_rights.bats compares them with the manual. */
static const struct {
    const char *name, *kind, *commands, *on_channels;
} rights[] = {
    {"run", "run",
     "exists type hget hgetall hlen lindex lpos pttl zcard zrange zrank del hdel hincrby hset incr "
     "pexpire zadd zrem",
     LISTENING},
    {"fair", "fair",
     "exists type hget hgetall hlen lindex llen lpos lrange pttl zcard zrange zrangebyscore zrank "
     "zscore del hdel hincrby hset incr lrem persist pexpire rpush zadd zrem",
     LISTENING},
    {"read, write", "write",
     "exists type get hget hgetall pttl zcard zrange zrank del hdel hincrby hset incr pexpire "
     "rename set zadd zrem",
     LISTENING},
    {"sem", "sem",
     "exists type get hget hkeys pttl zcard zrange zrangebyscore zrank zscore hdel hset incr "
     "incrby pexpire set zadd zrem",
     LISTENING},
    {"sem --plain", "plain",
     "exists type get hget hkeys pttl zcard zrange zrank zscore hdel hset incr incrby pexpire set "
     "zadd zrem",
     LISTENING},
    {"sem --resize", "sem",
     "type get hget zcard zrange zrangebyscore zrank hdel incrby set zadd zrem", "publish"},
    {"latch set", "latch", "type get hget hset pexpire set", "publish"},
    {"latch down", "latch", "type get hget decrby del hset pexpire", "publish"},
    {"latch wait", "latch", "type get hget", "subscribe"},
};

/* What is missing, parted by spaces, "" for nothing. Of a server that can't be asked it is no fact.
 */
static void note(struct rlock__probe *probe, size_t row, const struct rlock__answer *answer) {
    const size_t count = rlock__reply_count(answer->reply);
    char name[64] = "rights.";
    size_t size = 1;
    if (answer->code <= 0)
        return;
    for (size_t i = FIRST_RULE; i < count; i++)
        size += strlen(rlock__reply_text(answer->reply, i)) + 1;
    char *text = calloc(1, size), *to = text;
    for (size_t i = FIRST_RULE; i < count && to != NULL; i++)
        to = stpcpy(stpcpy(to, i > FIRST_RULE ? " " : ""), rlock__reply_text(answer->reply, i));
    if (text != NULL)
        rlock__fact_add(probe->facts, strncat(name, rights[row].name, sizeof name - 8), "%s", text);
    free(text);
}

static enum rlock_status look(struct rlock__probe *probe, size_t row, const char *lock_name,
                              struct rlock__answer *answer) {
    const struct rlock__kind *kind = rlock__kind_find(rights[row].kind);
    char *keys[RLOCK__KEYS_MAX] = {NULL}, *channel = rlock__kind_key(kind->channel, lock_name);
    char *publish = NULL;
    bool made = channel != NULL && asprintf(&publish, RLOCK__SPUBLISH "%s", channel) >= 0;
    struct rlock__call call = {
        .arg_count = 7,
        .args = {"", "0", "", "0", publish, rights[row].commands, rights[row].on_channels}};
    for (size_t i = 0; made && i < RLOCK__KEYS_MAX && kind->keys[i] != NULL; i++) {
        keys[i] = rlock__kind_key(kind->keys[i], lock_name);
        call.args[call.arg_count++] = keys[i];
        made = keys[i] != NULL;
    }
    call.keys[0] = lock_name; /* where it goes; it has none */
    const struct rlock__limit limit = rlock__probe_limit(probe);
    const enum rlock_status status =
        made ? rlock__script_run(&probe->client->routes.at[0], RLOCK__RIGHTS_LOOK, &call, &limit,
                                 answer)
             : RLOCK_SYSTEM;
    for (size_t i = 0; i < RLOCK__KEYS_MAX; i++)
        free(keys[i]);
    free(publish);
    free(channel);
    return status;
}

void rlock__probe_rights(struct rlock__probe *probe) {
    const char *name = probe->options->name;
    for (size_t row = 0; row < sizeof rights / sizeof *rights; row++) {
        struct rlock__answer answer = {.code = 0};
        const enum rlock_status status = look(probe, row, name, &answer);
        if (status != RLOCK_OK) {
            rlock__fact_add(probe->facts, "rights.refused", "%s",
                            probe->client->routes.at[0].error.text);
            return;
        }
        note(probe, row, &answer);
        rlock__reply_free(answer.reply);
    }
}
