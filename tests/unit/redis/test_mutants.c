/* test_mutants.c: replies with bytes changed, cut out and repeated, in random pieces: whatever
 * comes of them, nothing falls over, and a connection that is dead stays dead. The same ones each
 * time. */
#include "support/test.h"

#include <hiredis/hiredis.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "redis/conn.h"

enum { ROUNDS = 20000, TEXT_MAX = 2048 };

static const char *const seeds[] = {
    "*3\r\n:1\r\n:17\r\n:30000\r\n",
    "*9\r\n:0\r\n:29123\r\n:3\r\n$7\r\nu:1@web\r\n$3\r\nweb\r\n:4242\r\n$5\r\nalice\r\n$3\r\n./"
    "a\r\n:-1\r\n",
    "*3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$11\r\nfirst 30000\r\n",
    "*2\r\n*3\r\n:0\r\n:8191\r\n*3\r\n$9\r\n127.0.0.1\r\n:7000\r\n*0\r\n*2\r\n:8192\r\n*-1\r\n",
    "-MOVED 3999 10.0.0.1:6381\r\n+OK\r\n-LOADING\r\n$-1\r\n",
    "*5\r\n:1\r\n:9\r\n:0\r\n$1\r\n0\r\n*2\r\n$1\r\na\r\n$0\r\n\r\n",
};
static const char *const pieces[] = {
    "\r\n",
    "*1\r\n",
    "*-1\r\n",
    "*0\r\n",
    "*65536\r\n",
    "$-1\r\n",
    "$1048576\r\n",
    "$3\r\n",
    ":9223372036854775807\r\n",
    ":-9223372036854775808\r\n",
    "\r",
    "\n",
    "+",
    "-",
    "%1\r\n",
    ">2\r\n",
    "99999999999999999999",
    "_\r\n",
    "*7\r\n*7\r\n*7\r\n*7\r\n*7\r\n*7\r\n*7\r\n*7\r\n",
    "-1",
};

static uint32_t next(uint32_t *state, uint32_t below) { /* xorshift; G. Marsaglia */
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state % below;
}

static size_t insert(char *text, size_t size, size_t at, const char *what, size_t length) {
    if (size + length > TEXT_MAX)
        return size;
    memmove(text + at + length, text + at, size - at);
    memcpy(text + at, what, length);
    return size + length;
}

/* Some replies behind each other, with a few mistakes. */
static size_t mutate(char *text, uint32_t *random) {
    size_t size = 0;
    for (uint32_t n = 1 + next(random, 3); n > 0; n--) {
        const char *seed = seeds[next(random, COUNT(seeds))];
        size = insert(text, size, size, seed, strlen(seed));
    }
    for (uint32_t n = next(random, 5); n > 0 && size > 0; n--) {
        const size_t at = next(random, (uint32_t)size);
        const size_t length = next(random, (uint32_t)(size - at)) % 16;
        const char *piece = pieces[next(random, COUNT(pieces))];
        char copy[16];
        switch (next(random, 4)) {
        case 0: text[at] = (char)next(random, 256); break;
        case 1: size = insert(text, size, at, piece, strlen(piece)); break;
        case 2:
            memcpy(copy, text + at, length);
            size = insert(text, size, at, copy, length);
            break;
        default: memmove(text + at, text + at + length, size - at - length); size -= length;
        }
    }
    return size;
}

/* Asks for all that there is to ask. Returns how many elements there are. */
static size_t walk(const rlock__reply *reply, unsigned depth) {
    int64_t number = 0;
    size_t count = 1;
    const char *error = rlock__reply_error(reply), *text = rlock__reply_string(reply);
    assert_in_range(depth, 0, RLOCK__RESP_DEPTH);
    assert_false(error != NULL && text != NULL);
    count += error != NULL ? strlen(error) : text != NULL ? strlen(text) : 0;
    (void)rlock__reply_is_ok(reply);
    if (rlock__reply_number(reply, &number))
        assert_true(number <= RLOCK__NUMBER_MOST && number >= -RLOCK__NUMBER_MOST);
    for (size_t i = 0; i < rlock__reply_count(reply); i++)
        count += walk(rlock__reply_at(reply, i), depth + 1);
    return count;
}

/* What comes is at most what went in, and after the first failure there is nothing any more. */
static void receive_all(struct rlock__conn *conn, size_t size, bool *dead) {
    struct rlock__error error = {""};
    rlock__reply *reply = NULL;
    enum rlock__io io;
    while ((io = rlock__conn_receive(conn, &reply, &error)) == RLOCK__IO_DONE) {
        assert_false(*dead);
        assert_in_range(walk(reply, 0), 1, size);
        rlock__reply_free(reply);
    }
    if (io == RLOCK__IO_WAIT)
        assert_false(*dead);
    else
        assert_int_equal(io, RLOCK__IO_BROKEN);
    *dead = io == RLOCK__IO_BROKEN;
    assert_true(!*dead || *error.text != '\0');
}

static void nothing_falls_over(void **state) {
    (void)state;
    uint32_t random = 20260101;
    size_t died = 0;
    for (unsigned round = 0; round < ROUNDS; round++) {
        char text[TEXT_MAX];
        const size_t size = mutate(text, &random);
        int fds[2];
        bool dead = false;
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds),
                         0);
        struct rlock__conn conn = {.fd = fds[0], .reader = redisReaderCreate()};
        for (size_t sent = 0, n; sent < size; sent += n) {
            n = 1 + next(&random, (uint32_t)(size - sent));
            assert_int_equal(send(fds[1], text + sent, n, 0), n);
            receive_all(&conn, size, &dead);
        }
        died += dead;
        rlock__conn_close(&conn);
        close(fds[1]);
    }
    assert_in_range(died, ROUNDS / 10, ROUNDS - ROUNDS / 10); /* of both enough */
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_falls_over)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
