/* tls.h: TLS on a connected, non-blocking socket: bytes in, bytes out, nothing of Redis.
 *
 * OpenSSL lives in a module of its own, librlock-tls.so.0, which is loaded when the first session
 * is opened: without TLS, OpenSSL is not mapped. A session belongs to one thread at a time.
 * Nothing here waits: RLOCK__IO_WAIT says what to poll(2) the socket for. A session is dead after
 * any other failure: close it. */
#ifndef RLOCK_TLS_H
#define RLOCK_TLS_H

#include <stdbool.h>
#include <stddef.h>

#include "os/error.h"

struct rlock__tls;

/* As struct rlock_tls_options. */
struct rlock__tls_config {
    const char *ca, *cert, *key, *name;
    bool insecure;
};

#define RLOCK__TLS_MODULE_FILE   "librlock-tls.so.0"
#define RLOCK__TLS_MODULE_SYMBOL "rlock__tls_module"

/* The one thing that the module exports. */
struct rlock__tls_module {
    const char *version; /* of the library it was built with: no other can use it */

    /* Makes a session; the socket stays the caller's. host: a name or an address as it stands in
     * the URL, without brackets: the name to ask for, which the certificate must have unless
     * config->name says otherwise. Copies its arguments. RLOCK__IO_DONE: *out is the caller's.
     * RLOCK__IO_DENIED: a file can't be used. RLOCK__IO_SYSTEM: no memory. */
    enum rlock__io (*open)(struct rlock__tls **out, int fd, const struct rlock__tls_config *config,
                           const char *host, struct rlock__error *error);

    /* Goes on with the handshake. RLOCK__IO_DONE: done. RLOCK__IO_WAIT: poll for *events and call
     * again. RLOCK__IO_DENIED: one of the two certificates is not good enough. RLOCK__IO_BROKEN. */
    enum rlock__io (*handshake)(struct rlock__tls *tls, short *events, struct rlock__error *error);

    /* Reads what there is. RLOCK__IO_DONE: *n > 0 bytes. RLOCK__IO_WAIT: nothing yet, poll for
     * *events. RLOCK__IO_BROKEN: closed or broken. RLOCK__IO_DENIED: the server refuses our
     * certificate; with TLS 1.3 it says so only after the handshake. */
    enum rlock__io (*read)(struct rlock__tls *tls, char *to, size_t size, size_t *n, short *events,
                           struct rlock__error *error);

    /* Writes some of it. RLOCK__IO_DONE: *n > 0 bytes are on their way. RLOCK__IO_WAIT: none, poll
     * for *events and give the same bytes again. RLOCK__IO_BROKEN, RLOCK__IO_DENIED: as for
     * reading. No SIGPIPE. */
    enum rlock__io (*write)(struct rlock__tls *tls, const char *from, size_t size, size_t *n,
                            short *events, struct rlock__error *error);

    /* Sends close_notify if that can be done at once, and frees the session. */
    void (*close)(struct rlock__tls *tls);
};
RLOCK_API extern const struct rlock__tls_module rlock__tls_module;

/* The module, loaded when it is not yet; it stays so. Any thread. NULL: error says why there is
 * none. */
const struct rlock__tls_module *rlock__tls_load(struct rlock__error *error);

#endif
