/* options.h: the options of a program, which may know fewer of them than we do, or more. */
#ifndef RLOCK_OPTIONS_H
#define RLOCK_OPTIONS_H

#include "os/error.h"
#include "rlock_base.h"

/* Reads `given`, of which only its size is known to be there, into `out`. What an older program did
 * not know is zero, which every field that came later takes for its default. size: of all fields
 * that we know; first: of those in the first version, the least that a program can give.
 * RLOCK_INVALID: the size cannot be, or a newer program wants something that we do not know. */
enum rlock_status rlock__options_read(void *out, const void *given, const char *type, size_t size,
                                      size_t first, struct rlock__error *error);

/* The same for a struct TYPE. last: its last field in the first version. */
#define RLOCK__READ_OPTIONS(type, last, out, given, error)                                         \
    rlock__options_read((out), (given), #type, sizeof(struct type),                                \
                        offsetof(struct type, last) + sizeof((out)->last), (error))

#endif
