/* commands.c: the table of commands. */
#include "commands.h"

#include <string.h>

#include "options/opt.h"
#include "output/out.h"

/* To add a command: cmd_NAME.c, its bit and its name in commands.h, and a line here. */
static const struct cmd *const commands[] = {
    &cmd_run,     &cmd_fair,   &cmd_read,    &cmd_write, &cmd_sem,    &cmd_latch,
    &cmd_acquire, &cmd_renew,  &cmd_release, &cmd_check, &cmd_status, &cmd_wait,
    &cmd_break,   &cmd_doctor, &cmd_help,    NULL,
};

const struct cmd cmd_rlock = {
    .name = "",
    .summary = "Distributed locks for the shell, on Redis",
    .synopsis = "COMMAND [options] ...",
    .group = commands,
};

const char *cmd_word(const struct cmd *cmd) {
    const char *space = strrchr(cmd->name, ' ');
    return space != NULL ? space + 1 : cmd->name;
}

const char *cmd_gap(const struct cmd *cmd) {
    return *cmd->name != '\0' ? " " : "";
}

int cmd_say_unknown(const struct cmd *group, const char *word) {
    struct suggestion suggestion = SUGGESTION_INIT(word);
    for (size_t i = 0; group->group[i] != NULL; i++)
        suggest_offer(&suggestion, cmd_word(group->group[i]));
    const char *name = group->name, *gap = cmd_gap(group);
    /* Only a word is repeated: a misplaced URL may contain a password. */
    const bool is_word = *word != '\0' && strlen(word) <= 32 && strpbrk(word, ":/@=") == NULL;
    const char *ours = group == &cmd_rlock ? explain_command(word) : NULL;
    if (ours != NULL)
        return out_fail(EXIT_USAGE, NULL, NULL,
                        "unknown command '%s': did you mean '%s'? See 'rlock help'", word, ours);
    if (suggestion.best != NULL)
        return out_fail(EXIT_USAGE, NULL, NULL,
                        "unknown command '%s%s%s': did you mean '%s%s%s'? See 'rlock help%s%s'",
                        name, gap, word, name, gap, suggestion.best, gap, name);
    return out_fail(
        EXIT_USAGE, NULL, NULL, "unknown command%s%s%s%s%s: %ssee 'rlock help%s%s'",
        is_word ? " '" : "", is_word ? name : "", is_word ? gap : "", is_word ? word : "",
        is_word ? "'" : "",
        group == &cmd_rlock ? "to run one under a lock: 'rlock run -n NAME -- COMMAND'; " : "", gap,
        name);
}

const struct cmd *cmd_find(const struct cmd *group, const char *word) {
    for (size_t i = 0; group->group[i] != NULL; i++) {
        if (strcmp(cmd_word(group->group[i]), word) == 0)
            return group->group[i];
    }
    return NULL;
}
