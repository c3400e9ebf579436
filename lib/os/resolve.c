/* resolve.c: a host's addresses, looked up without blocking.
 *
 * getaddrinfo(3) has no time-out and can't be interrupted: it runs in a thread, and the caller or
 * the thread, whichever ends last, frees what they share. */
#include "os/resolve.h"

#include <netdb.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/un.h>
#include <unistd.h>

#include "os/thread.h"

struct rlock__lookup {
    char host[NI_MAXHOST];
    char port[NI_MAXSERV];
    struct addrinfo *found;
    int failure; /* getaddrinfo's */
    int done_fd;
    atomic_int users;
};

void rlock__lookup_drop(struct rlock__lookup **of) {
    struct rlock__lookup *lookup = *of;
    *of = NULL;
    if (lookup == NULL || atomic_fetch_sub(&lookup->users, 1) > 1)
        return;
    if (lookup->found != NULL)
        freeaddrinfo(lookup->found);
    close(lookup->done_fd);
    free(lookup);
}

static int ask(const char *host, const char *port, int flags, struct addrinfo **found) {
    const struct addrinfo hints = {
        .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = flags | AI_NUMERICSERV};
    return getaddrinfo(host, port, &hints, found);
}

static void *lookup_main(void *arg) {
    struct rlock__lookup *lookup = arg;
    lookup->failure = ask(lookup->host, lookup->port, 0, &lookup->found);
    const uint64_t one = 1;
    (void)!write(lookup->done_fd, &one, sizeof one);
    rlock__lookup_drop(&lookup);
    return NULL;
}

struct rlock__lookup *rlock__lookup_start(const char *host, const char *port) {
    struct rlock__lookup *lookup = calloc(1, sizeof *lookup);
    pthread_t thread;
    if (lookup == NULL)
        return NULL;
    (void)snprintf(lookup->host, sizeof lookup->host, "%s", host);
    (void)snprintf(lookup->port, sizeof lookup->port, "%s", port);
    lookup->done_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    atomic_init(&lookup->users, 2);
    if (lookup->done_fd >= 0 && rlock__thread_start(&thread, lookup_main, lookup) == 0) {
        pthread_detach(thread);
        return lookup;
    }
    atomic_store(&lookup->users, 1);
    rlock__lookup_drop(&lookup);
    return NULL;
}

int rlock__lookup_fd(const struct rlock__lookup *lookup) {
    return lookup->done_fd;
}

static const struct addrinfo *skip(const struct addrinfo *found, size_t count) {
    while (count-- > 0)
        found = found->ai_next;
    return found;
}

static void copy_addresses(struct rlock__addresses *out, const struct addrinfo *first) {
    size_t all = 0, from = 0;
    for (const struct addrinfo *one = first; one != NULL; one = one->ai_next)
        all++;
    if (all > RLOCK__ADDRESS_MAX)
        from = out->looked_up++ % all * RLOCK__ADDRESS_MAX % all;
    out->count = all < RLOCK__ADDRESS_MAX ? all : RLOCK__ADDRESS_MAX;
    for (size_t i = 0; i < out->count; i++) {
        const struct addrinfo *one = skip(first, (from + i) % all);
        memcpy(&out->at[i].address, one->ai_addr, one->ai_addrlen);
        out->at[i].length = one->ai_addrlen;
    }
}

void rlock__lookup_take(struct rlock__lookup **lookup, struct rlock__addresses *out,
                        struct rlock__error *error) {
    uint64_t count; /* reading it is what orders the thread's writes before our reads */
    (void)!read((*lookup)->done_fd, &count, sizeof count);
    const int failure = (*lookup)->failure;
    if (failure == 0)
        copy_addresses(out, (*lookup)->found);
    else
        rlock__error_set(error, "%s", gai_strerror(failure));
    rlock__lookup_drop(lookup);
}

void rlock__address_of_path(struct rlock__addresses *out, const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    memcpy(address.sun_path, path, strnlen(path, sizeof address.sun_path - 1));
    memcpy(&out->at[0].address, &address, sizeof address);
    out->at[0].length = sizeof address;
    out->count = 1;
}

bool rlock__address_of_number(struct rlock__addresses *out, const char *host, const char *port) {
    struct addrinfo *found = NULL;
    if (ask(host, port, AI_NUMERICHOST, &found) != 0)
        return false;
    copy_addresses(out, found);
    freeaddrinfo(found);
    return true;
}
