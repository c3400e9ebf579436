/* local.h: `local:`, a private redis-server for one machine, started on first use. */
#ifndef RLOCK_CMD_LOCAL_H
#define RLOCK_CMD_LOCAL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/un.h>

/* Gives the URL of DIR's server, unix://DIR/redis.sock, and DIR as an absolute `local:` URL; both
 * are the caller's to free. Returns 0, or the exit status after a message. */
int local_name(const char *server, char **url, char **absolute);

/* Makes sure that it runs. Returns 0, or the exit status after a message. Call while the process
 * has one thread. absolute: as local_name() gave it. */
int local_start(const char *absolute, int64_t timeout_ms);

/* Starts it again if it has died, and waits for at most that long until it is ready: 0 will do
 * where somebody tries on. Prints nothing but with -v. May be called beside other
 * threads. False: it is not there, or not yet. */
bool local_revive(const char *absolute, int64_t timeout_ms);

/* local_server.c: a redis-server that belongs to nobody: started, and asked whether it is there. */
struct local_server {
    const char *dir; /* its data's, absolute */
    int dir_fd;
    struct sockaddr_un address; /* of its socket, in there */
};

/* Somebody listens. */
bool local_server_listens(const struct local_server *server);

/* It has read its data, too: a server that is loading would refuse the first users. */
bool local_server_is_ready(const struct local_server *server);

/* Starts it, and returns when it is on its way: 0, or why not (errno). It has a session of its own,
 * is nobody's child, and keeps no descriptor but dir_fd, so that a flock(2) on that is held for as
 * long as it lives. May be called beside other threads. */
int local_server_start(const struct local_server *server);

/* trust.c: a directory that nobody else can put another one in the place of. */
struct trust {
    bool refused;   /* it is there, or something on the way is, and not to be trusted; else errno */
    char why[1024]; /* one line */
};

/* Opens the directory of that absolute path, making it (0700) if it is not there: ours, closed to
 * others, no symbolic link, and below none in which others may rename things. -1: why not. Its path
 * leads to the same directory from then on, unless root or we change that. */
int trust_open(const char *path, struct trust *trust);

#endif
