/* bare.c: what `rlock run -n NAME -- COMMAND` must do at the least: connect, EVALSHA, vfork and
 * exec, wait, EVALSHA. No deadline, no renewal, no guardian, no message: the measure for what they
 * cost.
 *
 * usage: bare SOCKET COMMAND [ARG...]
 *
 * requests.h is what a real rlock was heard to say (learn.py): the requests TAKE and GIVE, and
 * RANDOMS, the numbers in them that are made anew here. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "requests.h"

static char take[] = TAKE, give[] = GIVE;
static const char *const randoms[] = RANDOMS;

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static void replace(char *text, size_t size, const char *old, const char *anew) {
    const size_t length = strlen(old);
    char *at;
    while ((at = memmem(text, size, old, length)) != NULL)
        memcpy(at, anew, length);
}

/* Another number, with the dashes where they were, in both requests. */
static void renumber(const char *old) {
    unsigned char random[64];
    char anew[sizeof random + 1] = "";
    const size_t length = strlen(old);
    if (getrandom(random, length, 0) != (ssize_t)length)
        fail("getrandom");
    for (size_t i = 0; i < length; i++)
        anew[i] = old[i] == '-' ? '-' : "0123456789abcdef"[random[i] % 16];
    replace(take, sizeof take - 1, old, anew);
    replace(give, sizeof give - 1, old, anew);
}

static void say(int fd, const char *request, size_t size) {
    if (send(fd, request, size, 0) != (ssize_t)size)
        fail("send");
}

/* The answer must begin with the code 1. */
static void hear(int fd) {
    char answer[1024];
    const ssize_t n = recv(fd, answer, sizeof answer - 1, 0);
    if (n <= 0)
        fail("recv");
    answer[n] = '\0';
    const char *first = strchr(answer, '\n');
    if (answer[0] != '*' || first == NULL || strncmp(first, "\n:1\r\n", 5) != 0) {
        (void)fprintf(stderr, "bare: %s", answer);
        exit(1);
    }
}

static int run(char **argv) {
    int status;
    const pid_t child = vfork();
    if (child == 0) {
        (void)execvp(argv[0], argv);
        _exit(127);
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        fail("vfork");
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int argc, char **argv) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (argc < 3) {
        (void)fprintf(stderr, "usage: bare SOCKET COMMAND [ARG...]\n");
        return 64;
    }
    for (size_t i = 0; i < sizeof randoms / sizeof *randoms; i++)
        renumber(randoms[i]);
    (void)snprintf(address.sun_path, sizeof address.sun_path, "%s", argv[1]);
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (const struct sockaddr *)&address, sizeof address) != 0)
        fail(argv[1]);
    say(fd, take, sizeof take - 1);
    hear(fd);
    const int status = run(argv + 2);
    say(fd, give, sizeof give - 1);
    hear(fd);
    return status;
}
