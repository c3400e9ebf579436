/* probe_rights.c: which rights this user lacks, of those in rlock-server(7), ACCESS CONTROL.
 *
 * A script asks the server, which knows what its user may do; nothing is touched. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "admin/admin.h"
#include "lock/kind.h"

enum { FIRST_RULE = 3 }; /* in the answer, behind the numbers */

/* What lua/include/rights.lua knows by that name, on all keys and channels of these kinds. */
enum { KINDS_MAX = 3 };
static const struct right {
    const char *name, *kinds[KINDS_MAX], *on_channels;
} rights[] = {
    {"run", {"run"}, "publish subscribe"},
    {"fair", {"fair"}, "publish subscribe"},
    {"read, write", {"write"}, "publish subscribe"},
    {"sem", {"sem"}, "publish subscribe"},
    {"sem --resize", {"sem"}, "publish"},
    {"latch set", {"latch"}, "publish"},
    {"latch down", {"latch"}, "publish"},
    {"latch wait", {"latch"}, "subscribe"},
    {"status", {"fair", "write", "sem"}, ""},
    {"status, all", {"fair", "write", "sem"}, ""},
    {"break", {"fair", "write", "sem"}, "publish"},
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
        if (rule == NULL || *rule == '\0' || has_word(*text, rule))
            continue;
        if (asprintf(&longer, "%s%s%s", *text, **text != '\0' ? " " : "", rule) < 0)
            return false;
        free(*text);
        *text = longer;
    }
    return true;
}

/* A user with rights to the locks of other names only has none to this lock's own key. */
static bool lacks_name(const char *missing, const char *name) {
    const size_t length = strlen(name);
    return missing[0] == '~' && strncmp(missing + 1, name, length) == 0 &&
           (missing[1 + length] == ' ' || missing[1 + length] == '\0');
}

static enum rlock_status ask(struct rlock__probe *probe, const struct right *right,
                             const char *kind_name, struct rlock__answer *answer) {
    const struct rlock__kind *kind = rlock__kind_find(kind_name);
    const char *lock_name = probe->options->name;
    char *keys[RLOCK__KEYS_MAX], *publish = rlock__kind_key(kind->publish, lock_name);
    char *record = rlock__kind_key(kind->record != NULL ? kind->record : "", lock_name);
    const bool made =
        rlock__kind_keys(keys, kind->keys, lock_name) && publish != NULL && record != NULL;
    struct rlock__call call = {
        .arg_count = 8, .args = {"", "0", "", "0", publish, "0", right->name, right->on_channels}};
    for (size_t i = 0; i < RLOCK__KEYS_MAX && keys[i] != NULL; i++)
        call.args[call.arg_count++] = keys[i];
    if (kind->record != NULL)
        call.args[call.arg_count++] = record;
    call.keys[0] = lock_name; /* where it goes; it has none */
    const struct rlock__limit limit = rlock__probe_limit(probe);
    const enum rlock_status status =
        made ? rlock__script_run(&probe->client->routes.at[0], &RLOCK__ACL_MISSING, &call, &limit,
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
        rlock__fact_add(probe, strncat(name, right->name, sizeof name - 8), "%s", missing);
    if (status == RLOCK_OK && known && right == rights && lacks_name(missing, probe->options->name))
        rlock__fact_add(probe, "rights.names", "limited");
    free(missing);
    return status;
}

void rlock__probe_rights(struct rlock__probe *probe) {
    enum rlock_status status = RLOCK_OK;
    for (size_t i = 0; status == RLOCK_OK && i < sizeof rights / sizeof *rights; i++)
        status = probe_right(probe, &rights[i]);
    if (status != RLOCK_OK)
        rlock__fact_add(probe, status == RLOCK_DENIED ? "rights.refused" : "rights.unknown", "%s",
                        probe->client->routes.at[0].error.text);
}
