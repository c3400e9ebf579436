/* suggest.c: which known word a mistyped one was meant to be, or a word of another program's. */
#include "options/suggest.h"

#include <stdint.h>
#include <string.h>

#define WORD_MAX 32

static size_t min(size_t a, size_t b) {
    return a < b ? a : b;
}

size_t suggest_distance(const char *a, const char *b) {
    size_t a_length = strlen(a), b_length = strlen(b);
    if (a_length > WORD_MAX || b_length > WORD_MAX)
        return SIZE_MAX;
    size_t cost[WORD_MAX + 1][WORD_MAX + 1]; /* [i][j]: from a's first i letters to b's first j */
    for (size_t j = 0; j <= b_length; j++)
        cost[0][j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        cost[i][0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            size_t replaced = cost[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            cost[i][j] = min(replaced, 1 + min(cost[i - 1][j], cost[i][j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                cost[i][j] = min(cost[i][j], cost[i - 2][j - 2] + 1);
        }
    }
    return cost[a_length][b_length];
}

void suggest_offer(struct suggestion *suggestion, const char *candidate) {
    size_t distance = suggest_distance(suggestion->word, candidate);
    /* One slip for every three letters: further off, a guess would only mislead. */
    size_t longer = strlen(candidate);
    if (strlen(suggestion->word) > longer)
        longer = strlen(suggestion->word);
    if (distance > (longer + 2) / 3)
        return;
    if (suggestion->best == NULL || distance < suggestion->distance) {
        suggestion->best = candidate;
        suggestion->distance = distance;
    }
}

/* --- words of others ------------------------------------------------------------------------- */

static const struct {
    const char *group, *word, *ours;
} commands[] = {
    {"", "lock", "rlock run"},
    {"", "exec", "rlock run"},
    {"", "mutex", "rlock run"},
    {"", "semaphore", "rlock sem"},
    {"", "unlock", "rlock release"},
    {"", "free", "rlock release"},
    {"", "extend", "rlock renew"},
    {"", "refresh", "rlock renew"},
    {"", "ls", "rlock status"},
    {"", "list", "rlock status"},
    {"", "ps", "rlock status"},
    {"", "show", "rlock status"},
    {"", "inspect", "rlock status"},
    {"", "get", "rlock status"},
    {"", "watch", "rlock status --watch"},
    {"", "top", "rlock status --watch"},
    {"", "monitor", "rlock status --watch"},
    {"", "force-unlock", "rlock break"},
    {"", "steal", "rlock break"},
    {"", "kill", "rlock break"},
    {"", "rm", "rlock break"},
    {"", "del", "rlock break"},
    {"", "delete", "rlock break"},
    {"", "ping", "rlock doctor"},
    {"", "info", "rlock doctor"},
    {"", "version", "rlock --version"},
    {"latch", "create", "rlock latch set"},
    {"latch", "countdown", "rlock latch down"},
    {"latch", "await", "rlock latch wait"},
    {"acquire", "lock", "rlock acquire run"},
    {"acquire", "mutex", "rlock acquire run"},
    {"acquire", "semaphore", "rlock acquire sem"},
};

static const struct {
    const char *word, *ours[3];
} options[] = {
    {"timeout", {"wait", "connect-timeout"}},
    {"max-wait", {"wait"}},
    {"lock-timeout", {"wait"}},
    {"acquire-timeout", {"wait"}},
    {"wait-timeout", {"wait"}},
    {"try", {"wait"}},
    {"t", {"wait"}},
    {"nonblock", {"no-wait"}},
    {"non-block", {"no-wait"}},
    {"nonblocking", {"no-wait"}},
    {"nb", {"no-wait"}},
    {"ttl", {"lease", "min-ttl"}},
    {"lease-time", {"lease"}},
    {"lock-delay", {"min-hold"}},
    {"expire", {"lease"}},
    {"expiry", {"lease"}},
    {"expiration", {"lease"}},
    {"duration", {"lease"}},
    {"key", {"name"}},
    {"lock", {"name"}},
    {"lock-name", {"name"}},
    {"url", {"server"}},
    {"uri", {"server"}},
    {"u", {"server"}},
    {"host", {"server"}},
    {"hostname", {"server"}},
    {"addr", {"server"}},
    {"address", {"server"}},
    {"http-addr", {"server"}},
    {"redis", {"server"}},
    {"socket", {"server"}},
    {"p", {"server"}},
    {"password", {"RLOCK_PASSWORD in the environment"}},
    {"pass", {"RLOCK_PASSWORD in the environment"}},
    {"auth", {"RLOCK_PASSWORD in the environment"}},
    {"a", {"RLOCK_PASSWORD in the environment"}},
    {"silent", {"quiet"}},
    {"debug", {"verbose"}},
    {"shared", {"rlock read"}},
    {"exclusive", {"rlock run"}},
    {"shell", {"command"}},
    {"limit", {"permits"}},
    {"slots", {"permits"}},
    {"yes", {"force"}},
    {"follow", {"watch"}},
    {"format", {"json"}},
    {"output", {"json"}},
};

const char *suggest_command(const char *group, const char *word) {
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        if (strcmp(commands[i].group, group) == 0 && strcmp(commands[i].word, word) == 0)
            return commands[i].ours;
    }
    return NULL;
}

const char *const *suggest_options(const char *word) {
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        if (strcmp(options[i].word, word) == 0)
            return options[i].ours;
    }
    return NULL;
}
