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
        int64_t number;
        bool is_number;
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

void rlock__fact_add_number(struct rlock__facts *facts, const char *name, int64_t number);

/* As rlock_fact() and rlock_fact_number(), of one server. */
const char *rlock__fact_text(const struct rlock__facts *facts, const char *name);
bool rlock__fact_number(const struct rlock__facts *facts, const char *name, int64_t *out);

/* Adds the lines NAME:VALUE of a text such as INFO's */
void rlock__fact_add_lines(struct rlock__facts *facts, const char *text);

/* One server more; NULL: no memory. Those before it may have moved. */
struct rlock__facts *rlock__facts_of_another(rlock_facts *facts);

#endif
