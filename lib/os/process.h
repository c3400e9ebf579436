/* process.h: which process a number means. */
#ifndef RLOCK_PROCESS_H
#define RLOCK_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

#define RLOCK__PID_SPACE_SIZE 64

/* Where process numbers mean the same as here: the boot of this machine, and our PID namespace
 * (pid_namespaces(7)), of printable ASCII. Returns out; "": it cannot be told. */
const char *rlock__pid_space(char out[RLOCK__PID_SPACE_SIZE]);

/* Whether a process of that space is known to have ended. Of another space, or "", none is. */
bool rlock__process_ended(const char *pid_space, int64_t pid);

#endif
