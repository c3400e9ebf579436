/* cmd_help.c: rlock help: the help of rlock or of one command. */
#include <string.h>

#include "commands.h"
#include "output/out.h"

static int help_raw(int argc, char **argv) {
    const struct cmd *cmd = &cmd_rlock;
    if (argc == 2 && (strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "--help") == 0))
        return help_print(&cmd_help);
    for (int i = 1; i < argc; i++) {
        if (cmd->group == NULL)
            return out_fail(EXIT_USAGE, NULL, NULL,
                            "too many arguments: give 'rlock help' at most one command");
        const struct cmd *group = cmd;
        cmd = cmd_find(group, argv[i]);
        if (cmd == NULL)
            return cmd_say_unknown(group, argv[i]);
    }
    return help_print(cmd);
}

const struct cmd cmd_help = {
    .name = "help",
    .summary = "Show the help of rlock or of one command",
    .synopsis = "[COMMAND]",
    .options = CMD_HELP,
    .raw = help_raw,
};
