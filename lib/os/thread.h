/* thread.h: a thread of the library's own. */
#ifndef RLOCK_THREAD_H
#define RLOCK_THREAD_H

#include <pthread.h>

/* Starts a thread with room for what the library does in one, whatever the program that uses it
 * keeps for each thread. thread: yours to join or to detach. Returns 0, or an errno. */
int rlock__thread_start(pthread_t *thread, void *(*run)(void *), void *argument);

#endif
