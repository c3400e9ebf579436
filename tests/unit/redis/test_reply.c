/* test_reply.c: what comes over a connection, in whatever pieces, and what is no reply at all. */
#include "support/test.h"

#include <hiredis/hiredis.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "redis/conn.h"

/* Our end is an rlock__conn, the other is the test's. */
struct pipe {
    struct rlock__conn conn;
    int peer;
    struct rlock__error error;
};

static void pipe_open(struct pipe *pipe) {
    int fds[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds), 0);
    *pipe = (struct pipe){.conn = {.fd = fds[0], .resp = rlock__resp_new()}, .peer = fds[1]};
    assert_non_null(pipe->conn.resp);
}

static void pipe_close(struct pipe *pipe) {
    rlock__conn_close(&pipe->conn);
    close(pipe->peer);
}

static void say(struct pipe *pipe, const char *bytes, size_t size) {
    assert_int_equal(send(pipe->peer, bytes, size, MSG_NOSIGNAL), size);
}

static enum rlock__io receive(struct pipe *pipe, rlock__reply **out) {
    *out = NULL;
    return rlock__conn_receive(&pipe->conn, 0, out, &pipe->error);
}

/* The reply to read from that text, from a connection of its own. Yours to free. */
static rlock__reply *reply_of(const char *text) {
    struct pipe pipe;
    rlock__reply *reply;
    pipe_open(&pipe);
    say(&pipe, text, strlen(text));
    if (receive(&pipe, &reply) != RLOCK__IO_DONE)
        fail_msg("%s: %s", text, pipe.error.text);
    pipe_close(&pipe);
    return reply;
}

static const char busy[] = "*9\r\n:0\r\n:29123\r\n:3\r\n$7\r\nu:1@web\r\n$3\r\nweb\r\n:4242\r\n"
                           "$5\r\nalice\r\n$9\r\n./a\r\n  b$\r\n:-1\r\n";

static void check_busy(const rlock__reply *reply) {
    int64_t number = 77;
    assert_null(rlock__reply_error(reply));
    assert_int_equal(rlock__reply_count(reply), 9);
    assert_true(rlock__reply_integer(reply, 1, &number));
    assert_int_equal(number, 29123);
    assert_true(rlock__reply_integer(reply, 8, &number));
    assert_int_equal(number, -1);
    assert_string_equal(rlock__reply_text(reply, 3), "u:1@web");
    assert_string_equal(rlock__reply_text(reply, 7), "./a\r\n  b$");
    /* Neither is taken for the other, and nothing stands behind the end. */
    assert_null(rlock__reply_text(reply, 1));
    assert_null(rlock__reply_text(reply, 9));
    assert_false(rlock__reply_integer(reply, 3, &number));
    assert_false(rlock__reply_integer(reply, 9, &number));
    assert_int_equal(number, -1);
}

TEST(a_reply_may_be_cut_anywhere) {
    for (size_t i = 0; i < 2 * (sizeof busy - 1); i++) {
        const size_t cut = i / 2;
        struct pipe pipe;
        rlock__reply *reply;
        pipe_open(&pipe);
        say(&pipe, busy, cut);
        assert_int_equal(receive(&pipe, &reply), RLOCK__IO_WAIT);
        assert_int_equal(pipe.conn.events, POLLIN);
        assert_null(reply);
        if (i % 2 == 0) { /* the rest comes later */
            say(&pipe, busy + cut, sizeof busy - 1 - cut);
            assert_int_equal(receive(&pipe, &reply), RLOCK__IO_DONE);
            check_busy(reply);
            rlock__reply_free(reply);
        } else { /* or never */
            assert_int_equal(shutdown(pipe.peer, SHUT_WR), 0);
            assert_int_equal(receive(&pipe, &reply), RLOCK__IO_BROKEN);
            assert_null(reply);
            assert_string_equal(pipe.error.text, "the server closed the connection");
        }
        pipe_close(&pipe);
    }
}

/* Replies that are well formed, but have no fields of ours; and only "+OK" is OK. */
TEST(odd_replies_have_no_fields) {
    static const char *const odd[] = {
        "+OK\r\n",       "+OKAY\r\n",
        "+ok\r\n",       "-OK\r\n",
        "$2\r\nOK\r\n",  ":1\r\n",
        "$-1\r\n",       "*-1\r\n",
        "*0\r\n",        "*1\r\n$1\r\n1\r\n",
        "*1\r\n$-1\r\n", "*1\r\n*-1\r\n",
        "*1\r\n*0\r\n",  "*1\r\n-ERR 1\r\n",
        "*1\r\n+1\r\n",  "*2\r\n*1\r\n:1\r\n:5\r\n",
    };
    for (size_t i = 0; i < COUNT(odd); i++) {
        rlock__reply *reply = reply_of(odd[i]);
        int64_t number = 77;
        if (rlock__reply_integer(reply, 0, &number) || number != 77)
            fail_msg("a number in %s", odd[i]);
        if (rlock__reply_is_ok(reply) != (i == 0))
            fail_msg("%s", odd[i]);
        rlock__reply_free(reply);
    }
}

/* They are added to, and multiplied. */
TEST(numbers_are_bounded) {
    static const char text[] = "*5\r\n:9223372036854775807\r\n:-9223372036854775808\r\n:-7\r\n"
                               ":9007199254740993\r\n:-9007199254740993\r\n";
    static const int64_t most = INT64_C(1) << 53;
    const int64_t expected[] = {most, -most, -7, most, -most};
    rlock__reply *reply = reply_of(text);
    int64_t number;
    for (size_t i = 0; i < COUNT(expected); i++) {
        assert_true(rlock__reply_integer(reply, i, &number));
        assert_int_equal(number, expected[i]);
        assert_true(rlock__reply_number(rlock__reply_at(reply, i), &number));
        assert_int_equal(number, expected[i]);
    }
    rlock__reply_free(reply);
}

/* A peer that always has more to say gets a turn, not all of the time. */
TEST(what_never_stops_is_left_alone_now_and_then) {
    static const char text[] = ":1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n";
    struct pipe pipe;
    rlock__reply *reply;
    size_t received = 0;
    enum rlock__io io = RLOCK__IO_DONE;
    pipe_open(&pipe);
    for (; io == RLOCK__IO_DONE && received < 1 << 18; received++) {
        (void)send(pipe.peer, text, sizeof text - 1, MSG_NOSIGNAL);
        io = receive(&pipe, &reply);
        rlock__reply_free(reply);
    }
    assert_int_equal(io, RLOCK__IO_WAIT);
    assert_int_equal(pipe.conn.events, POLLOUT); /* which is so at once */
    assert_in_range(4 * received, 200 * 1024, 300 * 1024);
    assert_int_equal(receive(&pipe, &reply), RLOCK__IO_DONE); /* what is there is there */
    rlock__reply_free(reply);
    pipe_close(&pipe);
}

/* A stranger's text in a message: one line, and nothing that moves a terminal's cursor. */
TEST(an_errors_text_is_made_harmless) {
    struct rlock__error error;
    char longer[2000];
    rlock__error_set(&error, "%s", "a\x1b[2Jb\tc\x7f\r\nd");
    assert_string_equal(error.text, "a [2Jb c   d");
    memset(longer, 'x', sizeof longer);
    longer[sizeof longer - 1] = '\0';
    rlock__error_set(&error, "%s", longer);
    assert_int_equal(strlen(error.text), sizeof error.text - 1);
}

/* Reads what is there. Returns how much. */
static size_t drain(struct pipe *pipe) {
    static char bytes[1 << 16];
    size_t total = 0;
    ssize_t n;
    while ((n = recv(pipe->peer, bytes, sizeof bytes, 0)) > 0)
        total += (size_t)n;
    return total;
}

/* One that takes no more bytes does not hold us: it is to be polled, and then it goes on where it
 * stood. That such a wait ends is test_abandon's matter. */
TEST(sending_goes_on_where_it_stood) {
    struct pipe pipe;
    struct rlock__request request = {.bytes = NULL};
    static char much[8 << 20];
    const char *words[] = {memset(much, 'x', sizeof much - 1)};
    size_t total = 0;
    unsigned waits = 0;
    pipe_open(&pipe);
    assert_true(rlock__request_add(&request, 1, words));
    enum rlock__io io;
    while ((io = rlock__conn_send(&pipe.conn, &request, &pipe.error)) == RLOCK__IO_WAIT) {
        assert_int_equal(pipe.conn.events, POLLOUT);
        assert_in_range(request.sent, 1, request.size - 1);
        total += drain(&pipe);
        assert_int_equal(total, request.sent);
        waits++;
    }
    assert_int_equal(io, RLOCK__IO_DONE);
    total += drain(&pipe);
    assert_true(waits > 0);
    assert_int_equal(total, request.size);
    rlock__request_free(&request);
    pipe_close(&pipe);
}
