/* ask.c: one command to a redis-server, answered as redis-cli prints it to a pipe. Tests ask
 * thousands of times, and most of what redis-cli costs then is its own start.
 *
 *   ask SOCKET [-e] WORD...
 *
 * The status is 1 if there was no answer within ten seconds (SHUTDOWN has none), and with -e also
 * if that is an error. */
#include <hiredis/hiredis.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>

static const struct timeval LIMIT = {.tv_sec = 10};

/* Returns whether it ended a line, as all of INFO does. */
static bool print(const redisReply *reply) {
    if (reply->type == REDIS_REPLY_INTEGER)
        printf("%lld", reply->integer);
    if (reply->type == REDIS_REPLY_ARRAY) {
        for (size_t i = 0; i < reply->elements; i++) {
            if (i > 0)
                putchar('\n');
            (void)print(reply->element[i]);
        }
    }
    if (!reply->str) /* nil has none, either */
        return false;
    fwrite(reply->str, 1, reply->len, stdout);
    return reply->len > 0 && reply->str[reply->len - 1] == '\n';
}

int main(int argc, char **argv) {
    const bool error_fails = argc > 2 && strcmp(argv[2], "-e") == 0;
    const int first = error_fails ? 3 : 2;
    if (argc <= first) {
        fprintf(stderr, "usage: ask SOCKET [-e] WORD...\n");
        return 64;
    }
    redisContext *server = redisConnectUnixWithTimeout(argv[1], LIMIT);
    redisReply *reply = NULL;
    if (server && !server->err && redisSetTimeout(server, LIMIT) == REDIS_OK)
        reply = redisCommandArgv(server, argc - first, (const char **)argv + first, NULL);
    if (!reply && strcmp(argv[first], "SHUTDOWN") == 0)
        return 0;
    if (!reply) {
        fprintf(stderr, "ask: %s: %s\n", argv[1], server ? server->errstr : "out of memory");
        return 1;
    }
    if (!print(reply))
        putchar('\n');
    const bool fails = error_fails && reply->type == REDIS_REPLY_ERROR;
    return fflush(stdout) == 0 && !fails ? 0 : 1;
}
