/* vote.h: what several servers say together. One server is a majority of one. */
#ifndef RLOCK_VOTE_H
#define RLOCK_VOTE_H

#include "lock/resource.h"
#include "redis/client.h"

/* How many of so many are a majority. */
size_t rlock__vote_majority(size_t count);

/* The one outcome of a vote for each server: RLOCK_OK when a majority says so. What makes such a
 * majority impossible by itself, when it is final. RLOCK_BUSY: a majority has answered, but not so;
 * RLOCK_CANCELLED; else RLOCK_AGAIN. routes->error says why. */
enum rlock_status rlock__vote_count(struct rlock__routes *routes, const enum rlock_status *votes);

/* The text that stands there most often: its place; supporters: how often. count is at least 1. */
size_t rlock__vote_most(const char *const *texts, size_t count, size_t *supporters);

/* Until when a majority of the servers keeps the name: the lease ends by size, the majority's last.
 */
int64_t rlock__vote_lease_end(const struct rlock__resource *resource);

#endif
