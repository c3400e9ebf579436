/* bare.c: what `rlock run -n NAME -- COMMAND` must do at the least: connect, EVALSHA, vfork and
 * exec, wait, EVALSHA. No deadline, no renewal, no guardian, no message: the measure for what they
 * cost.
 *
 * usage: bare SOCKET NAME COMMAND [ARG...]
 * ACQUIRE and RELEASE are the scripts' SHA-1, given when it is compiled. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { REQUEST_MAX = 4096 };

struct request {
    size_t size;
    char text[REQUEST_MAX];
};

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static void add(struct request *request, const char *word) {
    request->size += (size_t)snprintf(request->text + request->size, REQUEST_MAX - request->size,
                                      "$%zu\r\n%s\r\n", strlen(word), word);
}

/* A key or channel of the lock's name. */
static void add_key(struct request *request, const char *format, const char *name) {
    char key[256];
    (void)snprintf(key, sizeof key, format, name);
    add(request, key);
}

static void begin(struct request *request, int words, const char *sha1, const char *name) {
    request->size = (size_t)snprintf(request->text, REQUEST_MAX, "*%d\r\n", words + 12);
    add(request, "EVALSHA");
    add(request, sha1);
    add(request, "10");
    add(request, name);
    add_key(request, "redisson_lock_token:{%s}", name);
    add_key(request, "rlock_info:{%s}", name);
    add_key(request, "rlock_hold:{%s}", name);
    add_key(request, "rlock_waiters:{%s}", name);
    add_key(request, "redisson_lock_queue:{%s}", name);
    add_key(request, "redisson_lock_timeout:{%s}", name);
    add_key(request, "rlock_beats:{%s}", name);
    add_key(request, "rlock_rivals:{%s}", name);
    add_key(request, "rlock_queuers:{%s}", name);
}

/* Sends it; the answer must begin with the code 1. */
static void ask(int fd, const struct request *request) {
    char answer[1024];
    if (send(fd, request->text, request->size, 0) != (ssize_t)request->size)
        fail("send");
    const ssize_t n = recv(fd, answer, sizeof answer - 1, 0);
    if (n <= 0)
        fail("recv");
    answer[n] = '\0';
    if (strncmp(answer, "*3\r\n:1\r\n", 8) != 0) {
        (void)fprintf(stderr, "bare: %s", answer);
        exit(1);
    }
}

static void random_hex(char *out, size_t bytes) {
    unsigned char raw[16];
    if (getrandom(raw, bytes, 0) != (ssize_t)bytes)
        fail("getrandom");
    for (size_t i = 0; i < bytes; i++)
        (void)sprintf(out + 2 * i, "%02x", raw[i]);
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
    struct request request;
    char id[33], uuid[33], owner[128], pid[16];
    if (argc < 4) {
        (void)fprintf(stderr, "usage: bare SOCKET NAME COMMAND [ARG...]\n");
        return 64;
    }
    const char *name = argv[2];
    random_hex(id, 16);
    random_hex(uuid, 16);
    (void)snprintf(pid, sizeof pid, "%ld", (long)getpid());
    (void)snprintf(owner, sizeof owner, "%.8s-%.4s-%.4s-%.4s-%.12s:%s@bare", uuid, uuid + 8,
                   uuid + 12, uuid + 16, uuid + 20, pid);
    (void)snprintf(address.sun_path, sizeof address.sun_path, "%s", argv[1]);
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (const struct sockaddr *)&address, sizeof address) != 0)
        fail(argv[1]);

    const char *const asked[] = {owner, "30000", id, "1"};
    begin(&request, 12, ACQUIRE, name);
    for (size_t i = 0; i < 4; i++)
        add(&request, asked[i]);
    add_key(&request, "redisson_lock__channel:{%s}", name);
    const char *const shown[] = {"", "", "0", "bare", pid, "root", argv[3]};
    for (size_t i = 0; i < 7; i++)
        add(&request, shown[i]);
    ask(fd, &request);

    const int status = run(argv + 3);

    begin(&request, 7, RELEASE, name);
    for (size_t i = 0; i < 4; i++)
        add(&request, asked[i]);
    add_key(&request, "redisson_lock__channel:{%s}", name);
    add(&request, "0");
    add(&request, owner);
    ask(fd, &request);
    return status;
}
