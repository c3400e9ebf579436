/* stamp.c: the command of a hand-off: notes when it began and when it ended, in ns on
 * CLOCK_MONOTONIC, as one line of a file that many append to.
 *
 * usage: stamp FILE [FIFO]: with a FIFO it ends when somebody has opened that for writing, and
 * closed it. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int main(int argc, char **argv) {
    const int64_t began = now_ns();
    char line[64], none;
    if (argc < 2)
        return 64;
    const int file = open(argv[1], O_WRONLY | O_APPEND | O_CREAT, 0600);
    if (file < 0)
        return 73;
    if (argc > 2 && read(open(argv[2], O_RDONLY), &none, 1) != 0)
        return 66;
    const int n = snprintf(line, sizeof line, "%" PRId64 " %" PRId64 "\n", began, now_ns());
    return write(file, line, (size_t)n) == n ? 0 : 74;
}
