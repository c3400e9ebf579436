/* kind.c: the kinds of locks, and which settings make a variant of them. */
#include "hold/kind.h"

const struct kind kind_run = {.name = "run", .detail = DETAIL_NONE};
const struct kind kind_fair = {.name = "fair", .detail = DETAIL_PLACE};
const struct kind kind_read = {.name = "read", .detail = DETAIL_KIND};
const struct kind kind_write = {.name = "write", .detail = DETAIL_KIND};
const struct kind kind_sem = {.name = "sem", .detail = DETAIL_KIND};
const struct kind kind_latch = {.name = "latch", .detail = DETAIL_COUNT, .passed = true};
const struct kind kind_latch_down = {.name = "latch", .counted = true};

const char *kind_in_library(const struct kind *kind, const struct settings *settings) {
    return settings->plain ? "plain" : kind->name;
}

/* Each of these options belongs to commands of one kind. */
const char *kind_variant(const struct settings *settings) {
    return settings->supersede                  ? "supersede"
           : settings->prefer == PREFER_READERS ? "prefer-readers"
           : settings->must_exist               ? "must-exist"
                                                : NULL;
}
