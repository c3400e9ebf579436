/* tls.c: loads the module for TLS on first use, and passes everything on to it.
 *
 * It is found by where the library is, or the program that it is a part of. A RUNPATH would find
 * it, too, but in every run the loader would look there for libc first, in some 36 places. */
#include "tls/tls.h"

#include <stdlib.h>

#ifdef RLOCK_TLS_LINKED /* the static program has the module in itself */

static const struct rlock__tls_module *load(struct rlock__error *error) {
    (void)error;
    return &rlock__tls_module;
}

#else

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

/* The file that this code is part of. For a program the loader knows only argv[0]. */
static bool find_ourselves(char path[PATH_MAX]) {
    static const char ours[] = "";
    const void *start = (const void *)getauxval(AT_ENTRY); /* NOLINT(performance-no-int-to-ptr) */
    Dl_info us, program;
    if (dladdr(ours, &us) == 0 || dladdr(start, &program) == 0)
        return false;
    if (us.dli_fbase != program.dli_fbase)
        return snprintf(path, PATH_MAX, "%s", us.dli_fname) < PATH_MAX;
    const ssize_t size = readlink("/proc/self/exe", path, PATH_MAX - 1);
    path[size > 0 ? size : 0] = '\0';
    return size > 0;
}

/* Looks beside the library; for the program, where the library is in a build or an installation.
 * Otherwise the loader finds the module, or says that there is none. Each session opens it once
 * more, and none closes it: OpenSSL must not be unmapped. */
static void *open_module(void) {
    static const char *const places[] = {"", "../lib/", RLOCK_LIB_FROM_BIN "/"};
    const int flags = RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE;
    char us[PATH_MAX], path[PATH_MAX];
    const char *slash = find_ourselves(us) ? strrchr(us, '/') : NULL;
    for (size_t i = 0; slash != NULL && i < sizeof places / sizeof places[0]; i++) {
        const int size = snprintf(path, sizeof path, "%.*s%s%s", (int)(slash + 1 - us), us,
                                  places[i], RLOCK__TLS_MODULE_FILE);
        if (size < PATH_MAX && access(path, F_OK) == 0)
            return dlopen(path, flags);
    }
    return dlopen(RLOCK__TLS_MODULE_FILE, flags);
}

/* May be called from any thread. NULL: error says why there is none. */
static const struct rlock__tls_module *load(struct rlock__error *error) {
    void *handle = open_module();
    const struct rlock__tls_module *module =
        handle != NULL ? dlsym(handle, RLOCK__TLS_MODULE_SYMBOL) : NULL;
    if (module != NULL && strcmp(module->version, RLOCK_VERSION) == 0)
        return module;
    if (module != NULL)
        rlock__error_set(error, "no TLS: %s is of version %s, and this is %s",
                         RLOCK__TLS_MODULE_FILE, module->version, RLOCK_VERSION);
    else /* dlerror() names the file */
        rlock__error_set(error, "no TLS: cannot load its module: %s", dlerror());
    return NULL;
}

#endif

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
    tls->module = load(error);
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
