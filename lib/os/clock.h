/* clock.h: deadlines, all as pure arithmetic on CLOCK_BOOTTIME milliseconds. */
#ifndef RLOCK_CLOCK_H
#define RLOCK_CLOCK_H

#include <stdint.h>

/* Until when a lease is sure that was asked for at sent_ms, before the request went out: later
 * than that the server may have let it run out (the time of the reply proves nothing). */
int64_t rlock__lease_end_ms(int64_t sent_ms, int64_t lease_ms);

/* Now in microseconds, for how long a request takes; and what this machine thinks it is since 1970,
 * only to compare it with a server: nothing here goes by it. */
int64_t rlock__now_us(void);
int64_t rlock__epoch_ms(void);

/* now + ms, without overflow: RLOCK_FOREVER stays RLOCK_FOREVER. */
int64_t rlock__after_ms(int64_t now_ms, int64_t ms);

/* Of two instants the one that comes first, of two durations the shorter one. */
static inline int64_t rlock__sooner_ms(int64_t a_ms, int64_t b_ms) {
    return a_ms < b_ms ? a_ms : b_ms;
}

/* Half-way to the deadline: what one request may take, so that a lost answer leaves time for
 * another try. Near the deadline: the deadline. */
int64_t rlock__half_way_ms(int64_t now_ms, int64_t deadline_ms);

/* What poll(2) takes: milliseconds until the deadline, 0 when it has passed, -1 for RLOCK_FOREVER.
 */
int rlock__poll_timeout(int64_t now_ms, int64_t deadline_ms);

#endif
