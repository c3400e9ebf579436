/* load.h: what one run is to do, read from everywhere and checked. */
#ifndef RLOCK_CMD_LOAD_H
#define RLOCK_CMD_LOAD_H

#include <stdbool.h>

#include "options/settings.h"

/* Reads a command's options (argv[0] is its name), then the config files and the environment, and
 * checks them together. Nothing is printed, and no server is contacted.
 * Free the settings whatever the outcome. why: set with SETTINGS_BAD. */
enum settings_outcome settings_load(struct settings *settings, const struct cmd *cmd, int argc,
                                    char **argv, struct complaint *why);

/* Its parts. check.c: the command line alone, before any file is read; and all sources together,
 * which may shorten --kill-after. */
bool settings_check_command_line(const struct settings *settings, const struct cmd *cmd,
                                 struct complaint *why);
bool settings_check(struct settings *settings, const struct cmd *cmd, struct complaint *why);

/* job.c: sets the note, unless it is set, to the URL of the CI job's page, from the environment and
 * without a login. A URL that cannot be a note is ignored. False: out of memory. */
bool settings_job_note(struct settings *settings);

#endif
