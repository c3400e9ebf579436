/* fuzz.h: what the targets share. Each is a file with one function, which libFuzzer calls with
 * bytes of its making, <https://llvm.org/docs/LibFuzzer.html>; the sanitizers, and assert(), say
 * what is wrong. */
#ifndef RLOCK_FUZZ_H
#define RLOCK_FUZZ_H

#undef NDEBUG
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "rlock.h"

/* What ld's --wrap puts in the place of a function has no declaration. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The bytes as a text of their own, so that a read beyond its end is found out. Free it. */
static inline char *fuzz_text(const uint8_t *data, size_t size) {
    char *text = malloc(size + 1);
    assert(text != NULL);
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    return text;
}

static inline rlock_client *fuzz_client(const char *url, int64_t timeout_ms) {
    const struct rlock_client_options options = {.size = sizeof options,
                                                 .servers = &url,
                                                 .server_count = 1,
                                                 .connect_timeout_ms = timeout_ms,
                                                 .io_timeout_ms = timeout_ms,
                                                 .replicas = RLOCK_REPLICAS_AUTO,
                                                 .replica_timeout_ms = 1000};
    rlock_client *client;
    const enum rlock_status status = rlock_client_new(&client, &options);
    assert(status == RLOCK_OK);
    return client;
}

#endif
