/* foreign.h: words that people bring from other programs, and ours for them. Only those that are
 * typed out of habit; rlock-cookbook(7) has the others. */
#ifndef RLOCK_CMD_FOREIGN_H
#define RLOCK_CMD_FOREIGN_H

/* Our command in place of another program's: "rlock run"; NULL: none in particular. */
const char *foreign_command(const char *word);

/* Another program's option, without its dashes. */
struct foreign_option {
    const char *word;
    /* What may be meant, the likeliest first: an option, if the command has it, or what is none:
     * "rlock read". */
    const char *ours[2];
    const char *needless; /* why it can be left out; NULL: it cannot */
};

/* NULL: none of theirs. */
const struct foreign_option *foreign_option(const char *word);

#endif
