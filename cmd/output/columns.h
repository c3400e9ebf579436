/* columns.h: how much of a text fits into so many columns of a terminal. */
#ifndef RLOCK_CMD_COLUMNS_H
#define RLOCK_CMD_COLUMNS_H

#include <stddef.h>

/* Cuts UTF-8 text to so many columns, in front of a character. What East Asian scripts and emoji
 * take is two; a byte that is no UTF-8 counts as a character. */
void columns_cut(char *text, size_t columns);

/* How many columns it takes. */
size_t columns_of(const char *text);

#endif
