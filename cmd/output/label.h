/* label.h: a label of a figure, in Prometheus's text format. */
#ifndef RLOCK_CMD_LABEL_H
#define RLOCK_CMD_LABEL_H

#include <stdio.h>

/* Writes NAME="VALUE" to a stream in memory; a value of NULL is empty. Passwords in it are hidden,
 * and what is not printable is a '?', but for a newline: the format has an escape for it. */
void label_write(FILE *stream, const char *name, const char *value);

#endif
