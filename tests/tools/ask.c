/* ask.c: one command to a redis-server, answered as redis-cli prints it to a pipe. Tests ask
 * thousands of times, and most of what redis-cli costs then is its own start.
 *
 *   ask SOCKET WORD...
 *
 * The status is 1 if there was no answer within ten seconds; SHUTDOWN has none. */
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
    if (argc < 3) {
        fprintf(stderr, "usage: ask SOCKET WORD...\n");
        return 64;
    }
    redisContext *server = redisConnectUnixWithTimeout(argv[1], LIMIT);
    redisReply *reply = NULL;
    if (server && !server->err && redisSetTimeout(server, LIMIT) == REDIS_OK)
        reply = redisCommandArgv(server, argc - 2, (const char **)argv + 2, NULL);
    if (!reply && strcmp(argv[2], "SHUTDOWN") == 0)
        return 0;
    if (!reply) {
        fprintf(stderr, "ask: %s: %s\n", argv[1], server ? server->errstr : "out of memory");
        return 1;
    }
    if (!print(reply))
        putchar('\n');
    return fflush(stdout) == 0 ? 0 : 1;
}
