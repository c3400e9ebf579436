/* kind.c: the table of kinds. A new kind is its scripts in lua/, a row here, and its tests. */
#include "kind.h"

#include <stdlib.h>
#include <string.h>

#include "scripts.h"

static const struct rlock__kind kinds[] = {
    {
        .name = "run",
        .acquire = &SCRIPT_MUTEX_ACQUIRE,
        .renew = &SCRIPT_MUTEX_RENEW,
        .release = &SCRIPT_MUTEX_RELEASE,
        .keys = {"*", "redisson_lock_token:{*}", "rlock_info:{*}", "rlock_hold:{*}",
                 "rlock_waiters:{*}"},
        .line = 4,
        .channel = "redisson_lock__channel:{*}",
    },
};

const struct rlock__kind *rlock__kind_find(const char *name) {
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strcmp(kinds[i].name, name) == 0)
            return &kinds[i];
    }
    return NULL;
}

char *rlock__kind_key(const char *pattern, const char *lock_name) {
    const bool has_tag = strchr(lock_name, '{') != NULL;
    char *key = malloc(strlen(pattern) + strlen(lock_name) + 1);
    if (key == NULL)
        return NULL;
    char *to = key;
    for (const char *from = pattern; *from != '\0'; from++) {
        if (*from == '*')
            to = stpcpy(to, lock_name);
        else if (!has_tag || (*from != '{' && *from != '}'))
            *to++ = *from;
    }
    *to = '\0';
    return key;
}
