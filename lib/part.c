/* part.c: the verbs, on one name: what goes into each script, and what its codes mean. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "clock.h"
#include "lock.h"

/* The scripts' codes; each script says at its top which it uses. */
enum {
    GRANTED = 1,
    REENTERED = 2,
    NOT_GRANTED = 0,
    OTHER_KIND = -1,
    NOT_ALLOWED = -2,
    OUT_OF_PLACE = -3
};
enum { KEPT = 1, RELEASED = 1, STILL_HELD = 2, NOT_OURS = 0 };

/* What every script gets first: keys, owner, lease, hold id, permits, channel. */
static struct rlock__call make_call(const struct rlock_lock *lock, const struct rlock__part *part,
                                    const char *owner) {
    struct rlock__call call = {
        .arg_count = 5,
        .args = {owner, lock->lease_text, part->hold_id, lock->permits_text, part->publish},
    };
    while (call.key_count < RLOCK__KEYS_MAX && part->keys[call.key_count] != NULL) {
        call.keys[call.key_count] = part->keys[call.key_count];
        call.key_count++;
    }
    return call;
}

static enum rlock_status odd_answer(struct rlock__route *route, const struct rlock__script *script,
                                    int64_t code) {
    rlock__error_set(&route->error, "the server's answer to %s can't be understood: code %" PRId64,
                     script->name, code);
    return RLOCK_UNAVAILABLE;
}

static const char *text_or_empty(const rlock__reply *reply, size_t i) {
    const char *text = rlock__reply_text(reply, i);
    return text != NULL ? text : "";
}

/* Keeps the reply, whose text the blocker borrows. */
static void note_blocker(struct rlock_lock *lock, const struct rlock__part *part,
                         const struct rlock__answer *answer) {
    rlock__reply_free(lock->busy_reply);
    lock->busy_reply = answer->reply;
    lock->place = answer->b;
    lock->blocker = (struct rlock_holder){
        .name = part->name,
        .owner = text_or_empty(answer->reply, 3),
        .host = text_or_empty(answer->reply, 4),
        .user = text_or_empty(answer->reply, 6),
        .command = text_or_empty(answer->reply, 7),
        .position = part->in_line ? answer->b : 0,
        .as_of_ms = rlock_now_ms(),
    };
    (void)rlock__reply_integer(answer->reply, 5, &lock->blocker.pid);
    (void)rlock__reply_integer(answer->reply, 8, &lock->blocker.held_ms);
    (void)rlock__reply_integer(answer->reply, 9, &lock->blocker.waiting);
}

static void note_hold(struct rlock_lock *lock, struct rlock__part *part, int64_t sent_ms,
                      const struct rlock__answer *answer) {
    part->held = true;
    part->in_line = false; /* the grant took us out of it */
    part->lease_end_ms =
        lock->kind->renew != NULL ? rlock__lease_end_ms(sent_ms, lock->lease_ms) : RLOCK_FOREVER;
    part->hold = (struct rlock_hold){
        .name = part->name,
        .owner = answer->code == REENTERED ? part->proof_owner : lock->owner,
        .token = answer->a,
    };
}

/* A grant without a token is none, where there is something to hold; nor is a re-entry that was not
 * asked for. */
static bool is_grant(const struct rlock_lock *lock, const struct rlock__part *part,
                     const struct rlock__answer *answer) {
    const bool told = answer->a > 0 || lock->kind->release == NULL;
    return told &&
           (answer->code == GRANTED || (answer->code == REENTERED && part->proof_owner != NULL));
}

/* What an answer that is neither grant nor busy says. */
static enum rlock_status refused(struct rlock_lock *lock, struct rlock__part *part,
                                 const struct rlock__answer *answer) {
    struct rlock__route *route = &lock->client->route;
    const char *why = rlock__reply_text(answer->reply, 3);
    if (answer->code == OTHER_KIND)
        return RLOCK_WRONG_KIND;
    if (why != NULL && (answer->code == NOT_ALLOWED || answer->code == OUT_OF_PLACE)) {
        rlock__error_set(&route->error, "%s", why);
        return answer->code == NOT_ALLOWED ? RLOCK_REFUSED : RLOCK_OUSTED;
    }
    part->in_doubt = true;
    return odd_answer(route, lock->kind->acquire, answer->code);
}

enum rlock_status rlock__part_take(struct rlock_lock *lock, struct rlock__part *part, bool in_line,
                                   const struct rlock__limit *limit, int64_t *hint_ms) {
    struct rlock__route *route = &lock->client->route;
    struct rlock__call call = make_call(lock, part, lock->owner);
    char place_text[24] = "";
    if (lock->busy == part)
        (void)snprintf(place_text, sizeof place_text, "%" PRId64, lock->place);
    const char *more[] = {part->proof_owner != NULL ? part->proof_owner : "",
                          part->proof_token,
                          in_line ? "1" : "0",
                          lock->host,
                          lock->pid_text,
                          lock->user,
                          lock->command,
                          lock->total_text,
                          lock->variant,
                          place_text};
    for (size_t i = 0; i < sizeof more / sizeof more[0]; i++)
        call.args[call.arg_count++] = more[i];
    const int64_t sent_ms = rlock_now_ms();
    struct rlock__answer answer;
    enum rlock_status status = rlock__script_run(route, lock->kind->acquire, &call, limit, &answer);
    part->in_line = part->in_line || in_line;
    part->in_doubt = route->in_doubt || status == RLOCK_UNAVAILABLE;
    if (status != RLOCK_OK)
        return status;
    if (answer.code == NOT_GRANTED) {
        *hint_ms = answer.a;
        note_blocker(lock, part, &answer);
        return RLOCK_BUSY; /* the blocker keeps the reply */
    }
    if (is_grant(lock, part, &answer))
        note_hold(lock, part, sent_ms, &answer);
    else
        status = refused(lock, part, &answer);
    rlock__reply_free(answer.reply);
    return status;
}

bool rlock__part_glance(struct rlock_lock *lock, const struct rlock__part *part,
                        const struct rlock__limit *limit) {
    const char *line = part->keys[lock->kind->line];
    const struct rlock__arg args[] = {
        {"EXISTS", strlen("EXISTS")}, {part->name, strlen(part->name)}, {line, strlen(line)}};
    rlock__reply *reply = NULL;
    int64_t found = 0;
    if (rlock__route_call(&lock->client->route, sizeof args / sizeof args[0], args, limit,
                          &reply) != RLOCK_OK)
        return false;
    const bool stand = rlock__reply_number(reply, &found) && found == 2;
    rlock__reply_free(reply);
    return stand;
}

enum rlock_status rlock__part_renew(const struct rlock_lock *lock, struct rlock__part *part,
                                    struct rlock__route *route, const struct rlock__limit *limit) {
    if (lock->kind->renew == NULL)
        return RLOCK_OK;
    const struct rlock__call call = make_call(lock, part, part->hold.owner);
    const int64_t sent_ms = rlock_now_ms();
    struct rlock__answer answer;
    enum rlock_status status = rlock__script_run(route, lock->kind->renew, &call, limit, &answer);
    if (status != RLOCK_OK)
        return status;
    rlock__reply_free(answer.reply);
    if (answer.code == NOT_OURS)
        return RLOCK_LOST;
    if (answer.code != KEPT)
        return odd_answer(route, lock->kind->renew, answer.code);
    part->lease_end_ms = rlock__lease_end_ms(sent_ms, lock->lease_ms);
    return RLOCK_OK;
}

enum rlock_status rlock__part_give_back(struct rlock_lock *lock, struct rlock__part *part,
                                        int64_t keep_ms, const struct rlock__limit *limit) {
    struct rlock__route *route = &lock->client->route;
    if (lock->kind->release == NULL) {
        part->held = part->in_line = part->in_doubt = false;
        return RLOCK_OK;
    }
    /* An attempt without an answer may have re-entered, or not: the script looks for both owners.
     */
    const bool may_be_proof = !part->held && part->proof_owner != NULL;
    const char *owner = part->held     ? part->hold.owner
                        : may_be_proof ? part->proof_owner
                                       : lock->owner;
    char keep_text[24];
    (void)snprintf(keep_text, sizeof keep_text, "%" PRId64, keep_ms);
    struct rlock__call call = make_call(lock, part, owner);
    call.args[call.arg_count++] = keep_text;
    call.args[call.arg_count++] = lock->owner;
    struct rlock__answer answer;
    enum rlock_status status = rlock__script_run(route, lock->kind->release, &call, limit, &answer);
    if (status != RLOCK_OK)
        return status;
    rlock__reply_free(answer.reply);
    part->held = part->in_line = part->in_doubt = false;
    if (answer.code == NOT_OURS)
        return RLOCK_LOST;
    if (answer.code != RELEASED && answer.code != STILL_HELD)
        return odd_answer(route, lock->kind->release, answer.code);
    return RLOCK_OK;
}
