/* self.h: what a process of ours changes about itself: its descriptors, its words, its priority. */
#ifndef RLOCK_CMD_SELF_H
#define RLOCK_CMD_SELF_H

#include <stddef.h>
#include <sys/types.h>

/* Closes all descriptors but the standard ones and those in kept, in any order; -1 stands for none.
 * Safe after fork: no memory is allocated. */
void self_close_others(const int *kept, size_t count);

/* Standard input, output and error become null, a descriptor of /dev/null, which is closed. */
void self_leave_streams(int null);

/* Call first, with what main() got: self_set_title() overwrites it. */
void self_note_arguments(int argc, char **argv);

/* Replaces the arguments by one word, as ps(1) shows them and pkill -f reads them: nothing may need
 * them any more. */
void self_set_title(const char *word);

/* From here on no ordinary process delays the calling thread, where that is allowed (sched(7),
 * CAP_SYS_NICE or RLIMIT_RTPRIO); else few do, or nothing changes. What it forks is ordinary again.
 * And its process is not ended for want of memory, where that is allowed (CAP_SYS_RESOURCE). Any
 * thread. */
void self_raise_priority(void);

/* waitpid(2), without the priority that self_raise_priority() has given to the calling thread. */
pid_t self_reap(pid_t pid, int *status, int options);

#endif
