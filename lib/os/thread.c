/* thread.c: a thread of the library's own. */
#include "os/thread.h"

enum { ROOM = 256 * 1024 };

/* glibc takes the program's thread-local data out of a thread's stack. Where stacks are small
 * (ulimit -s), the default size has room for that data and for little else. What of a stack is not
 * used costs address space only. */
int rlock__thread_start(pthread_t *thread, void *(*run)(void *), void *argument) {
    pthread_attr_t attributes;
    size_t size;
    int error = pthread_attr_init(&attributes);
    if (error != 0)
        return error;
    error = pthread_attr_getstacksize(&attributes, &size);
    if (error == 0)
        error = pthread_attr_setstacksize(&attributes, size + ROOM);
    if (error == 0)
        error = pthread_create(thread, &attributes, run, argument);
    (void)pthread_attr_destroy(&attributes);
    return error;
}
