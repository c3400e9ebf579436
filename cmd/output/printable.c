/* printable.c: what others wrote, made fit to be shown.
 *
 * A name or a command line could otherwise move the cursor, fake a line, read from right to left,
 * or look like another one: to a terminal, in a log, in a unit's status. */
#include "output/printable.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct range {
    uint32_t first, last;
};

static const struct range hidden[] = {
    {0x0000, 0x001f},   /* C0 */
    {0x007f, 0x009f},   /* DEL, C1 */
    {0x00ad, 0x00ad},   /* the hyphen that is seen at a line's end only */
    {0x034f, 0x034f},   /* joins graphemes */
    {0x061c, 0x061c},   /* Arabic letter mark */
    {0x115f, 0x1160},   /* fillers of Hangul: blanks that are no blanks */
    {0x180b, 0x180f},   /* Mongolian selectors and separator */
    {0x200b, 0x200f},   /* no width, joiners, left-to-right, right-to-left */
    {0x2028, 0x202e},   /* line, paragraph; embeddings, overrides */
    {0x2060, 0x206f},   /* joiner, operators not seen, isolates, forms */
    {0x3164, 0x3164},   /* filler */
    {0xfeff, 0xfeff},   /* byte order mark */
    {0xffa0, 0xffa0},   /* filler */
    {0xfff0, 0xfffb},   /* annotations between lines */
    {0xfffe, 0xffff},   /* no characters */
    {0x1bca0, 0x1bca3}, /* forms of shorthand */
    {0x1d173, 0x1d17a}, /* beams of music */
    {0xe0000, 0xe0fff}, /* tags, and selectors that carry what nobody sees */
};

size_t printable_character(const char *text, uint32_t *character) {
    const unsigned char *bytes = (const unsigned char *)text;
    const unsigned char first = bytes[0];
    if (first < 0x80) {
        *character = first;
        return 1;
    }
    if (first < 0xc2 || first > 0xf4)
        return 0;
    const size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    uint32_t read = first & (0x7fU >> length);
    for (size_t i = 1; i < length; i++) {
        if ((bytes[i] & 0xc0) != 0x80)
            return 0;
        read = read << 6 | (bytes[i] & 0x3fU);
    }
    /* Written longer than needed, a surrogate, or beyond the last. */
    if ((length == 3 && read < 0x800) || (length == 4 && read < 0x10000) ||
        (read >= 0xd800 && read <= 0xdfff) || read > 0x10ffff)
        return 0;
    *character = read;
    return length;
}

static bool is_in(const struct range *ranges, size_t count, uint32_t character) {
    for (size_t i = 0; i < count; i++) {
        if (character >= ranges[i].first && character <= ranges[i].last)
            return true;
    }
    return false;
}

bool printable_is(uint32_t character) {
    return (character >= ' ' && character < 0x7f) ||
           !is_in(hidden, sizeof hidden / sizeof hidden[0], character);
}

void printable_make(char *text, const char *keep) {
    char *to = text;
    while (*text != '\0') {
        uint32_t character;
        const size_t length = printable_character(text, &character);
        const bool kept = length == 1 && strchr(keep, *text) != NULL;
        const size_t taken = length > 0 ? length : 1;
        if (kept || (length > 0 && printable_is(character))) {
            memmove(to, text, taken);
            to += taken;
        } else {
            *to++ = '?';
        }
        text += taken;
    }
    *to = '\0';
}

/* Unicode's blocks that are wide, as a whole (East Asian Width W and F).
 *
 * Not by wcwidth(3), which knows only what setlocale(3) has loaded: files that a plain run would
 * have to read. What counts is that a line is never longer than it was taken for, for one that
 * wraps cannot be erased: a mark that takes no column of its own may count as one. */
static const struct range wide[] = {
    {0x1100, 0x115f},   {0x231a, 0x231b},   {0x23e9, 0x23fa},   {0x25fd, 0x25fe},
    {0x2614, 0x27bf},   {0x2b1b, 0x2b55},   {0x2e80, 0xa4cf},   {0xa960, 0xa97f},
    {0xac00, 0xd7a3},   {0xf900, 0xfaff},   {0xfe10, 0xfe6f},   {0xff00, 0xff60},
    {0xffe0, 0xffe6},   {0x16fe0, 0x18fff}, {0x1b000, 0x1b2ff}, {0x1f000, 0x1faff},
    {0x20000, 0x3fffd},
};

/* One that is no UTF-8 stands for itself. Returns its bytes. */
static size_t read_character(const char *text, size_t *columns) {
    uint32_t character = 0;
    const size_t length = printable_character(text, &character);
    const bool is_wide = is_in(wide, sizeof wide / sizeof wide[0], character);
    *columns = is_wide ? 2 : 1;
    return length > 0 ? length : 1;
}

void columns_cut(char *text, size_t columns) {
    while (*text != '\0') {
        size_t taken;
        const size_t length = read_character(text, &taken);
        if (taken > columns) {
            *text = '\0';
            return;
        }
        columns -= taken;
        text += length;
    }
}

size_t columns_of(const char *text) {
    size_t columns = 0, taken;
    for (; *text != '\0'; columns += taken)
        text += read_character(text, &taken);
    return columns;
}

void columns_wrap(FILE *stream, const char *text, size_t indent, size_t width) {
    size_t taken = indent;
    char word[1024];
    while (*text != '\0') {
        const size_t length = strcspn(text, " ");
        (void)snprintf(word, sizeof word, "%.*s", (int)length, text);
        const size_t columns = columns_of(word);
        if (taken > indent && taken + 1 + columns > width) {
            fprintf(stream, "\n%*s", (int)indent, "");
            taken = indent;
        }
        taken += (size_t)fprintf(stream, "%s", taken > indent ? " " : "") + columns;
        fputs(word, stream);
        text += length + (text[length] == ' ');
    }
}
