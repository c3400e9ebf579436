/* clock.h: deadlines, all as pure arithmetic on CLOCK_BOOTTIME milliseconds; and the one way to
 * wait for them: for a descriptor, a cancel descriptor and a deadline together. */
#ifndef RLOCK_CLOCK_H
#define RLOCK_CLOCK_H

#include <stddef.h>
#include <stdint.h>

#include "rlock_base.h"

/* Until when a lease is sure that was asked for at sent_ms, before the request went out: later
 * than that the server may have let it run out (the time of the reply proves nothing). */
int64_t rlock__lease_end_ms(int64_t sent_ms, int64_t lease_ms);

/* Now in microseconds, for how long a request takes; and what this machine thinks it is since 1970,
 * only to compare it with a server: nothing here goes by it. */
int64_t rlock__now_us(void);
int64_t rlock__epoch_ms(void);

/* now + ms, without overflow: RLOCK_FOREVER stays RLOCK_FOREVER. */
int64_t rlock__after_ms(int64_t now_ms, int64_t ms);

/* How long it is until then; 0: it is over. */
int64_t rlock__left_ms(int64_t deadline_ms);

/* Of two instants the one that comes first, of two durations the shorter one. */
static inline int64_t rlock__sooner_ms(int64_t a_ms, int64_t b_ms) {
    return a_ms < b_ms ? a_ms : b_ms;
}

/* When an equal share of the time that is left is over, for so many that need it one after the
 * other. RLOCK_FOREVER is for each. */
int64_t rlock__share_ms(int64_t now_ms, int64_t deadline_ms, size_t count);

/* Half-way to the deadline: what one request may take, so that a lost answer leaves time for
 * another try. Near the deadline: the deadline. */
int64_t rlock__half_way_ms(int64_t now_ms, int64_t deadline_ms);

/* When a wait ends after a sign of life: once more its whole patience from now on, up to until_ms,
 * and not before its deadline. */
int64_t rlock__prolonged_ms(int64_t deadline_ms, int64_t until_ms, int64_t patience_ms);

/* --- waiting ---------------------------------------------------------------------------------- */

/* How long a wait may last, and what ends it early. Passed down unchanged. */
struct rlock__limit {
    int64_t deadline_ms;
    int cancel_fd; /* -1: none */
};

/* Waits until one of the descriptors shows one of its poll(2) events; there is room for one more
 * behind them. RLOCK_OK: it does, or again_ms has come: when to look again though none shows
 * anything; RLOCK_FOREVER: never. RLOCK_AGAIN: the deadline has come. RLOCK_CANCELLED. */
struct pollfd;
enum rlock_status rlock__poll_any(struct pollfd *fds, size_t count, int64_t again_ms,
                                  const struct rlock__limit *limit);

/* Waits for the limit only. RLOCK_OK: the deadline has come. RLOCK_CANCELLED. */
enum rlock_status rlock__sleep(const struct rlock__limit *limit);

#endif
