/* local_url.c: which directory, and which socket, a local: URL names. */
#include "options/local_url.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "options/percent.h"

bool local_is(const char *server) {
    return strncmp(server, LOCAL_PREFIX, sizeof LOCAL_PREFIX - 1) == 0;
}

/* Decoded: "%2F" is a slash, too. */
bool local_is_relative(const char *server) {
    const char *dir = server + sizeof LOCAL_PREFIX - 1;
    return *dir != '\0' && *dir != '/' && strncasecmp(dir, "%2f", 3) != 0;
}

char *local_dir(const char *server) {
    char *dir = percent_decode(server + sizeof LOCAL_PREFIX - 1), *here = NULL, *made = NULL;
    int n = -1;
    if (dir != NULL && *dir == '\0')
        n = geteuid() == 0 ? asprintf(&made, "/run/rlock")
                           : asprintf(&made, "/tmp/rlock-%ld", (long)geteuid());
    else if (dir != NULL && *dir == '/')
        n = asprintf(&made, "%s", dir);
    else if (dir != NULL && (here = getcwd(NULL, 0)) != NULL)
        n = asprintf(&made, "%s/%s", here, dir);
    free(here);
    free(dir);
    if (n < 0)
        return NULL;
    /* With a slash behind it a symbolic link is what it leads to, also for O_NOFOLLOW. */
    for (size_t length = (size_t)n; length > 1 && made[length - 1] == '/'; length--)
        made[length - 1] = '\0';
    return made;
}

char *local_socket(const char *server) {
    char *dir = local_dir(server), *path = NULL;
    const int n = dir != NULL ? asprintf(&path, "%s/redis.sock", dir) : -1;
    free(dir);
    return n < 0 ? NULL : path;
}
