/* suggest.c: which known word a mistyped one was meant to be. */
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
