/* fuzz_environment.c: the holds that the environment tells of: read, and handed down. */
#include "fuzz.h"

#include "hold/environment.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const variables[] = {"RLOCK_HOLDS", "RLOCK_NAME", "RLOCK_KIND",
                                            "RLOCK_OWNER", "RLOCK_TOKEN"};
    char list[4096], *text = fuzz_text(data, size), *word = text;
    struct environment around;
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
        unsetenv(variables[i]);
        if (word <= text + size) {
            setenv(variables[i], word, 1);
            word += strlen(word) + 1;
        }
    }
    const bool read = environment_read(&around);
    assert(read && around.inner <= around.count);
    (void)environment_write_name(&around, "x", "latch", NULL, list, sizeof list);
    environment_free(&around);
    free(text);
    return 0;
}
