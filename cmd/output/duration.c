/* duration.c: durations as people write them, to and from milliseconds. */
#include "output/duration.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

struct unit {
    const char *name;
    int64_t ms;
};

static const struct unit units[] = {
    {"ms", 1},
    {"s", 1000},
    {"m", INT64_C(60000)},
    {"h", INT64_C(3600000)},
    {"d", INT64_C(86400000)},
};

/* A number as written: no floating point, for 0.1 has none that is exact, and strtod would follow
 * the locale and take "inf", "1e3" and "0x1f". */
struct decimal {
    int64_t whole;      /* saturates just above DURATION_MAX_MS, in which unit ever */
    int64_t fraction;   /* the first FRACTION_DIGITS decimals */
    bool has_remainder; /* there are others behind them that are not 0 */
    bool has_digits;
};

#define FRACTION_DIGITS 9
#define FRACTION_SCALE  INT64_C(1000000000) /* 10 to the power of FRACTION_DIGITS */

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* Returns where the number ends. */
static const char *read_decimal(struct decimal *number, const char *text) {
    *number = (struct decimal){0};
    for (; is_digit(*text); text++) {
        number->has_digits = true;
        if (number->whole <= DURATION_MAX_MS)
            number->whole = number->whole * 10 + (*text - '0');
    }
    if (*text != '.')
        return text;
    text++;
    for (int64_t place = FRACTION_SCALE / 10; is_digit(*text); text++, place /= 10) {
        number->has_digits = true;
        number->fraction += (*text - '0') * place;
        number->has_remainder |= place == 0 && *text != '0';
    }
    return text;
}

/* Milliseconds, rounded up. Cannot overflow: the caller has bounded whole by the unit, and fraction
 * times the largest unit is below 10^17. */
static int64_t to_ms(const struct decimal *number, int64_t unit_ms) {
    int64_t part = number->fraction * unit_ms;
    bool round_up = part % FRACTION_SCALE != 0 || number->has_remainder;
    return number->whole * unit_ms + part / FRACTION_SCALE + (round_up ? 1 : 0);
}

static const struct unit *find_unit(const char *name) {
    if (*name == '\0')
        name = "s";
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strcmp(units[i].name, name) == 0)
            return &units[i];
    }
    return NULL;
}

#define TOO_LONG "it is longer than 100 years: give at most 36525d"

const char *duration_parse(int64_t *out_ms, const char *text) {
    if (*text == '\0')
        return "it is empty: give a duration such as 30s";
    if (*text == '-')
        return "it is negative: give a duration such as 30s";
    struct decimal number;
    const char *end = read_decimal(&number, text);
    if (!number.has_digits)
        return "it is not a duration: give one such as 250ms, 30s, 5m, 2h or 1d";
    const struct unit *unit = find_unit(end);
    if (unit == NULL)
        return "unknown unit: give one number with ms, s, m, h or d";
    if (number.whole > DURATION_MAX_MS / unit->ms)
        return TOO_LONG;
    int64_t ms = to_ms(&number, unit->ms);
    if (ms > DURATION_MAX_MS)
        return TOO_LONG;
    *out_ms = ms;
    return NULL;
}

const char *duration_format(char text[DURATION_TEXT_SIZE], int64_t duration_ms) {
    int64_t ms = duration_ms > 0 ? duration_ms : 0;
    if (ms < 1000) {
        snprintf(text, DURATION_TEXT_SIZE, "%dms", (int)ms);
        return text;
    }
    int tenths = (int)(ms % 1000 / 100);
    if (ms < 10000 && tenths != 0) {
        snprintf(text, DURATION_TEXT_SIZE, "%d.%ds", (int)(ms / 1000), tenths);
        return text;
    }
    size_t i = sizeof units / sizeof *units - 1;
    while (ms < units[i].ms)
        i--;
    const struct unit *large = &units[i], *small = &units[i - 1];
    long long count = ms / large->ms, rest = ms % large->ms / small->ms;
    if (rest == 0 || large->ms == 1000)
        snprintf(text, DURATION_TEXT_SIZE, "%lld%s", count, large->name);
    else
        snprintf(text, DURATION_TEXT_SIZE, "%lld%s%lld%s", count, large->name, rest, small->name);
    return text;
}

const char *duration_format_seconds(char text[DURATION_TEXT_SIZE], int64_t duration_ms) {
    if (duration_ms >= 1000)
        return duration_format(text, duration_ms / 1000 * 1000);
    snprintf(text, DURATION_TEXT_SIZE, "0s");
    return text;
}
