/* test_stream.c: lines for a terminal that takes a part of them. */
#include "support/test.h"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "output/stream.h"

enum { TAKEN_MAX = 1 << 17 };

static int real_stderr, master;
static char taken[TAKEN_MAX]; /* what the terminal has shown */
static size_t taken_length;

/* A terminal that nobody reads, in the place of standard error. */
static void begin(void) {
    int slave;
    struct termios raw;
    assert_int_equal(openpty(&master, &slave, NULL, NULL, NULL), 0);
    assert_int_equal(tcgetattr(slave, &raw), 0);
    cfmakeraw(&raw);
    assert_int_equal(tcsetattr(slave, TCSANOW, &raw), 0);
    assert_int_equal(dup2(slave, STDERR_FILENO), STDERR_FILENO);
    close(slave);
    assert_int_equal(fcntl(master, F_SETFL, O_NONBLOCK), 0);
    taken_length = 0;
}

/* Reads all that there is, until nothing has come for a while. */
static void drain(void) {
    struct pollfd more = {.fd = master, .events = POLLIN};
    while (poll(&more, 1, 50) > 0) {
        const ssize_t n = read(master, taken + taken_length, sizeof taken - taken_length);
        if (n <= 0)
            break;
        taken_length += (size_t)n;
    }
}

static void end(void) {
    assert_int_equal(dup2(real_stderr, STDERR_FILENO), STDERR_FILENO);
    close(master);
}

/* Lines of a length that shares no factor with the kernel's buffers, until none is taken. */
static int fill(char line[100]) {
    int said = 0;
    memset(line, 'x', 96);
    line[96] = '\n';
    for (int refused = 0; refused < 20;) {
        if (stream_say(line, 97, 0)) {
            said++;
            refused = 0;
        } else {
            refused++;
            (void)poll(NULL, 0, 5); /* the kernel moves what it has to the reader's side */
        }
    }
    return said;
}

static bool is_whole(const char *line) {
    const size_t length = strcspn(line, "\n");
    return (length == 96 && strspn(line, "x") == 96) || strncmp(line, "the end", length) == 0;
}

static void of_a_line_taken_in_part_the_rest_comes_first(void **state) {
    (void)state;
    char line[100];
    begin();
    const int said = fill(line);
    assert_true(said > 10);
    drain();
    assert_true(stream_say("the end\n", 8, 1000));
    stream_finish(1000);
    drain();
    end();
    taken[taken_length] = '\0';
    int lines = 0;
    for (const char *at = taken; *at != '\0'; at += strcspn(at, "\n") + 1, lines++)
        assert_true(is_whole(at));
    assert_int_equal(lines, said + 1);
}

static void what_no_one_reads_costs_its_patience_once(void **state) {
    (void)state;
    char line[100];
    struct timespec before, after;
    begin();
    (void)fill(line);
    clock_gettime(CLOCK_MONOTONIC, &before);
    for (int i = 0; i < 10; i++)
        assert_false(stream_say(line, 97, 200));
    clock_gettime(CLOCK_MONOTONIC, &after);
    const long ms =
        (after.tv_sec - before.tv_sec) * 1000 + (after.tv_nsec - before.tv_nsec) / 1000000;
    assert_in_range(ms, 200, 1000);
    drain();
    stream_finish(1000);
    end();
}

static void a_line_that_is_too_long_is_dropped(void **state) {
    (void)state;
    static char line[STREAM_LINE_MAX + 1];
    begin();
    memset(line, 'x', sizeof line);
    assert_false(stream_say(line, sizeof line, 0));
    assert_true(stream_say(line, sizeof line - 1, 0));
    drain();
    end();
    assert_int_equal(taken_length, sizeof line - 1);
}

static int setup(void **state) {
    (void)state;
    real_stderr = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    return real_stderr < 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_a_line_taken_in_part_the_rest_comes_first),
        cmocka_unit_test(what_no_one_reads_costs_its_patience_once),
        cmocka_unit_test(a_line_that_is_too_long_is_dropped),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
