/* fuzz_reply.c: what comes over a connection: replies, or the end of it. */
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    int sockets[2];
    struct rlock__conn conn = RLOCK__CONN_INIT;
    struct rlock__error error = {""};
    rlock__reply *reply;
    enum rlock__io io;
    if (size > MOST)
        return 0;
    const int made = socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, sockets);
    assert(made == 0);
    conn.fd = sockets[0];
    io = rlock__conn_finish(&conn, NULL, NULL, &error);
    if (io == RLOCK__IO_DONE && write(sockets[1], data, size) == (ssize_t)size) {
        shutdown(sockets[1], SHUT_WR);
        do {
            io = rlock__conn_receive(&conn, &reply, &error);
            if (io == RLOCK__IO_DONE) {
                look_at(reply, 0);
                rlock__reply_free(reply);
            }
        } while (io == RLOCK__IO_DONE || io == RLOCK__IO_WAIT);
        assert(error.text[0] != '\0');
    }
    rlock__conn_close(&conn);
    close(sockets[1]);
    return 0;
}
