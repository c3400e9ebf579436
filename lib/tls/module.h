/* module.h: the interface between librlock and its module for TLS. */
#ifndef RLOCK_MODULE_H
#define RLOCK_MODULE_H

#include "tls/tls.h"

#define RLOCK__TLS_MODULE_FILE   "librlock-tls.so.0"
#define RLOCK__TLS_MODULE_SYMBOL "rlock__tls_module"

struct rlock__tls_session;

/* The one thing that the module exports. The functions are those of tls.h. */
struct rlock__tls_module {
    const char *version; /* of the library it was built with: no other can use it */
    enum rlock__io (*open)(struct rlock__tls_session **out, int fd,
                           const struct rlock__tls_config *config, const char *host,
                           struct rlock__error *error);
    enum rlock__io (*handshake)(struct rlock__tls_session *session, short *events,
                                struct rlock__error *error);
    enum rlock__io (*read)(struct rlock__tls_session *session, char *to, size_t size, size_t *n,
                           short *events, struct rlock__error *error);
    enum rlock__io (*write)(struct rlock__tls_session *session, const char *from, size_t size,
                            size_t *n, short *events, struct rlock__error *error);
    void (*close)(struct rlock__tls_session *session);
};
RLOCK_API extern const struct rlock__tls_module rlock__tls_module;

/* The module: loaded from a file of its own, or in a static program a part of it. NULL: error says
 * why there is none. May be called from any thread. */
const struct rlock__tls_module *rlock__tls_load(struct rlock__error *error);

#endif
