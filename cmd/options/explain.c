/* explain.c: what a mistaken word of the command line was meant to be.
 *
 * Words of flock(1), timeout(1), setlock, consul lock and etcdctl lock are known, as far as people
 * type them out of habit; rlock-cookbook(7) has others. */
#include "options/opt.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "options/command.h"
#include "output/out.h"

static const struct {
    const char *word, *ours;
} commands[] = {
    {.word = "flock", .ours = "rlock run"},
    {.word = "lock", .ours = "rlock run"},
    {.word = "setlock", .ours = "rlock run"},
    {.word = "timeout", .ours = "rlock run --timeout"},
    {.word = "unlock", .ours = "rlock release"},
    {.word = "list", .ours = "rlock status"},
    {.word = "ls", .ours = "rlock status"},
    {.word = "watch", .ours = "rlock status --watch"},
    {.word = "version", .ours = "rlock --version"},
};

#define SAME_STATUS   "rlock always exits as the command does"
#define SAME_TERMINAL "the command has the standard streams and the terminal of rlock"
#define STAYS         "rlock stays, to renew the lock and to give it back"

/* A word may have several rows: the first counts that names an option of the command. */
static const struct alias {
    const char *word;     /* without its dashes */
    const char *ours;     /* an option, or "rlock COMMAND"; NULL: none */
    const char *needless; /* then why it can be left out */
} aliases[] = {
    {.word = "nonblock", .ours = "no-wait"},
    {.word = "nb", .ours = "no-wait"},
    {.word = "shared", .ours = "rlock read"},
    {.word = "exclusive", .ours = "rlock run"},
    {.word = "timeout", .ours = "wait"},
    {.word = "timeout", .ours = "connect-timeout"},
    {.word = "try", .ours = "wait"},
    {.word = "ttl", .ours = "lease"},
    {.word = "ttl", .ours = "min-ttl"},
    {.word = "k", .ours = "kill-after"},
    {.word = "endpoints", .ours = "server"},
    {.word = "http-addr", .ours = "server"},
    {.word = "user", .ours = "server"},
    {.word = "cacert", .ours = "tls-ca"},
    {.word = "close", .needless = "the command gets none of the descriptors of rlock"},
    {.word = "no-fork", .needless = STAYS},
    {.word = "F", .needless = STAYS},
    {.word = "N", .needless = "rlock waits unless --no-wait is given"},
    {.word = "foreground", .needless = SAME_TERMINAL},
    {.word = "pass-stdin", .needless = SAME_TERMINAL},
    {.word = "preserve-status", .needless = SAME_STATUS},
    {.word = "child-exit-code", .needless = SAME_STATUS},
};

const char *explain_command(const char *word) {
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        if (strcmp(commands[i].word, word) == 0)
            return commands[i].ours;
    }
    return NULL;
}

/* An option that is not known. */
struct word {
    const struct cmd *cmd;
    const char *dashes;
    char name[32];
};

static struct word read_word(const struct cmd *cmd, const char *argument) {
    struct word word = {.cmd = cmd, .dashes = strncmp(argument, "--", 2) == 0 ? "--" : "-"};
    const char *name = argument + strlen(word.dashes);
    snprintf(word.name, sizeof word.name, "%.*s", (int)strcspn(name, "="), name);
    return word;
}

static bool has_option(const struct cmd *cmd, const char *name) {
    for (const struct opt *row = NULL; (row = opt_next(cmd->options, row)) != NULL;) {
        if (strcmp(row->name, name) == 0)
            return true;
    }
    return false;
}

static bool is_command(const char *ours) {
    return strncmp(ours, "rlock ", strlen("rlock ")) == 0;
}

static const struct alias *find_alias(const struct word *word) {
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++) {
        const struct alias *alias = &aliases[i];
        if (strcmp(alias->word, word->name) == 0 &&
            (alias->ours == NULL || is_command(alias->ours) || has_option(word->cmd, alias->ours)))
            return alias;
    }
    return NULL;
}

bool explain_is_long(const struct cmd *cmd, const char *argument) {
    enum { LEAST = 3 }; /* letters: fewer are letters */
    if (argument[0] != '-' || argument[1] == '-')
        return false;
    const struct word word = read_word(cmd, argument);
    return strlen(word.name) >= LEAST && (has_option(cmd, word.name) || find_alias(&word) != NULL);
}

static bool say_meant(const struct word *word, const char *ours, struct complaint *why) {
    return complain(why, EXIT_USAGE,
                    "unknown option '%s%s': did you mean '%s%s'? See 'rlock %s --help'",
                    word->dashes, word->name, is_command(ours) ? "" : "--", ours, word->cmd->name);
}

static bool say_alias(const struct word *word, const struct alias *alias, struct complaint *why) {
    if (alias->ours == NULL)
        return complain(why, EXIT_USAGE, "unknown option '%s%s': leave it out: %s", word->dashes,
                        word->name, alias->needless);
    if (is_command(alias->ours) && strcmp(alias->ours + strlen("rlock "), word->cmd->name) == 0)
        return complain(why, EXIT_USAGE,
                        "unknown option '%s%s': leave it out: that is what '%s' does", word->dashes,
                        word->name, alias->ours);
    return say_meant(word, alias->ours, why);
}

/* Offers the options of the command, and lists those that begin so. Returns how many do. */
static size_t look_around(const struct word *word, struct suggestion *suggestion, char *list,
                          size_t size) {
    size_t used = 0, begun = 0;
    for (const struct opt *row = NULL; (row = opt_next(word->cmd->options, row)) != NULL;) {
        if (row->hidden)
            continue;
        suggest_offer(suggestion, row->name);
        if (strncmp(row->name, word->name, strlen(word->name)) != 0 || used >= size)
            continue;
        used += (size_t)snprintf(list + used, size - used, "%s--%s", begun++ > 0 ? " or " : "",
                                 row->name);
    }
    return begun;
}

#define CMD_TO_NAME(constant, name) name,

/* An option of other commands: which have it, those that leave a lock held last. */
static bool say_others(const struct cmd *cmd, const char *name, struct complaint *why) {
    static const char *const names[] = {COMMANDS(CMD_TO_NAME)};
    unsigned owners = 0;
    char list[256] = "";
    size_t used = 0, count = 0;
    for (const struct opt *row = NULL; (row = opt_next(~0U, row)) != NULL;)
        owners |= strcmp(row->name, name) == 0 ? row->commands : 0;
    for (size_t i = 0; i < CMD_COUNT; i++) {
        const bool acquires = strncmp(names[i], "acquire ", strlen("acquire ")) == 0;
        if ((owners & 1U << i) == 0 || (acquires && count > 0))
            continue;
        used += (size_t)snprintf(list + used, sizeof list - used, "%srlock %s",
                                 count++ > 0 ? " or " : "", names[i]);
    }
    return complain(why, EXIT_USAGE, "unknown option '--%s': it goes with %s, not with rlock %s",
                    name, list, cmd->name);
}

bool explain_option(const struct cmd *cmd, const char *argument, struct complaint *why) {
    const struct word word = read_word(cmd, argument);
    const bool is_letter = word.name[0] != '\0' && word.name[1] == '\0';
    struct suggestion suggestion = SUGGESTION_INIT(word.name);
    char others[128] = "";
    const size_t begun = look_around(&word, &suggestion, others, sizeof others);
    const struct alias *alias = find_alias(&word);
    if (has_option(cmd, word.name))
        return say_meant(&word, word.name, why);
    if (begun > 1 && word.name[0] != '\0' && strcmp(word.dashes, "--") == 0)
        return complain(why, EXIT_USAGE, "ambiguous option '--%s': it could be %s", word.name,
                        others);
    if (alias != NULL)
        return say_alias(&word, alias, why);
    if (opt_find(word.name) != NULL)
        return say_others(cmd, word.name, why);
    if (suggestion.best != NULL && !is_letter)
        return say_meant(&word, suggestion.best, why);
    return complain(why, EXIT_USAGE, "unknown option '%s%s': see 'rlock %s --help'", word.dashes,
                    word.name, cmd->name);
}

#define WORD_MAX 32

static size_t min(size_t a, size_t b) {
    return a < b ? a : b;
}

/* Damerau-Levenshtein: how many letters to add, drop, replace or swap with their neighbour turn one
 * word into the other (no part edited twice). SIZE_MAX when a word is too long to be worth it. */
static size_t distance_of(const char *a, const char *b) {
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
    enum { SLIPS_MAX = 2, LETTERS_EACH = 3 };
    const size_t distance = distance_of(suggestion->word, candidate);
    size_t longer = strlen(candidate);
    if (strlen(suggestion->word) > longer)
        longer = strlen(suggestion->word);
    if (distance > SLIPS_MAX || distance * LETTERS_EACH > longer) /* a guess would mislead */
        return;
    if (suggestion->best == NULL || distance < suggestion->distance) {
        suggestion->best = candidate;
        suggestion->distance = distance;
    }
}
