/* tls.c: loads the module for TLS on first use.
 *
 * It is found by where the library is, or the program that it is a part of. A RUNPATH would find
 * it, too, but in every run the loader would look there for libc first, in some 36 places. */
#include "tls/tls.h"

#ifdef RLOCK_TLS_LINKED /* the static program has the module in itself */

const struct rlock__tls_module *rlock__tls_load(struct rlock__error *error) {
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

const struct rlock__tls_module *rlock__tls_load(struct rlock__error *error) {
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
