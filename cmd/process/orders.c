/* orders.c: what rlock and its guardian share: until when the command may run, and orders. */
#include <errno.h>
#include <sys/socket.h>
#include <time.h>

#include "process/guardian.h"

enum { NO_MEMORY_TRIES = 100, PAUSE_MS = 10 };

struct deadline plan_deadline(const struct plan *plan, int64_t started_ms) {
    const int64_t lease_end_ms = __atomic_load_n(&plan->shared->lease_end_ms, __ATOMIC_ACQUIRE);
    return deadline_of(&plan->deadline, lease_end_ms, started_ms);
}

bool order_send(int socket, struct order order) {
    static const struct timespec pause = {0, PAUSE_MS * 1000000L};
    for (int i = 0; i < NO_MEMORY_TRIES; i++) {
        if (send(socket, &order, sizeof order, MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof order)
            return true;
        if (errno != ENOBUFS && errno != ENOMEM)
            return false;
        (void)nanosleep(&pause, NULL);
    }
    return false;
}

bool order_take(int socket, bool wait, struct order *order, bool *gone) {
    const ssize_t n = recv(socket, order, sizeof *order, wait ? 0 : MSG_DONTWAIT);
    *gone = n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
    return n == (ssize_t)sizeof *order;
}
