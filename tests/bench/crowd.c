/* crowd.c: many clients of one lock in one process, each by the library that rlock itself is made
 * of, with connections of its own: what they ask the server, and when, is what as many rlocks
 * would.
 *
 * usage: crowd wait|hold SERVER KIND NAME COUNT LEASE_MS
 *
 * wait: each waits for the lock, gives it back when it has it, and is gone. hold: each takes it,
 * and never renews it; what they share is one connection. Prints "ready" when all have been
 * answered, and stays until it is killed. */
#include <pthread.h>
#include <rlock.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STACK = 256 * 1024, AT_ONCE = 32 };

static const char *server, *kind, *name;
static int64_t lease_ms;
static sem_t coming; /* how many more may ask for the first time */

static void fail(const char *what, const rlock_client *client) {
    (void)fprintf(stderr, "crowd: %s: %s\n", what, client != NULL ? rlock_error(client) : "");
    exit(1);
}

static rlock_client *new_client(void) {
    struct rlock_client_options options = RLOCK_CLIENT_OPTIONS_INIT;
    rlock_client *client;
    options.servers = &server;
    options.server_count = 1;
    if (rlock_client_new(&client, &options) != RLOCK_OK)
        fail("a client", client);
    return client;
}

static rlock_lock *new_lock(rlock_client *client) {
    const struct rlock_lock_options options = {.size = sizeof options,
                                               .kind = kind,
                                               .names = &name,
                                               .name_count = 1,
                                               .lease_ms = lease_ms,
                                               .user = "root",
                                               .command = "true"};
    rlock_lock *lock;
    if (rlock_lock_new(&lock, client, &options) != RLOCK_OK)
        fail("a lock", client);
    return lock;
}

static void *wait_for_it(void *unused) {
    struct rlock_wait wait = RLOCK_WAIT_INIT;
    rlock_client *client = new_client();
    rlock_lock *lock = new_lock(client);
    wait.until_ms = 1;
    enum rlock_status status = rlock_acquire(lock, &wait); /* once, whatever the answer */
    (void)sem_post(&coming);
    wait.until_ms = RLOCK_FOREVER;
    if (status == RLOCK_AGAIN)
        status = rlock_acquire(lock, &wait);
    if (status == RLOCK_OK)
        status = rlock_release(lock, 0, rlock_now_ms() + 5000);
    if (status != RLOCK_OK)
        fail(rlock_status_text(status), client);
    rlock_lock_free(lock);
    rlock_client_free(client);
    return unused;
}

static void all_wait(size_t count) {
    pthread_attr_t small;
    (void)pthread_attr_init(&small);
    (void)pthread_attr_setstacksize(&small, STACK);
    (void)pthread_attr_setdetachstate(&small, PTHREAD_CREATE_DETACHED);
    (void)sem_init(&coming, 0, AT_ONCE);
    for (size_t i = 0; i < count; i++) {
        pthread_t thread;
        (void)sem_wait(&coming);
        if (pthread_create(&thread, &small, wait_for_it, NULL) != 0)
            fail("no more threads", NULL);
    }
    for (size_t i = 0; i < AT_ONCE; i++)
        (void)sem_wait(&coming);
}

static void all_hold(size_t count) {
    const struct rlock_wait wait = {
        .size = sizeof wait, .until_ms = RLOCK_FOREVER, .cancel_fd = -1};
    rlock_client *client = new_client();
    for (size_t i = 0; i < count; i++) {
        if (rlock_acquire(new_lock(client), &wait) != RLOCK_OK)
            fail("not taken", client);
    }
}

int main(int argc, char **argv) {
    if (argc != 7) {
        (void)fprintf(stderr, "usage: crowd wait|hold SERVER KIND NAME COUNT LEASE_MS\n");
        return 64;
    }
    server = argv[2];
    kind = argv[3];
    name = argv[4];
    lease_ms = atoll(argv[6]);
    (strcmp(argv[1], "hold") == 0 ? all_hold : all_wait)((size_t)atoll(argv[5]));
    (void)puts("ready");
    (void)fflush(stdout);
    for (;;)
        pause();
}
