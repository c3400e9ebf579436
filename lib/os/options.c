/* options.c: the options of a program, which may know fewer of them than we do, or more.
 *
 * As the kernel's copy_struct_from_user() does for clone3(2) and openat2(2): a structure begins
 * with its size, grows at its end only, and zero means what was before. So an older program needs
 * nothing, and a newer one works as long as it does not use what is new. */
#include "os/options.h"

#include <string.h>

enum { SIZE_MAX_SANE = 4096 }; /* more is no size, but memory that nobody has set */

/* The fields that we do not know. */
static bool is_zero(const unsigned char *bytes, size_t size) {
    for (size_t i = 0; i < size; i++) {
        if (bytes[i] != 0)
            return false;
    }
    return true;
}

enum rlock_status rlock__options_read(void *out, const void *given, const char *type, size_t size,
                                      size_t first, struct rlock__error *error) {
    size_t theirs;
    memcpy(&theirs, given, sizeof theirs);
    if (theirs < first || theirs > SIZE_MAX_SANE) {
        rlock__error_set(error, "the size in struct %s is %zu: begin with its _INIT", type, theirs);
        return RLOCK_INVALID;
    }
    const size_t known = theirs < size ? theirs : size;
    if (!is_zero((const unsigned char *)given + known, theirs - known)) {
        rlock__error_set(error,
                         "struct %s has an option that this version of librlock, %s, does not know",
                         type, rlock_version());
        return RLOCK_INVALID;
    }
    memset(out, 0, size);
    memcpy(out, given, known);
    return RLOCK_OK;
}
