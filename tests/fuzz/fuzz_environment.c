/* fuzz_environment.c: the holds that the environment tells of: read, and handed down. */
#include "fuzz.h"

#include <stdio.h>
#include <unistd.h>

#include "hold/environment.h"

/* An environ of our own: setenv(3) keeps all that it was ever given. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = fuzz_text(data, size), *own[] = {NULL, NULL}, **const before = environ;
    struct environment around;
    if (asprintf(&own[0], "RLOCK_HOLDS=%s", text) < 0)
        abort();
    environ = own;
    const bool read = environment_read(&around);
    assert(read && around.inner <= around.count);
    environment_free(&around);
    environ = before;
    free(own[0]);
    free(text);
    return 0;
}
