/* fuzz_environment.c: the holds that the environment tells of: read, and handed down. */
#include "fuzz.h"

#include <stdio.h>
#include <unistd.h>

#include "hold/environment.h"

/* An environ of our own: setenv(3) keeps all that it was ever given. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const variables[] = {"RLOCK_HOLDS", "RLOCK_NAME", "RLOCK_KIND",
                                            "RLOCK_OWNER", "RLOCK_TOKEN"};
    enum { VARIABLES = sizeof variables / sizeof variables[0] };
    char list[4096], *text = fuzz_text(data, size), *word = text;
    char *own[VARIABLES + 1] = {NULL}, **const before = environ;
    struct environment around;
    for (size_t i = 0; i < VARIABLES && word <= text + size; i++) {
        if (asprintf(&own[i], "%s=%s", variables[i], word) < 0)
            abort();
        word += strlen(word) + 1;
    }
    environ = own;
    const bool read = environment_read(&around);
    assert(read && around.inner <= around.count);
    (void)environment_write_name(&around, "x", "latch", NULL, list, sizeof list);
    environment_free(&around);
    environ = before;
    for (size_t i = 0; i < VARIABLES; i++)
        free(own[i]);
    free(text);
    return 0;
}
