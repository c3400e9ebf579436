/* duration.h: durations as people write them, to and from milliseconds. */
#ifndef RLOCK_CMD_DURATION_H
#define RLOCK_CMD_DURATION_H

#include <stdint.h>

#define DURATION_MAX_MS    (INT64_C(36525) * 24 * 60 * 60 * 1000) /* 100 years */
#define DURATION_TEXT_SIZE 48

/* Reads "250ms", "30s", "5m", "2h", "1d"; a number alone is seconds, and any may have decimals.
 * What is left below a millisecond counts as a whole one, so that no duration becomes shorter.
 * Returns NULL, or what is wrong with the text (a constant); then *out_ms is untouched. */
const char *duration_parse(int64_t *out_ms, const char *text);

/* Writes a duration for people: "250ms", "1.5s", "12s", "3m", "2h5m", "4d". Two units at most, what
 * is smaller is dropped. Negative counts as 0. Returns the buffer. */
const char *duration_format(char text[DURATION_TEXT_SIZE], int64_t duration_ms);

/* The same in whole seconds, from "0s" on: what is shown again and again is hard to read with
 * decimals. */
const char *duration_format_seconds(char text[DURATION_TEXT_SIZE], int64_t duration_ms);
#endif
