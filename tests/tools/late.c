/* late.c: preloaded, a machine on which one call, $LATE, takes half a second. For what comes just
 * then. */
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void *real(const char *name) {
    static const struct timespec half = {0, 500000000};
    const char *late = getenv("LATE");
    if (late != NULL && strcmp(late, name) == 0)
        nanosleep(&half, NULL);
    return dlsym(RTLD_NEXT, name);
}

int timer_create(clockid_t clock, struct sigevent *event, timer_t *timer) {
    return ((int (*)(clockid_t, struct sigevent *, timer_t *))real("timer_create"))(clock, event,
                                                                                    timer);
}

int pipe2(int pipe[2], int flags) {
    return ((int (*)(int *, int))real("pipe2"))(pipe, flags);
}
