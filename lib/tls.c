/* tls.c: loads the module for TLS on first use, and passes everything on to it.
 *
 * The module is found beside the library, by the RUNPATH of whatever this file is linked into. Each
 * session holds it open once; it is never unmapped, for OpenSSL does not like to be. */
#include "tls.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "tls_module.h"

struct rlock__tls {
    void *handle;
    const struct rlock__tls_module *module;
    struct rlock__tls_session *session;
};

static enum rlock_status load(struct rlock__tls *tls, struct rlock__error *error) {
    tls->handle = dlopen(RLOCK__TLS_MODULE_FILE, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (tls->handle != NULL)
        tls->module = dlsym(tls->handle, RLOCK__TLS_MODULE_SYMBOL);
    if (tls->module != NULL && strcmp(tls->module->version, RLOCK_VERSION) == 0)
        return RLOCK_OK;
    if (tls->module != NULL)
        rlock__error_set(error, "no TLS: %s is of version %s, and this is %s",
                         RLOCK__TLS_MODULE_FILE, tls->module->version, RLOCK_VERSION);
    else /* dlerror() names the file */
        rlock__error_set(error, "no TLS: cannot load its module: %s", dlerror());
    return RLOCK_SYSTEM;
}

enum rlock_status rlock__tls_open(struct rlock__tls **out, int fd,
                                  const struct rlock__tls_config *config, const char *host,
                                  struct rlock__error *error) {
    struct rlock__tls *tls = *out = calloc(1, sizeof *tls);
    if (tls == NULL) {
        rlock__error_set(error, "no memory");
        return RLOCK_SYSTEM;
    }
    enum rlock_status status = load(tls, error);
    if (status == RLOCK_OK)
        status = tls->module->open(&tls->session, fd, config, host, error);
    if (status != RLOCK_OK) {
        rlock__tls_close(tls);
        *out = NULL;
    }
    return status;
}

enum rlock_status rlock__tls_handshake(struct rlock__tls *tls, short *events,
                                       struct rlock__error *error) {
    return tls->module->handshake(tls->session, events, error);
}

enum rlock_status rlock__tls_read(struct rlock__tls *tls, char *to, size_t size, size_t *n,
                                  short *events, struct rlock__error *error) {
    return tls->module->read(tls->session, to, size, n, events, error);
}

enum rlock_status rlock__tls_write(struct rlock__tls *tls, const char *from, size_t size, size_t *n,
                                   short *events, struct rlock__error *error) {
    return tls->module->write(tls->session, from, size, n, events, error);
}

bool rlock__tls_pending(const struct rlock__tls *tls) {
    return tls->module->pending(tls->session);
}

void rlock__tls_close(struct rlock__tls *tls) {
    if (tls == NULL)
        return;
    if (tls->session != NULL)
        tls->module->close(tls->session);
    if (tls->handle != NULL)
        dlclose(tls->handle);
    free(tls);
}
