/* foreign.h: words that other programs have for what stands here: flock(1), timeout(1), setlock,
 * consul, etcdctl, redis-cli, docker, kubectl, parallel, ShedLock, and what CI systems call it. */
#ifndef RLOCK_CMD_FOREIGN_H
#define RLOCK_CMD_FOREIGN_H

/* What stands here for a command of theirs, in the group of that name ("": rlock itself): "rlock
 * status"; NULL: nothing in particular. */
const char *foreign_command(const char *group, const char *word);

/* The same for an option, without its dashes. */
struct foreign_option {
    const char *word; /* in any capitals, but for a letter alone */
    /* What might be meant, the likeliest first, up to a NULL: names of options, of which not every
     * command has each; or what is none: "rlock read". */
    const char *ours[4];
    const char *needless; /* why it can be left out, where none of ours is there; NULL: it cannot */
};

/* NULL: nothing in particular. */
const struct foreign_option *foreign_option(const char *word);

#endif
