/* nearest.h: which known word a mistyped one was meant to be. */
#ifndef RLOCK_CMD_NEAREST_H
#define RLOCK_CMD_NEAREST_H

#include <stddef.h>

/* Start with NEAREST_INIT(word), offer every candidate, then read best: NULL when none is near. */
struct nearest {
    const char *word;
    const char *best; /* borrowed from the caller who offered it */
    size_t distance;
};
#define NEAREST_INIT(text)                                                                         \
    { .word = (text) }

void nearest_offer(struct nearest *nearest, const char *candidate);

/* Damerau-Levenshtein: how many letters to add, drop, replace or swap with their neighbour turn one
 * word into the other (no part edited twice). SIZE_MAX when a word is too long to be worth it. */
size_t nearest_distance(const char *a, const char *b);
#endif
