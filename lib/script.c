/* script.c: runs one of our scripts on the server. */
#include "script.h"

#include <stdio.h>
#include <string.h>

static struct rlock__arg text_arg(const char *text) {
    return (struct rlock__arg){text, strlen(text)};
}

static enum rlock_status send_script(struct rlock__route *route, struct rlock__arg verb,
                                     struct rlock__arg script, const struct rlock__call *call,
                                     const struct rlock__limit *limit, rlock__reply **out) {
    struct rlock__arg args[3 + RLOCK__KEYS_MAX + RLOCK__ARGS_MAX];
    char key_count[8];
    (void)snprintf(key_count, sizeof key_count, "%zu", call->key_count);
    size_t n = 0;
    args[n++] = verb;
    args[n++] = script;
    args[n++] = text_arg(key_count);
    for (size_t i = 0; i < call->key_count; i++)
        args[n++] = text_arg(call->keys[i]);
    for (size_t i = 0; i < call->arg_count; i++)
        args[n++] = text_arg(call->args[i]);
    return rlock__route_call(route, n, args, limit, out);
}

static bool is_noscript(const rlock__reply *reply) {
    const char *text = rlock__reply_error(reply);
    return text != NULL && strncmp(text, "NOSCRIPT", strlen("NOSCRIPT")) == 0;
}

static enum rlock_status decode(struct rlock__route *route, const struct rlock__script *script,
                                rlock__reply *reply, struct rlock__answer *out) {
    enum rlock_status status = rlock__route_judge(route, reply);
    if (status == RLOCK_OK && rlock__reply_integer(reply, 0, &out->code) &&
        rlock__reply_integer(reply, 1, &out->a) && rlock__reply_integer(reply, 2, &out->b)) {
        out->reply = reply;
        return RLOCK_OK;
    }
    if (status == RLOCK_OK) {
        rlock__error_set(&route->error, "the server's answer to %s can't be understood",
                         script->name);
        status = RLOCK_UNAVAILABLE;
    }
    rlock__reply_free(reply);
    return status;
}

enum rlock_status rlock__script_run(struct rlock__route *route, const struct rlock__script *script,
                                    const struct rlock__call *call,
                                    const struct rlock__limit *limit, struct rlock__answer *out) {
    *out = (struct rlock__answer){.code = 0};
    rlock__reply *reply = NULL;
    enum rlock_status status =
        send_script(route, text_arg("EVALSHA"), text_arg(script->sha1), call, limit, &reply);
    if (status == RLOCK_OK && is_noscript(reply)) {
        rlock__reply_free(reply);
        reply = NULL;
        const struct rlock__arg body = {(const char *)script->body, script->size};
        status = send_script(route, text_arg("EVAL"), body, call, limit, &reply);
    }
    return status == RLOCK_OK ? decode(route, script, reply, out) : status;
}
