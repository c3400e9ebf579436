/* local_server.h: a redis-server that belongs to nobody: started, and asked whether it is there. */
#ifndef RLOCK_CMD_LOCAL_SERVER_H
#define RLOCK_CMD_LOCAL_SERVER_H

#include <stdbool.h>
#include <sys/un.h>

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

#endif
