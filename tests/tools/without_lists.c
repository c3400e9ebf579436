/* without_lists.c: preloaded, a kernel without lists of children (CONFIG_PROC_CHILDREN). It is for
 * programs that are built for large files. */
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <string.h>

static int refuse(const char *path) {
    const size_t length = strlen(path), ending = strlen("/children");
    if (length < ending || strcmp(path + length - ending, "/children") != 0)
        return 0;
    errno = ENOENT;
    return 1;
}

int access(const char *path, int mode) {
    int (*const real)(const char *, int) = (int (*)(const char *, int))dlsym(RTLD_NEXT, "access");
    return refuse(path) ? -1 : real(path, mode);
}

int openat64(int dir, const char *path, int flags, ...) {
    int (*const real)(int, const char *, int, ...) =
        (int (*)(int, const char *, int, ...))dlsym(RTLD_NEXT, "openat64");
    va_list arguments;
    va_start(arguments, flags);
    const int mode = va_arg(arguments, int);
    va_end(arguments);
    return refuse(path) ? -1 : real(dir, path, flags, mode);
}
