/* check.c: whether a lock is still held: that of a handle, or the enclosing one. */
#include "hold/check.h"

#include <stdio.h>
#include <stdlib.h>

#include "hold/environment.h"
#include "hold/resumed.h"
#include "output/duration.h"
#include "output/out.h"

static int say_lost(const struct resumed *resumed) {
    resumed_log_lost(resumed);
    return EXIT_FAILURE;
}

static int say_held(const struct resumed *resumed, int64_t ttl_ms) {
    char left[DURATION_TEXT_SIZE], wanted[DURATION_TEXT_SIZE];
    char behind[2 * DURATION_TEXT_SIZE + 32] = " is held";
    const int64_t least_ms = resumed->settings->min_ttl_ms;
    const bool enough = ttl_ms >= least_ms;
    duration_format(left, ttl_ms);
    if (!enough)
        (void)snprintf(behind, sizeof behind, " is held for %s only, not %s", left,
                       duration_format(wanted, least_ms));
    else if (ttl_ms != RLOCK_FOREVER)
        (void)snprintf(behind, sizeof behind, " is held for %s", left);
    resumed_log(resumed, enough ? OUT_DEBUG : OUT_WARNING, "held", ttl_ms, "", behind);
    return enough ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int check(const struct settings *settings, const struct rlock_handle *handle) {
    struct resumed resumed;
    int64_t ttl_ms;
    int status = resumed_open(&resumed, settings, handle);
    if (status == 0) {
        const enum rlock_status answer = resumed_check(&resumed, &ttl_ms);
        status = answer == RLOCK_OK     ? say_held(&resumed, ttl_ms)
                 : answer == RLOCK_LOST ? say_lost(&resumed)
                                        : resumed_explain(&resumed, "check", answer);
    }
    resumed_free(&resumed);
    return status;
}

/* A command inherits less than a handle has, but enough to check. */
static int check_enclosing(const struct settings *settings) {
    struct environment enclosing;
    if (!environment_read(&enclosing))
        return out_fail(EXIT_SYSTEM, NULL, NULL, "cannot read the enclosing holds: out of memory");
    const size_t count = enclosing.count - enclosing.inner;
    int status;
    struct rlock_handle_hold *holds = calloc(count + 1, sizeof *holds);
    for (size_t i = 0; holds != NULL && i < count; i++) {
        const struct rlock_proof *proof = &enclosing.proofs[enclosing.inner + i];
        holds[i] = (struct rlock_handle_hold){
            .name = proof->name, .owner = proof->owner, .token = proof->token};
    }
    if (holds == NULL) {
        status =
            out_fail(EXIT_SYSTEM, NULL, NULL, "cannot look for the enclosing lock: out of memory");
    } else if (count == 0) {
        status = out_fail(EXIT_USAGE, NULL, NULL,
                          "missing HANDLE: not running under an rlock command: give one, as in "
                          "'rlock check HANDLE'");
    } else {
        const struct rlock_handle handle = {
            .size = sizeof handle,
            .kind = enclosing.kinds[enclosing.inner],
            .owner = holds[0].owner,
            .lease_ms = RLOCK_LEASE_DEFAULT_MS,
            .permits = 1,
            .hold_count = count,
            .holds = holds,
        };
        status = check(settings, &handle);
    }
    free(holds);
    environment_free(&enclosing);
    return status;
}

int check_exec(struct settings *settings) {
    return settings->handle != NULL ? check(settings, settings->handle) : check_enclosing(settings);
}
