/* leases.c: how long leases are, as far as it can be seen. */
#include "report/leases.h"

/* FNV-1a. Two holds that are taken for one share a bar's scale, no more. */
static uint64_t hash(uint64_t seed, const char *text) {
    for (; text != NULL && *text != '\0'; text++)
        seed = (seed ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return (seed ^ 0xff) * UINT64_C(0x100000001b3);
}

static uint64_t identify(const rlock_view *view, const struct rlock_view_holder *holder) {
    const uint64_t lock = hash(hash(UINT64_C(0xcbf29ce484222325), view->server), view->name);
    return hash(lock, holder->owner) ^ (uint64_t)holder->since_ms;
}

/* NULL: no memory. */
static struct lease *find(struct leases *leases, uint64_t hold) {
    for (size_t i = 0; i < leases->count; i++) {
        if (leases->at[i].hold == hold)
            return &leases->at[i];
    }
    if (leases->count == leases->room) {
        const size_t room = leases->room > 0 ? 2 * leases->room : 64;
        struct lease *at = realloc(leases->at, room * sizeof *at);
        if (at == NULL)
            return NULL;
        leases->at = at;
        leases->room = room;
    }
    leases->at[leases->count] = (struct lease){.hold = hold};
    return &leases->at[leases->count++];
}

int64_t leases_longest_ms(struct leases *leases, const rlock_view *view,
                          const struct rlock_view_holder *holder) {
    struct lease *lease = find(leases, identify(view, holder));
    if (lease == NULL)
        return holder->ttl_ms;
    lease->looked = leases->turn;
    if (holder->ttl_ms > lease->longest_ms)
        lease->longest_ms = holder->ttl_ms;
    return lease->longest_ms;
}

void leases_turn(struct leases *leases) {
    size_t kept = 0;
    for (size_t i = 0; i < leases->count; i++) {
        if (leases->at[i].looked == leases->turn)
            leases->at[kept++] = leases->at[i];
    }
    leases->count = kept;
    leases->turn++;
}

void leases_free(struct leases *leases) {
    free(leases->at);
    *leases = (struct leases){.at = NULL};
}
