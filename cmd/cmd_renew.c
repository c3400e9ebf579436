/* cmd_renew.c: rlock renew: a new lease for a lock that is held. */
#include <stdio.h>

#include "commands.h"
#include "hold/resumed.h"
#include "options/opt.h"
#include "output/duration.h"

static void log_renewed(const struct resumed *resumed) {
    char left[DURATION_TEXT_SIZE], behind[DURATION_TEXT_SIZE + 16];
    const int64_t lease_ms = resumed->handle->lease_ms;
    (void)snprintf(behind, sizeof behind, ": %s left", duration_format(left, lease_ms));
    resumed_log(resumed, OUT_DEBUG, "renewed", lease_ms, "renewed ", behind);
}

static int renew_exec(struct settings *settings) {
    struct resumed resumed;
    /* A config file's lease is one to take locks with. */
    if (OPT_IS_GIVEN(settings, lease_ms))
        settings->handle->lease_ms = settings->lease_ms;
    int failure = resumed_open(&resumed, settings, settings->handle);
    if (failure == 0) {
        const enum rlock_status status = resumed_renew(&resumed);
        if (status == RLOCK_OK)
            log_renewed(&resumed);
        else
            failure = resumed_explain(&resumed, "renew", status);
    }
    resumed_free(&resumed);
    return failure;
}

const struct cmd cmd_renew = {
    .name = "renew",
    .summary = "Extend the lease of a lock that is held",
    .synopsis = "HANDLE [-l D] [options]",
    .options = CMD_RENEW,
    .child = CHILD_NONE,
    .operand = &opt_operand_handle,
    .operands_min = 1,
    .operands_max = 1,
    .exec = renew_exec,
};
