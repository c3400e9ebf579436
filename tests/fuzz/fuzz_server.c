/* fuzz_server.c: what servers answer: a single one, a Sentinel, a node of a cluster. Each
 * connection is sent the same bytes, and ended. The first byte says what is asked of whom.
 *
 * Nothing is waited for, and nobody else is connected to, whatever the bytes name: pauses are
 * jumped over by a clock of our own (ld's --wrap). */
#include "fuzz.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <time.h>
#include <unistd.h>

#include "rlock_admin.h"
#include "rlock_count.h"
#include "rlock_handle.h"

int __real_clock_gettime(clockid_t clock, struct timespec *now);
int __real_poll(struct pollfd *fds, nfds_t count, int timeout_ms);
int __real_getaddrinfo(const char *host, const char *port, const struct addrinfo *hints,
                       struct addrinfo **out);

enum { WAIT_MS = 1000, LONG_MS = 600, MOST = 32 * 1024, PORT = 6379, ENDS_MAX = 256 };

static struct {
    const uint8_t *bytes;
    size_t size;
    int ends[ENDS_MAX]; /* of its connections */
    size_t end_count;
} server;
static time_t jumped_s;

int __wrap_clock_gettime(clockid_t clock, struct timespec *now) {
    const int result = __real_clock_gettime(clock, now);
    now->tv_sec += clock == CLOCK_BOOTTIME ? jumped_s : 0;
    return result;
}

int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout_ms) {
    assert(timeout_ms >= 0);
    const int ready = __real_poll(fds, count, 0);
    if (ready == 0)
        jumped_s += (timeout_ms + 999) / 1000;
    return ready;
}

/* What the server has to say is there at once; what it is asked it does not read. */
int __wrap_connect(int fd, const struct sockaddr *to, socklen_t length) {
    const struct sockaddr_in *in = (const struct sockaddr_in *)(const void *)to;
    int ends[2];
    (void)length;
    if (to->sa_family != AF_INET || in->sin_addr.s_addr != htonl(INADDR_LOOPBACK) ||
        in->sin_port != htons(PORT) || server.end_count == ENDS_MAX) {
        errno = ECONNREFUSED;
        return -1;
    }
    const bool up = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) == 0 &&
                    send(ends[1], server.bytes, server.size, 0) == (ssize_t)server.size &&
                    shutdown(ends[1], SHUT_WR) == 0 && dup3(ends[0], fd, O_CLOEXEC) == fd;
    assert(up);
    close(ends[0]);
    server.ends[server.end_count++] = ends[1];
    return 0;
}

int __wrap_getaddrinfo(const char *host, const char *port, const struct addrinfo *hints,
                       struct addrinfo **out) {
    struct addrinfo numeric = *hints;
    numeric.ai_flags |= AI_NUMERICHOST;
    return __real_getaddrinfo(host, port, &numeric, out);
}

static void take(rlock_client *client, const char *kind) {
    static const char *const name = "x";
    const struct rlock_lock_options options = {.size = sizeof options,
                                               .kind = kind,
                                               .names = &name,
                                               .name_count = 1,
                                               .lease_ms = RLOCK_LEASE_DEFAULT_MS};
    struct rlock_wait wait = RLOCK_WAIT_INIT;
    rlock_lock *lock;
    int64_t ttl_ms;
    wait.deadline_ms = rlock_now_ms() + LONG_MS;
    const enum rlock_status made = rlock_lock_new(&lock, client, &options);
    assert(made == RLOCK_OK);
    if (rlock_acquire(lock, &wait) == RLOCK_OK) {
        assert(rlock_hold_at(lock, 0) != NULL && rlock_lease_end_ms(lock) > 0);
        (void)!rlock_renew(lock);
        (void)!rlock_check(lock, &ttl_ms);
        (void)!rlock_release(lock, 0, rlock_now_ms() + LONG_MS);
    }
    rlock_lock_free(lock);
}

static void inspect(rlock_client *client) {
    const struct rlock_inspect_options options = {sizeof options, "x", 0, rlock_now_ms() + LONG_MS,
                                                  -1};
    rlock_view *view = NULL;
    if (rlock_inspect(client, &options, &view) == RLOCK_OK)
        assert(view->holder_count == 0 || view->holders[0].owner != NULL);
    rlock_view_free(view);
}

static void scan(rlock_client *client) {
    rlock_scan *found = NULL;
    if (rlock_scan_new(&found, client, 0) != RLOCK_OK)
        return;
    for (int i = 0; i < 8; i++) {
        if (rlock_scan_step(found, rlock_now_ms() + LONG_MS, -1) != RLOCK_AGAIN)
            break;
    }
    (void)rlock_scan_name(found, 0);
    rlock_scan_free(found);
}

static void count(rlock_client *client) {
    const struct rlock_count one = {sizeof one, "x", 1, rlock_now_ms() + LONG_MS, -1};
    int64_t left;
    (void)!rlock_latch_down(client, &one, &left);
    (void)!rlock_sem_resize(client, &one, &left);
}

static void probe(rlock_client *client) {
    const struct rlock_probe_options options = {sizeof options, "x", rlock_now_ms() + LONG_MS, -1};
    rlock_facts *facts = NULL;
    if (rlock_probe(client, &options, &facts) == RLOCK_OK)
        (void)rlock_fact(facts, 0, "redis_version");
    rlock_facts_free(facts);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const urls[] = {"redis://127.0.0.1", "sentinel://127.0.0.1:6379/m",
                                       "cluster://127.0.0.1"};
    static const char *const kinds[] = {"run", "fair", "read", "write", "sem", "plain", "latch"};
    enum { KINDS = sizeof kinds / sizeof kinds[0] };
    if (size == 0 || size > MOST)
        return 0;
    server.size = size - 1;
    server.bytes = data + 1;
    rlock_client *client = fuzz_client(urls[data[0] % 3], WAIT_MS);
    const unsigned what = data[0] / 3 % (KINDS + 4);
    switch (what) {
    case KINDS: inspect(client); break;
    case KINDS + 1: scan(client); break;
    case KINDS + 2: count(client); break;
    case KINDS + 3: probe(client); break;
    default: take(client, kinds[what]);
    }
    rlock_client_free(client);
    while (server.end_count > 0)
        close(server.ends[--server.end_count]);
    return 0;
}
