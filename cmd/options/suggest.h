/* suggest.h: which known word a mistyped one was meant to be. */
#ifndef RLOCK_CMD_SUGGEST_H
#define RLOCK_CMD_SUGGEST_H

#include <stddef.h>

/* Start with SUGGESTION_INIT(word), offer every candidate, then read best: NULL when none is near.
 */
struct suggestion {
    const char *word;
    const char *best; /* borrowed from the caller */
    size_t distance;
};
#define SUGGESTION_INIT(text)                                                                      \
    { .word = (text) }

void suggest_offer(struct suggestion *suggestion, const char *candidate);

/* Damerau-Levenshtein: how many letters to add, drop, replace or swap with their neighbour turn one
 * word into the other (no part edited twice). SIZE_MAX when a word is too long to be worth it. */
size_t suggest_distance(const char *a, const char *b);
#endif
