/* cmd.c: the table of commands. */
#include "cmd.h"

#include <stdbool.h>
#include <string.h>

#include "nearest.h"
#include "out.h"

/* To add a command: cmd_NAME.c, its bit and its name in cmd.h, and a line here. */
static const struct cmd *const commands[] = {
    &cmd_run,
    &cmd_help,
};

const struct cmd *cmd_at(size_t i) {
    return i < sizeof commands / sizeof *commands ? commands[i] : NULL;
}

const struct cmd *cmd_find(const char *name) {
    struct nearest nearest = NEAREST_INIT(name);
    const struct cmd *cmd;
    for (size_t i = 0; (cmd = cmd_at(i)) != NULL; i++) {
        if (strcmp(cmd->name, name) == 0)
            return cmd;
        nearest_offer(&nearest, cmd->name);
    }
    /* Only a word is told: a URL that went astray may have a password in it. */
    bool is_word = *name != '\0' && strlen(name) <= 32 && strpbrk(name, ":/@=") == NULL;
    if (nearest.best != NULL)
        out_error("unknown command '%s': did you mean '%s'? See 'rlock help'", name, nearest.best);
    else
        out_error("unknown command%s%s%s: see 'rlock help'", is_word ? " '" : "",
                  is_word ? name : "", is_word ? "'" : "");
    return NULL;
}
