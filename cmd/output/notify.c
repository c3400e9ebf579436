/* notify.c: tells systemd how things stand: a hot standby is a service that waits for its lock.
 *
 * The protocol is one datagram, and its manual says that it is stable and may be written anew
 * (sd_notify(3), "Standalone Implementations"): libsystemd is not worth loading for that. */
#include "output/out.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { MESSAGE_SIZE = 1024 };

/* A datagram has one assignment a line: a newline in a stranger's command would begin another. */
static void write_message(char message[MESSAGE_SIZE], const char *state, const char *text) {
    char status[MESSAGE_SIZE / 2];
    (void)snprintf(status, sizeof status, "%s", text);
    out_make_printable(status);
    (void)snprintf(message, MESSAGE_SIZE, "%sSTATUS=%s", state, status);
}

void notify(const char *state, const char *text) {
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char message[MESSAGE_SIZE];
    const size_t size = path != NULL ? strlen(path) : 0;
    /* A path's NUL may be missing where there is no room for it: an abstract name has none. */
    if (size == 0 || (*path != '/' && *path != '@') || size > sizeof address.sun_path)
        return;
    memcpy(address.sun_path, path, size);
    if (*path == '@') /* an abstract socket: its name begins with a NUL, and has none behind */
        address.sun_path[0] = '\0';
    write_message(message, state, text);
    const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return;
    (void)sendto(fd, message, strlen(message), MSG_NOSIGNAL, (const struct sockaddr *)&address,
                 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + size));
    close(fd);
}
