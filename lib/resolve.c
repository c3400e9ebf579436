/* resolve.c: a host's addresses, looked up within a deadline.
 *
 * getaddrinfo(3) has no time-out and can't be interrupted: it runs in a thread, and whoever is
 * last, asker or thread, frees what they share. */
#include "resolve.h"

#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/un.h>
#include <unistd.h>

struct lookup {
    char *host;
    char *port;
    struct addrinfo *found;
    int failure; /* getaddrinfo's */
    int done_fd;
    atomic_int users;
};

static void lookup_unref(struct lookup *lookup) {
    if (atomic_fetch_sub(&lookup->users, 1) > 1)
        return;
    if (lookup->found != NULL)
        freeaddrinfo(lookup->found);
    close(lookup->done_fd);
    free(lookup->host);
    free(lookup->port);
    free(lookup);
}

static int ask(const char *host, const char *port, int flags, struct addrinfo **found) {
    const struct addrinfo hints = {
        .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = flags | AI_NUMERICSERV};
    return getaddrinfo(host, port, &hints, found);
}

static void *lookup_main(void *arg) {
    struct lookup *lookup = arg;
    lookup->failure = ask(lookup->host, lookup->port, 0, &lookup->found);
    const uint64_t one = 1;
    (void)!write(lookup->done_fd, &one, sizeof one);
    lookup_unref(lookup);
    return NULL;
}

static struct lookup *lookup_new(const struct rlock__server *server) {
    struct lookup *lookup = calloc(1, sizeof *lookup);
    if (lookup == NULL)
        return NULL;
    lookup->host = strdup(server->host);
    lookup->port = strdup(server->port);
    lookup->done_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    atomic_init(&lookup->users, 2);
    if (lookup->host != NULL && lookup->port != NULL && lookup->done_fd >= 0)
        return lookup;
    atomic_store(&lookup->users, 1);
    lookup_unref(lookup);
    return NULL;
}

static void copy_addresses(struct rlock__addresses *out, const struct addrinfo *found) {
    out->count = 0;
    for (; found != NULL && out->count < RLOCK__ADDRESS_MAX; found = found->ai_next) {
        memcpy(&out->at[out->count].address, found->ai_addr, found->ai_addrlen);
        out->at[out->count++].length = found->ai_addrlen;
    }
}

static enum rlock_status lookup_run(struct rlock__addresses *out,
                                    const struct rlock__server *server,
                                    const struct rlock__limit *limit, struct rlock__error *error) {
    struct lookup *lookup = lookup_new(server);
    pthread_t thread;
    if (lookup == NULL || pthread_create(&thread, NULL, lookup_main, lookup) != 0) {
        if (lookup != NULL) {
            atomic_store(&lookup->users, 1);
            lookup_unref(lookup);
        }
        rlock__error_set(error, "no thread for looking up %s", server->host);
        return RLOCK_SYSTEM;
    }
    pthread_detach(thread);
    enum rlock_status status = rlock__poll(lookup->done_fd, POLLIN, limit);
    uint64_t count;
    if (status == RLOCK_OK) /* reading it is what orders the thread's writes before our reads */
        (void)!read(lookup->done_fd, &count, sizeof count);
    if (status == RLOCK_OK && lookup->failure == 0) {
        copy_addresses(out, lookup->found);
    } else if (status == RLOCK_OK) {
        rlock__error_set(error, "%s", gai_strerror(lookup->failure));
        status = RLOCK_UNAVAILABLE;
    } else if (status == RLOCK_AGAIN) {
        rlock__error_set(error, "looking up the host took too long");
        status = RLOCK_UNAVAILABLE;
    }
    lookup_unref(lookup);
    return status;
}

enum rlock_status rlock__resolve(struct rlock__addresses *out, const struct rlock__server *server,
                                 const struct rlock__limit *limit, struct rlock__error *error) {
    if (server->transport == RLOCK__UNIX) {
        struct sockaddr_un address = {.sun_family = AF_UNIX};
        memcpy(address.sun_path, server->path, strlen(server->path)); /* url.c checked its length */
        memcpy(&out->at[0].address, &address, sizeof address);
        out->at[0].length = sizeof address;
        out->count = 1;
        return RLOCK_OK;
    }
    struct addrinfo *found = NULL;
    if (ask(server->host, server->port, AI_NUMERICHOST, &found) != 0)
        return lookup_run(out, server, limit, error);
    copy_addresses(out, found);
    freeaddrinfo(found);
    return RLOCK_OK;
}
