/* config.h: the config files, "key = value". */
#ifndef RLOCK_CMD_CONFIG_H
#define RLOCK_CMD_CONFIG_H

#include "options/settings.h"

/* Reads the file that RLOCK_CONFIG names, or else the system's and the user's, where there are any.
 * False: why says FILE:LINE and what is wrong. */
bool config_load(struct settings *settings, struct complaint *why);

/* Reads one option from them, for a run that something else is wrong with: of a file, too. */
struct opt;
void config_find(struct settings *settings, const struct opt *only);

/* Reads one file. required: that it is missing is an error as well. */
bool config_read(struct settings *settings, const char *path, enum source source, bool required,
                 struct complaint *why);
#endif
