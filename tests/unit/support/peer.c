/* peer.c: a server that says what the test tells it to. */
#include "support/peer.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

const char PEER_CLOSE[] = "close", PEER_SILENT[] = "silent";

/* Also called on the peer's thread, out of which no assertion of cmocka may jump. */
static void must(bool good, const char *what) {
    if (good)
        return;
    perror(what);
    abort();
}

/* "*3", "$5". False: the connection has ended. */
static bool read_number(FILE *in, char type, size_t *number) {
    const int first = getc(in);
    must(first == type || first == EOF, "a request in RESP");
    return first == type && fscanf(in, "%zu%*2c", number) == 1;
}

static bool read_request(struct peer *peer, FILE *in, size_t connection) {
    size_t count, size;
    if (!read_number(in, '*', &count))
        return false;
    must(peer->request_count < PEER_REQUESTS_MAX && count <= PEER_WORDS_MAX, "a request that fits");
    struct peer_request *request = &peer->requests[peer->request_count++];
    request->connection = connection;
    for (; request->word_count < count; request->word_count++) {
        if (!read_number(in, '$', &size))
            return false;
        must(size + 2 <= sizeof peer->bytes - peer->byte_count, "words that fit");
        char *data = peer->bytes + peer->byte_count;
        peer->byte_count += size + 2;
        request->words[request->word_count].data = data;
        request->words[request->word_count].size = size;
        must(fread(data, 1, size + 2, in) == size + 2, "a whole request");
        data[size] = '\0';
    }
    return true;
}

/* Until the client, or the script, closes it. */
static void serve(struct peer *peer, FILE *in, size_t connection) {
    while (read_request(peer, in, connection)) {
        const char *answer = *peer->script != NULL ? *peer->script++ : PEER_CLOSE;
        if (answer == PEER_CLOSE)
            return;
        if (answer != PEER_SILENT && send(fileno(in), answer, strlen(answer), MSG_NOSIGNAL) < 0)
            return;
    }
}

static void *peer_main(void *arg) {
    struct peer *peer = arg;
    for (size_t connection = 1;; connection++) {
        FILE *in = fdopen(accept(peer->fd, NULL, NULL), "r");
        if (in == NULL)
            return NULL; /* shut down by peer_stop() */
        serve(peer, in, connection);
        (void)fclose(in);
    }
}

static void open_socket(struct peer *peer, const struct sockaddr *address, socklen_t size) {
    peer->fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    must(peer->fd >= 0, "socket");
    must(bind(peer->fd, address, size) == 0, "bind");
    must(listen(peer->fd, 8) == 0, "listen");
}

void peer_serve(struct peer *peer, const char *const *script) {
    peer->script = script; /* the thread's from now on */
    peer->is_serving = true;
    must(pthread_create(&peer->thread, NULL, peer_main, peer) == 0, "pthread_create");
}

void peer_start(struct peer *peer, const char *const *script) {
    *peer = (struct peer){.fd = -1, .path = "/tmp/rlock-there-is-none"};
    if (script == NULL)
        return;
    peer_listen(peer);
    peer_serve(peer, script);
}

void peer_listen(struct peer *peer) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    *peer = (struct peer){.directory = "/tmp/rlock-peer-XXXXXX"};
    must(mkdtemp(peer->directory) != NULL, "mkdtemp");
    (void)snprintf(peer->path, sizeof peer->path, "%s/sock", peer->directory);
    (void)snprintf(address.sun_path, sizeof address.sun_path, "%s", peer->path);
    open_socket(peer, (const struct sockaddr *)&address, sizeof address);
}

void peer_listen_tcp(struct peer *peer) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    *peer = (struct peer){.fd = -1};
    open_socket(peer, (const struct sockaddr *)&address, size);
    must(getsockname(peer->fd, (struct sockaddr *)&address, &size) == 0, "getsockname");
    (void)snprintf(peer->port, sizeof peer->port, "%d", ntohs(address.sin_port));
}

void peer_stop(struct peer *peer) {
    if (peer->fd < 0)
        return;
    (void)shutdown(peer->fd, SHUT_RDWR);
    if (peer->is_serving)
        pthread_join(peer->thread, NULL);
    close(peer->fd);
    if (peer->port[0] != '\0')
        return;
    unlink(peer->path);
    rmdir(peer->directory);
}

const char *peer_asked(const struct peer *peer) {
    static char text[4096];
    size_t length = 0;
    text[0] = '\0';
    for (size_t i = 0; i < peer->request_count; i++) {
        const struct peer_request *request = &peer->requests[i];
        const bool first = request->connection != (i > 0 ? request[-1].connection : 0);
        const char *between = i == 0 ? "" : first ? " | " : "; ";
        for (size_t k = 0; k < request->word_count && length < sizeof text; k++) {
            const char *before = k > 0 ? " " : between;
            length += (size_t)snprintf(text + length, sizeof text - length, "%s%s", before,
                                       request->words[k].data);
        }
    }
    return text;
}
