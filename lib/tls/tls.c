/* tls.c: loads the module for TLS on first use, and passes everything on to it. */
#include "tls/tls.h"

#include <stdlib.h>

#include "tls/module.h"

struct rlock__tls {
    const struct rlock__tls_module *module;
    struct rlock__tls_session *session;
};

enum rlock__io rlock__tls_open(struct rlock__tls **out, int fd,
                               const struct rlock__tls_config *config, const char *host,
                               struct rlock__error *error) {
    struct rlock__tls *tls = *out = calloc(1, sizeof *tls);
    if (tls == NULL) {
        rlock__error_set(error, "out of memory");
        return RLOCK__IO_SYSTEM;
    }
    tls->module = rlock__tls_load(error);
    enum rlock__io io = RLOCK__IO_SYSTEM;
    if (tls->module != NULL)
        io = tls->module->open(&tls->session, fd, config, host, error);
    if (io != RLOCK__IO_DONE) {
        rlock__tls_close(tls);
        *out = NULL;
    }
    return io;
}

enum rlock__io rlock__tls_handshake(struct rlock__tls *tls, short *events,
                                    struct rlock__error *error) {
    return tls->module->handshake(tls->session, events, error);
}

enum rlock__io rlock__tls_read(struct rlock__tls *tls, char *to, size_t size, size_t *n,
                               short *events, struct rlock__error *error) {
    return tls->module->read(tls->session, to, size, n, events, error);
}

enum rlock__io rlock__tls_write(struct rlock__tls *tls, const char *from, size_t size, size_t *n,
                                short *events, struct rlock__error *error) {
    return tls->module->write(tls->session, from, size, n, events, error);
}

void rlock__tls_close(struct rlock__tls *tls) {
    if (tls == NULL)
        return;
    if (tls->session != NULL)
        tls->module->close(tls->session);
    free(tls);
}
