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

#endif
