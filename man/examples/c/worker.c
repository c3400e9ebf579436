/* worker.c: a program that works under a lock, and stops when it cannot be kept.
 *
 * usage: worker NAME URL
 *
 * It prints its fencing token, works for a second, and ends with 0; 75: others hold the lock; 76:
 * the lock was lost; 1: something else went wrong. */
#include <inttypes.h>
#include <poll.h>
#include <rlock.h>
#include <rlock_report.h>
#include <stdio.h>

/* The work. The descriptor becomes readable when the lock is lost: then it is no more ours to do. A
 * signal that a handler catches only ends a step early. */
static bool work(int lost_fd) {
    struct pollfd lost = {.fd = lost_fd, .events = POLLIN};
    for (int step = 1; step <= 10; step++) {
        if (poll(&lost, 1, 100) > 0)
            return false;
    }
    return true;
}

/* A thread of the library's renews the lock while the work goes on. */
static int work_under(rlock_lock *lock) {
    struct rlock_keeper_options options = RLOCK_KEEPER_OPTIONS_INIT;
    rlock_keeper *keeper = NULL;
    options.grace_ms = 5000; /* the time that work() needs to stop, many times over */
    if (rlock_keeper_start(&keeper, lock, &options) != RLOCK_OK)
        return 1;
    /* Whatever is written goes with the token: a store that has seen a larger one refuses it. */
    printf("token %" PRId64 "\n", rlock_hold_at(lock, 0)->token);
    const bool done = work(rlock_keeper_fd(keeper));
    const bool kept = rlock_keeper_stop(keeper) == RLOCK_OK;
    return done && kept ? 0 : 76;
}

static int take_and_work(rlock_client *client, const char *name) {
    struct rlock_lock_options options = RLOCK_LOCK_OPTIONS_INIT;
    struct rlock_wait wait = RLOCK_WAIT_INIT;
    rlock_lock *lock = NULL;
    options.names = &name;
    options.name_count = 1;
    options.lease_ms = 30000; /* renewed every ten seconds */
    options.command = "worker";
    wait.deadline_ms = rlock_now_ms() + 2000;
    enum rlock_status status = rlock_lock_new(&lock, client, &options);
    int result = 1;
    if (status == RLOCK_OK)
        status = rlock_acquire(lock, &wait);
    if (status == RLOCK_OK) {
        result = work_under(lock);
        if (rlock_release(lock, 0, rlock_now_ms() + 2000) != RLOCK_OK)
            fprintf(stderr, "worker: cannot give %s back: %s\n", name, rlock_error(client));
    } else if (status == RLOCK_BUSY) {
        const struct rlock_holder *holder = rlock_blocker(lock);
        fprintf(stderr, "worker: %s is held by %s\n", name,
                holder != NULL ? holder->owner : "others");
        result = 75;
    } else {
        fprintf(stderr, "worker: cannot take %s: %s: %s\n", name, rlock_client_server(client),
                rlock_error(client));
    }
    rlock_lock_free(lock);
    return result;
}

int main(int argc, char **argv) {
    if (argc != 3) {
        fputs("usage: worker NAME URL\n", stderr);
        return 64;
    }
    const char *server = argv[2];
    struct rlock_client_options options = RLOCK_CLIENT_OPTIONS_INIT;
    options.servers = &server;
    options.server_count = 1;
    rlock_client *client = NULL;
    int result = 1;
    if (rlock_client_new(&client, &options) == RLOCK_OK)
        result = take_and_work(client, argv[1]);
    else
        fprintf(stderr, "worker: cannot use the server: %s\n", rlock_error(client));
    rlock_client_free(client);
    return result;
}
