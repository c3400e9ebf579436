/* ancestor.c: a lock that is held by an rlock around this one, which cannot know it any more. */
#include "hold/ancestor.h"

#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "process/proc.h"

enum { GENERATIONS_MAX = 1000 }; /* as numbers are used again while we look, it might go round */

const char ancestor_advice[] =
    "that rlock is an ancestor of this one, whose environment was cleared (sudo, env -i): it "
    "cannot re-enter and waits for itself; pass on RLOCK_HOLDS";

static bool is_ancestor(int64_t pid) {
    int64_t at = getppid();
    for (int i = 0; i < GENERATIONS_MAX && at > 0 && at != pid; i++)
        at = proc_parent((pid_t)at);
    return at == pid;
}

bool ancestor_holds(const struct rlock_holder *holder, const struct environment *enclosing) {
    struct utsname here;
    if (holder->pid <= 0 || holder->kept || uname(&here) != 0 ||
        strcmp(here.nodename, holder->host) != 0)
        return false;
    for (size_t i = 0; i < enclosing->count; i++) {
        if (strcmp(enclosing->proofs[i].owner, holder->owner) == 0)
            return false;
    }
    return is_ancestor(holder->pid);
}
