/* wrap_kind.c: the kinds of locks, and which settings make a variant of them. */
#include "hold/wrap_kind.h"

struct wrap_kind wrap_kind_run(void) {
    return (struct wrap_kind){.name = "run", .library = "run", .detail = DETAIL_NONE};
}

struct wrap_kind wrap_kind_fair(const struct settings *settings) {
    return (struct wrap_kind){
        .name = "fair",
        .library = "fair",
        .variant = settings->supersede ? "supersede" : NULL,
        .detail = DETAIL_PLACE,
    };
}

struct wrap_kind wrap_kind_read(void) {
    return (struct wrap_kind){.name = "read", .library = "read", .detail = DETAIL_KIND};
}

struct wrap_kind wrap_kind_write(const struct settings *settings) {
    return (struct wrap_kind){
        .name = "write",
        .library = "write",
        .variant = settings->prefer_readers ? "prefer-readers" : NULL,
        .detail = DETAIL_KIND,
    };
}

struct wrap_kind wrap_kind_sem(const struct settings *settings) {
    return (struct wrap_kind){
        .name = "sem",
        .library = settings->plain ? "plain" : "sem",
        .detail = DETAIL_KIND,
    };
}
