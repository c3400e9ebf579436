/* keepers.c: a client is used while keepers renew two of its locks: rlock.h promises that it may
 * be.
 *
 * usage: keepers URL
 *
 * It says what has failed, and ends with 1; in a build for threads ThreadSanitizer has its say. */
#include <rlock_report.h>
#include <stdio.h>
#include <stdlib.h>

enum { LEASE_MS = 4000 }; /* the keepers listen after a second, and renew after a third of it */

/* A program may have as much of its own in each thread; glibc takes it out of the thread's stack.
 */
static _Thread_local volatile char own[400 * 1024];

static rlock_client *client;

static void check(enum rlock_status status, const char *what) {
    if (status == RLOCK_OK)
        return;
    (void)fprintf(stderr, "keepers: %s: %s: %s\n", what, rlock_status_text(status),
                  rlock_error(client));
    exit(1);
}

static rlock_lock *take(const char *name) {
    struct rlock_lock_options options = RLOCK_LOCK_OPTIONS_INIT;
    const struct rlock_wait wait = RLOCK_WAIT_INIT;
    rlock_lock *lock;
    options.names = &name;
    options.name_count = 1;
    options.lease_ms = LEASE_MS;
    check(rlock_lock_new(&lock, client, &options), "make a lock");
    check(rlock_acquire(lock, &wait), "take it");
    return lock;
}

static rlock_keeper *keep(rlock_lock *lock) {
    struct rlock_keeper_options options = RLOCK_KEEPER_OPTIONS_INIT;
    rlock_keeper *keeper;
    options.report_renewals = true;
    check(rlock_keeper_start(&keeper, lock, &options), "start a keeper");
    return keeper;
}

static void give_back(rlock_lock *lock) {
    check(rlock_release(lock, 0, rlock_now_ms() + 5000), "give it back");
    rlock_lock_free(lock);
}

int main(int argc, char **argv) {
    struct rlock_client_options options = RLOCK_CLIENT_OPTIONS_INIT;
    own[sizeof own - 1] = 1; /* so that it is kept */
    options.servers = (const char *const *)argv + 1;
    options.server_count = (size_t)argc - 1;
    check(rlock_client_new(&client, &options), "make a client");
    rlock_lock *a = take("a"), *b = take("b");
    (void)fclose(stdin); /* a descriptor of the first one's is 0: as good as any */
    rlock_keeper *of_a = keep(a), *of_b = keep(b);
    while (rlock_keeper_report(of_a) == NULL)
        give_back(take("c"));
    check(rlock_keeper_stop(of_a), "keep a");
    check(rlock_keeper_stop(of_b), "keep b");
    give_back(a);
    give_back(b);
    rlock_client_free(client);
    return 0;
}
