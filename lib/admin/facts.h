/* facts.h: what was found out about servers: names and values. */
#ifndef RLOCK_FACTS_H
#define RLOCK_FACTS_H

#include <stdbool.h>
#include <stddef.h>

#include "rlock_admin.h"

/* Of one server. */
struct rlock__facts {
    size_t count;
    struct {
        char *name, *value;
    } * at;
    bool incomplete; /* memory was short */
};

struct rlock_facts {
    size_t count;
    struct rlock__facts *servers;
};

/* Adds one; printf-style. */
__attribute__((format(printf, 3, 4))) void
rlock__fact_add(struct rlock__facts *facts, const char *name, const char *format, ...);

/* Adds the lines NAME:VALUE of a text such as INFO's, each name behind a prefix. */
void rlock__fact_add_lines(struct rlock__facts *facts, const char *prefix, const char *text);

/* One server more; NULL: no memory. Those before it may have moved. */
struct rlock__facts *rlock__facts_of_another(rlock_facts *facts);

#endif
