/* columns.c: how much of a text fits into so many columns of a terminal.
 *
 * Not by wcwidth(3), which knows only what setlocale(3) has loaded: files that a plain run would
 * have to read. What counts is that a line is never longer than it was taken for, for one that
 * wraps cannot be erased: a mark that takes no column of its own may count as one. */
#include "output/columns.h"

#include <stdbool.h>
#include <stdint.h>

/* Unicode's blocks that are wide, as a whole (East Asian Width W and F). */
static const struct {
    uint32_t first, last;
} wide[] = {
    {0x1100, 0x115f},   {0x231a, 0x231b},   {0x23e9, 0x23fa},   {0x25fd, 0x25fe},
    {0x2614, 0x27bf},   {0x2b1b, 0x2b55},   {0x2e80, 0xa4cf},   {0xa960, 0xa97f},
    {0xac00, 0xd7a3},   {0xf900, 0xfaff},   {0xfe10, 0xfe6f},   {0xff00, 0xff60},
    {0xffe0, 0xffe6},   {0x16fe0, 0x18fff}, {0x1b000, 0x1b2ff}, {0x1f000, 0x1faff},
    {0x20000, 0x3fffd},
};

static bool is_wide(uint32_t character) {
    for (size_t i = 0; i < sizeof wide / sizeof wide[0]; i++) {
        if (character >= wide[i].first && character <= wide[i].last)
            return true;
    }
    return false;
}

/* The character at text, and how many bytes it takes; one that is no UTF-8 stands for itself. */
static size_t read_character(const unsigned char *text, uint32_t *character) {
    const size_t length = text[0] < 0xc0 ? 1 : text[0] < 0xe0 ? 2 : text[0] < 0xf0 ? 3 : 4;
    *character = length == 1 ? text[0] : text[0] & (0x7fU >> length);
    for (size_t i = 1; i < length; i++) {
        if ((text[i] & 0xc0) != 0x80) {
            *character = text[0];
            return 1;
        }
        *character = *character << 6 | (text[i] & 0x3fU);
    }
    return length;
}

void columns_cut(char *text, size_t columns) {
    while (*text != '\0') {
        uint32_t character;
        const size_t length = read_character((const unsigned char *)text, &character);
        const size_t taken = is_wide(character) ? 2 : 1;
        if (taken > columns) {
            *text = '\0';
            return;
        }
        columns -= taken;
        text += length;
    }
}

size_t columns_of(const char *text) {
    size_t columns = 0;
    while (*text != '\0') {
        uint32_t character;
        text += read_character((const unsigned char *)text, &character);
        columns += is_wide(character) ? 2 : 1;
    }
    return columns;
}
