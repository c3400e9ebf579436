/* url.h: reads a server's URL. */
#ifndef RLOCK_URL_H
#define RLOCK_URL_H

#include <stdbool.h>
#include <stddef.h>

#include "error.h"

enum rlock__transport { RLOCK__TCP, RLOCK__UNIX };

/* One server. All texts lie in `text` or are NULL. */
struct rlock__server {
    enum rlock__transport transport;
    const char *host; /* without brackets; TCP */
    const char *port; /* decimal; TCP */
    const char *path; /* UNIX */
    const char *user;
    const char *password;
    int db;
    char *text; /* the storage, text_size bytes */
    size_t text_size;
    char *redacted; /* the URL for messages, its password left out */
};

/* Reads redis://[user[:password]@]host[:port][/db] and unix:///path[?db=N]; %XX is decoded in user,
 * password and path. On true free it with rlock__server_free. False: error says what is wrong,
 * without showing a password. */
bool rlock__server_parse(struct rlock__server *out, const char *url, struct rlock__error *error);
void rlock__server_free(struct rlock__server *server);

#endif
