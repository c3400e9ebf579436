/* url.h: reads a server's URL. */
#ifndef RLOCK_URL_H
#define RLOCK_URL_H

#include <stdbool.h>
#include <stddef.h>

#include "os/error.h"
#include "rlock.h"

enum rlock__topology {
    RLOCK__SINGLE,
    RLOCK__SENTINEL, /* the hosts are Sentinels, which know the server */
    RLOCK__CLUSTER   /* the hosts are some of its nodes, which know the others */
};

enum { RLOCK__HOSTS_MAX = 16 };

struct rlock__host {
    const char *name; /* without brackets */
    const char *port; /* decimal */
};

/* What one URL names. All texts lie in `text` or are NULL. */
struct rlock__server {
    enum rlock__topology topology;
    bool tls;
    size_t host_count; /* 0: a Unix socket */
    struct rlock__host hosts[RLOCK__HOSTS_MAX];
    const char *path;   /* of the socket */
    const char *master; /* what the Sentinels call it */
    const char *user;
    const char *password;
    int db;
    char *text; /* the storage, text_size bytes */
    size_t text_size;
    char *redacted; /* the URL for messages, its password left out */
};

/* Reads redis[s]://[user[:password]@]host[:port][/db], unix:///path[?db=N],
 * sentinel[s]://[user[:password]@]host[:port],.../name[/db] and
 * cluster[s]://[user[:password]@]host[:port],...; %XX is decoded in user, password, path and name.
 * After RLOCK_OK free it with rlock__server_free. RLOCK_INVALID, or RLOCK_SYSTEM for no memory:
 * error says what is wrong, without showing a password. */
enum rlock_status rlock__server_parse(struct rlock__server *out, const char *url,
                                      struct rlock__error *error);
void rlock__server_free(struct rlock__server *server);

#endif
