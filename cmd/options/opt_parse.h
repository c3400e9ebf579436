/* opt_parse.h: the command line, read by the rows of opt.h. */
#ifndef RLOCK_CMD_OPT_PARSE_H
#define RLOCK_CMD_OPT_PARSE_H

#include "options/command.h"
#include "options/opt.h"

/* Reads options up to the first operand, where the command begins (settings->command, NULL: none);
 * of a command that has operands, all options and operands, in any order.
 * Uses getopt_long(), so one thread at a time. */
enum settings_outcome opt_parse(struct settings *settings, const struct cmd *cmd, int argc,
                                char **argv, struct complaint *why);

/* Reads one option from the command line, whatever is wrong with the others. */
void opt_parse_only(struct settings *settings, const struct cmd *cmd, const struct opt *only,
                    int argc, char **argv);

#endif
