/* status.c: the names of the outcomes, and the version. */
#include "rlock_base.h"

const char *rlock_status_text(enum rlock_status status) {
    switch (status) {
#define RLOCK_STATUS_CASE(name, text)                                                              \
    case RLOCK_##name: return text;
        RLOCK_STATUS_MAP(RLOCK_STATUS_CASE)
#undef RLOCK_STATUS_CASE
    }
    return "unknown";
}

const char *rlock_version(void) {
    return RLOCK_VERSION;
}
