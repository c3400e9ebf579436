/* printable.h: what others wrote, made fit to be shown: names, commands, users, hosts, and the
 * texts of servers. */
#ifndef RLOCK_CMD_PRINTABLE_H
#define RLOCK_CMD_PRINTABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How many bytes the UTF-8 character at text takes, and which it is; 0: none begins there. */
size_t printable_character(const char *text, uint32_t *character);

/* False: a control character, one that is not seen, or one that changes how its neighbours stand
 * (bidirectional marks, separators of lines). */
bool printable_is(uint32_t character);

/* Makes each character that is not printable, and each byte that is no UTF-8, a '?', in place. What
 * stands in keep, ASCII only, stays. */
void printable_make(char *text, const char *keep);

#endif
