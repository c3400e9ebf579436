/* not_run.h: why a command could not be run, in words that say what to do. */
#ifndef RLOCK_CMD_NOT_RUN_H
#define RLOCK_CMD_NOT_RUN_H

enum { NOT_RUN_SIZE = 512 };

/* What execvp(3) of that word failed with, as errno: "command not found". Looks at the file again:
 * errno says the same of a script whose interpreter is missing. Returns the text. */
const char *not_run_why(char text[NOT_RUN_SIZE], const char *command, int why);

#endif
