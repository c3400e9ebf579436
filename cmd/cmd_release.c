/* cmd_release.c: rlock release: gives a lock back that is held. */
#include "commands.h"
#include "hold/resumed.h"
#include "options/opt.h"

static int release_exec(struct settings *settings) {
    struct resumed resumed;
    int failure = resumed_open(&resumed, settings, settings->handle);
    if (failure == 0) {
        const int64_t deadline_ms =
            rlock_now_ms() + settings->connect_timeout_ms + settings->io_timeout_ms;
        const enum rlock_status status = rlock_release(resumed.lock, 0, deadline_ms);
        if (status == RLOCK_OK)
            resumed_log(&resumed, OUT_DEBUG, "released", RLOCK_FOREVER, "released ", "");
        else
            failure = resumed_explain(&resumed, "release", status);
    }
    resumed_free(&resumed);
    return failure;
}

const struct cmd cmd_release = {
    .name = "release",
    .summary = "Give back a lock that is held",
    .synopsis = "HANDLE [options]",
    .options = CMD_RELEASE,
    .child = CHILD_NONE,
    .operand = &opt_operand_handle,
    .operands_min = 1,
    .operands_max = 1,
    .exec = release_exec,
};
