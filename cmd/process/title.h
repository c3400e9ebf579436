/* title.h: the words of a process of ours, as ps(1) shows them and pkill -f reads them. */
#ifndef RLOCK_CMD_TITLE_H
#define RLOCK_CMD_TITLE_H

/* Call first, with what main() got. */
void title_setup(int argc, char **argv);

/* Puts one word in the place of the arguments: nothing may need them any more. */
void title_set(const char *word);

#endif
