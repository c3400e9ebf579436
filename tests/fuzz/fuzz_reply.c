/* fuzz_reply.c: what comes over a connection, in two pieces: replies, or the end of it. */
#include "fuzz.h"

#include <sys/socket.h>
#include <unistd.h>

#include "redis/conn.h"

enum { MOST = 64 * 1024 }; /* what a socket takes without a reader */

static void look_at(const rlock__reply *reply, int depth) {
    int64_t number;
    (void)rlock__reply_error(reply);
    (void)rlock__reply_is_ok(reply);
    (void)rlock__reply_string(reply);
    if (rlock__reply_number(reply, &number))
        assert(number <= RLOCK__NUMBER_MOST && number >= -RLOCK__NUMBER_MOST);
    assert(depth <= RLOCK__RESP_DEPTH);
    for (size_t i = 0; i < rlock__reply_count(reply); i++)
        look_at(rlock__reply_at(reply, i), depth + 1);
    assert(rlock__reply_at(reply, rlock__reply_count(reply)) == NULL);
}

/* Takes what is there. Returns what ended it: nothing more yet, or a connection that is dead, and
 * stays so. */
static enum rlock__io receive_all(struct rlock__conn *conn, size_t size) {
    struct rlock__error error = {""};
    rlock__reply *reply;
    enum rlock__io io;
    while ((io = rlock__conn_receive(conn, 0, &reply, &error)) == RLOCK__IO_DONE) {
        assert(rlock__reply_count(reply) <= size);
        look_at(reply, 0);
        rlock__reply_free(reply);
    }
    if (io == RLOCK__IO_BROKEN) {
        assert(error.text[0] != '\0');
        io = rlock__conn_receive(conn, 0, &reply, &error);
        assert(io == RLOCK__IO_BROKEN);
    }
    return io;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const size_t half = size / 2;
    int sockets[2];
    struct rlock__conn conn = RLOCK__CONN_INIT;
    struct rlock__error error = {""};
    if (size > MOST)
        return 0;
    const int made = socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, sockets);
    assert(made == 0);
    conn.fd = sockets[0];
    if (rlock__conn_finish(&conn, NULL, NULL, &error) == RLOCK__IO_DONE &&
        write(sockets[1], data, half) == (ssize_t)half) {
        const bool dead = receive_all(&conn, size) == RLOCK__IO_BROKEN;
        if (write(sockets[1], data + half, size - half) == (ssize_t)(size - half)) {
            shutdown(sockets[1], SHUT_WR);
            enum rlock__io io;
            while ((io = receive_all(&conn, size)) == RLOCK__IO_WAIT)
                assert(!dead);
            assert(io == RLOCK__IO_BROKEN);
        }
    }
    rlock__conn_close(&conn);
    close(sockets[1]);
    return 0;
}
