/* bare.c: what `rlock run -n NAME -- COMMAND` must do at the least: connect, EVALSHA, vfork and
 * exec, wait, EVALSHA. No deadline, no renewal, no guardian, no message: the measure for what they
 * cost.
 *
 * usage: bare [--guardian] SOCKET COMMAND [ARG...]
 *
 * --guardian: the command is the child of a second process, as it must be of one that outlives the
 * first: forked while the server works, it waits for a word to begin and says how the command
 * ended.
 *
 * requests.h is what a real rlock was heard to say (learn.py): the requests TAKE and GIVE, and
 * RANDOMS, the numbers in them that are made anew here. */
#define _GNU_SOURCE
#include <stdbool.h>
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

/* Returns its socket: a byte begins, an int is the status. */
static int guard(char **argv, pid_t *guardian) {
    int sockets[2];
    char begin;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0)
        fail("socketpair");
    *guardian = fork();
    if (*guardian == 0) {
        close(sockets[0]);
        const int status = recv(sockets[1], &begin, 1, 0) == 1 ? run(argv) : 1;
        _exit(send(sockets[1], &status, sizeof status, 0) != (ssize_t)sizeof status);
    }
    close(sockets[1]);
    return sockets[0];
}

static int run_guarded(int guardian) {
    int status;
    if (send(guardian, "", 1, 0) != 1 ||
        recv(guardian, &status, sizeof status, 0) != (ssize_t)sizeof status)
        fail("guardian");
    return status;
}

int main(int argc, char **argv) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const bool is_guarded = argc > 1 && strcmp(argv[1], "--guardian") == 0;
    int guardian = -1;
    pid_t pid;
    argv += is_guarded;
    if (argc - is_guarded < 3) {
        (void)fprintf(stderr, "usage: bare [--guardian] SOCKET COMMAND [ARG...]\n");
        return 64;
    }
    for (size_t i = 0; i < sizeof randoms / sizeof *randoms; i++)
        renumber(randoms[i]);
    (void)snprintf(address.sun_path, sizeof address.sun_path, "%s", argv[1]);
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (const struct sockaddr *)&address, sizeof address) != 0)
        fail(argv[1]);
    say(fd, take, sizeof take - 1);
    if (is_guarded)
        guardian = guard(argv + 2, &pid);
    hear(fd);
    const int status = is_guarded ? run_guarded(guardian) : run(argv + 2);
    say(fd, give, sizeof give - 1);
    hear(fd);
    if (is_guarded && waitpid(pid, NULL, 0) != pid)
        fail("waitpid");
    return status;
}
