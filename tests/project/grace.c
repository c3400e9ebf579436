/* grace.c: how much of its lease is left when a lock that cannot be renewed counts as lost.
 *
 * usage: grace NAME URL LEASE GRACE     both in ms
 *
 * Prints "held", and, when the keeper says that it is lost, the milliseconds that are left. */
#include <inttypes.h>
#include <poll.h>
#include <rlock.h>
#include <stdio.h>
#include <stdlib.h>

static void check(enum rlock_status status, const char *what) {
    if (status == RLOCK_OK)
        return;
    (void)fprintf(stderr, "grace: %s: %s\n", what, rlock_status_text(status));
    exit(1);
}

static rlock_lock *take(rlock_client *client, const char *name, int64_t lease_ms) {
    struct rlock_lock_options options = RLOCK_LOCK_OPTIONS_INIT;
    const struct rlock_wait wait = RLOCK_WAIT_INIT;
    rlock_lock *lock;
    options.names = &name;
    options.name_count = 1;
    options.lease_ms = lease_ms;
    check(rlock_lock_new(&lock, client, &options), "make a lock");
    check(rlock_acquire(lock, &wait), "take it");
    return lock;
}

int main(int argc, char **argv) {
    struct rlock_client_options options = RLOCK_CLIENT_OPTIONS_INIT;
    struct rlock_keeper_options keeping = RLOCK_KEEPER_OPTIONS_INIT;
    rlock_client *client;
    rlock_keeper *keeper;
    if (argc != 5)
        return 64;
    options.servers = (const char *const *)argv + 2;
    options.server_count = 1;
    check(rlock_client_new(&client, &options), "make a client");
    rlock_lock *lock = take(client, argv[1], atoll(argv[3]));
    keeping.grace_ms = atoll(argv[4]);
    check(rlock_keeper_start(&keeper, lock, &keeping), "start a keeper");
    (void)puts("held");
    (void)fflush(stdout);
    struct pollfd lost = {.fd = rlock_keeper_fd(keeper), .events = POLLIN};
    while (poll(&lost, 1, -1) != 1)
        continue;
    (void)printf("%" PRId64 "\n", rlock_lease_end_ms(lock) - rlock_now_ms());
    (void)rlock_keeper_stop(keeper);
    rlock_lock_free(lock);
    rlock_client_free(client);
    return 0;
}
