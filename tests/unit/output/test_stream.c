/* test_stream.c: lines for a terminal that takes a part of them. */
#include "support/test.h"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "output/out.h"
#include "rlock.h"

static int real_stderr, master;
static char taken[1 << 17]; /* what the terminal has shown */
static size_t taken_length;

/* A terminal that nobody reads, in the place of standard error, until the test ends or fails. */
void before_each(void) {
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

void after_each(void) {
    assert_int_equal(dup2(real_stderr, STDERR_FILENO), STDERR_FILENO);
    close(master);
}

/* Lines of a length that shares no factor with the kernel's buffers, until none is taken. */
static int fill(char line[97]) {
    int said = 0;
    memset(line, 'x', 96);
    line[96] = '\n';
    for (int refused = 0; refused < 20;) {
        if (stream_say(line, 97, 0)) {
            said++;
            refused = 0;
        } else {
            refused++;
            (void)poll(NULL, 0, (int)patience_ms(5)); /* the kernel moves it to the reader's side */
        }
    }
    return said;
}

TEST(of_a_line_taken_in_part_the_rest_comes_first) {
    char line[97];
    const int said = fill(line);
    assert_true(said > 10);
    drain();
    assert_true(stream_say("the end\n", 8, 1000));
    stream_finish();
    drain();
    taken[taken_length] = '\0';
    int lines = 0;
    for (const char *at = taken; *at != '\0'; at += strcspn(at, "\n") + 1, lines++)
        assert_true(memcmp(at, lines < said ? line : "the end\n", lines < said ? 97 : 8) == 0);
    assert_int_equal(lines, said + 1);
}

TEST(what_no_one_reads_costs_its_patience_once) {
    char line[97];
    (void)fill(line);
    const int64_t begun_ms = rlock_now_ms();
    for (int i = 0; i < 10; i++)
        assert_false(stream_say(line, sizeof line, 200));
    assert_in_range(rlock_now_ms() - begun_ms, 190, 1999); /* of clocks of whole milliseconds */
    drain();
    stream_finish();
}

TEST(a_line_that_is_too_long_is_dropped) {
    static char line[STREAM_LINE_MAX + 1];
    memset(line, 'x', sizeof line);
    assert_false(stream_say(line, sizeof line, 0));
    assert_true(stream_say(line, sizeof line - 1, 0));
    drain();
    assert_int_equal(taken_length, sizeof line - 1);
}

void before_all(void) {
    real_stderr = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    assert_true(real_stderr >= 0);
}
