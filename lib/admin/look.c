/* look.c: looks at a name, whatever its kind, without touching it. */

#include "admin/view.h"
#include "lock/kind.h"
#include "lock/lock.h"
#include "os/options.h"
#include "redis/script_retry.h"

enum { OTHER_KIND = -1 };

/* Looking publishes nothing, and holds nothing: the arguments that every script has say so. */
static enum rlock_status look_with(rlock_client *client, const struct rlock_look_at *look,
                                   struct rlock__call *call, rlock_view **out) {
    struct rlock__answer answer;
    bool in_doubt;
    const enum rlock_status status =
        rlock__script_retry(client, &client->routes.at[look->server], RLOCK__LOOK, call,
                            look->deadline_ms, look->cancel_fd, &answer, &in_doubt);
    if (status != RLOCK_OK)
        return status;
    if (answer.code == OTHER_KIND) {
        rlock__reply_free(answer.reply);
        return RLOCK_WRONG_KIND;
    }
    const enum rlock_status read = rlock__view_read(
        out, look->name, rlock_client_server_at(client, look->server), answer.reply);
    if (read != RLOCK_OK)
        rlock__error_set(&client->error, "%s",
                         read == RLOCK_SYSTEM ? "no memory"
                                              : "the server's answer to look can't be understood");
    return read;
}

static enum rlock_status look_at(rlock_client *client, const struct rlock_look_at *look,
                                 rlock_view **out) {
    const char *fault = rlock__name_fault(look->name);
    char *keys[RLOCK__KEYS_MAX];
    struct rlock__call call = {
        .arg_count = 5, .args = {"", "0", "", "0", RLOCK__SPUBLISH}, .most = RLOCK__RESP_LISTING};
    if (fault != NULL)
        return rlock__client_invalid(client, fault);
    if (look->server >= client->count)
        return rlock__client_invalid(client, "there is no such server");
    const bool made = rlock__kind_keys(keys, RLOCK__LOOK_KEYS, look->name);
    rlock__call_add_keys(&call, keys);
    enum rlock_status status = RLOCK_SYSTEM;
    if (made)
        status = look_with(client, look, &call, out);
    else
        rlock__error_set(&client->error, "no memory");
    rlock__kind_keys_free(keys);
    return status;
}

enum rlock_status rlock_look(rlock_client *client, const struct rlock_look_at *given,
                             rlock_view **out) {
    struct rlock_look_at look;
    *out = NULL;
    const enum rlock_status status =
        RLOCK__READ_OPTIONS(rlock_look_at, cancel_fd, &look, given, &client->error);
    return status == RLOCK_OK ? look_at(client, &look, out) : status;
}
