/* keys.h: the key q on the terminal of rlock status --watch. */
#ifndef RLOCK_CMD_KEYS_H
#define RLOCK_CMD_KEYS_H

/* Lets the terminal on standard input pass on each key at once, if this job has it. Call it before
 * each wait: another job may have had the terminal since. Returns the descriptor to poll for input;
 * -1: none. */
int keys_listen(void);

/* Takes what was typed. q ends the process as Ctrl-C does. */
void keys_read(void);

/* Gives the terminal back as it was. A signal that ends or stops the process does so, too. */
void keys_end(void);

#endif
