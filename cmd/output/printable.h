/* printable.h: what others wrote, made fit to be shown: names, commands, users, hosts, and the
 * texts of servers; and how much of it fits. */
#ifndef RLOCK_CMD_PRINTABLE_H
#define RLOCK_CMD_PRINTABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* How many bytes the UTF-8 character at text takes, and which it is; 0: none begins there. */
size_t printable_character(const char *text, uint32_t *character);

/* False: a control character, one that is not seen, or one that changes how its neighbours stand
 * (bidirectional marks, separators of lines). */
bool printable_is(uint32_t character);

/* Makes each character that is not printable, and each byte that is no UTF-8, a '?', in place. What
 * stands in keep, ASCII only, stays. */
void printable_make(char *text, const char *keep);

/* Cuts UTF-8 text to so many columns, in front of a character. What East Asian scripts and emoji
 * take is two; a byte that is no UTF-8 counts as a character. */
void columns_cut(char *text, size_t columns);

/* How many columns it takes. */
size_t columns_of(const char *text);

/* Writes words that are separated by blanks, from column `indent` on, where the cursor is. Breaks
 * lines between words, so that none is wider than `width` columns; a word that is too long has a
 * line of its own. No word may have more than 1023 bytes. */
void columns_wrap(FILE *stream, const char *text, size_t indent, size_t width);

/* secret.c: puts "***" in the place of each password, in place: of what stands between
 * "SCHEME://USER:" and
 * '@', and behind "password=" and "passwd=", of an option, a variable or a URL's query. Never makes
 * the text longer. */
void secret_hide(char *text);

#endif
