/* foreign.c: words of flock(1), timeout(1), setlock, consul lock and etcdctl lock. */
#include "options/foreign.h"

#include <stddef.h>
#include <string.h>

static const struct {
    const char *word, *ours;
} commands[] = {
    {.word = "flock", .ours = "rlock run"},      {.word = "lock", .ours = "rlock run"},
    {.word = "setlock", .ours = "rlock run"},    {.word = "timeout", .ours = "rlock run --timeout"},
    {.word = "unlock", .ours = "rlock release"}, {.word = "list", .ours = "rlock status"},
    {.word = "ls", .ours = "rlock status"},      {.word = "version", .ours = "rlock --version"},
};

#define SAME_STATUS   "rlock always exits as the command does"
#define SAME_TERMINAL "the command has the standard streams and the terminal of rlock"
#define STAYS         "rlock stays, to renew the lock and to give it back"

static const struct foreign_option options[] = {
    {.word = "nonblock", .ours = {"no-wait"}},
    {.word = "shared", .ours = {"rlock read"}},
    {.word = "exclusive", .ours = {"rlock run"}},
    {.word = "timeout", .ours = {"wait", "connect-timeout"}},
    {.word = "try", .ours = {"wait"}},
    {.word = "ttl", .ours = {"lease", "min-ttl"}},
    {.word = "k", .ours = {"kill-after"}},
    {.word = "endpoints", .ours = {"server"}},
    {.word = "http-addr", .ours = {"server"}},
    {.word = "user", .ours = {"server"}},
    {.word = "cacert", .ours = {"tls-ca"}},
    {.word = "close", .needless = "the command gets none of the descriptors of rlock"},
    {.word = "no-fork", .needless = STAYS},
    {.word = "F", .needless = STAYS},
    {.word = "N", .needless = "rlock waits unless --no-wait is given"},
    {.word = "foreground", .needless = SAME_TERMINAL},
    {.word = "pass-stdin", .needless = SAME_TERMINAL},
    {.word = "preserve-status", .needless = SAME_STATUS},
    {.word = "child-exit-code", .needless = SAME_STATUS},
};

const char *foreign_command(const char *word) {
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        if (strcmp(commands[i].word, word) == 0)
            return commands[i].ours;
    }
    return NULL;
}

const struct foreign_option *foreign_option(const char *word) {
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        if (strcmp(options[i].word, word) == 0)
            return &options[i];
    }
    return NULL;
}
