/* help.c: what --help and the hidden --list-... print, made from the same rows that options are
 * parsed by. */
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "options/opt.h"
#include "output/out.h"
#include "output/printable.h"

#define HELP_COLUMN  29
#define LINE_COLUMNS 80

static void write_option(FILE *stream, const struct opt *row) {
    char text[256];
    int column =
        row->letter != 0 ? fprintf(stream, "  -%c, ", row->letter) : fprintf(stream, "      ");
    column += fprintf(stream, "--%s", row->name);
    if (row->arg != NULL)
        column += fprintf(stream, row->bare != NULL ? "[=%s]" : " %s", row->arg);
    snprintf(text, sizeof text, row->preset != NULL ? "%s (default: %s)" : "%s", row->help,
             row->preset);
    if (column + 2 > HELP_COLUMN) { /* no room beside it */
        fputc('\n', stream);
        column = 0;
    }
    fprintf(stream, "%*s", HELP_COLUMN - column, "");
    columns_wrap(stream, text, HELP_COLUMN, LINE_COLUMNS);
    fputc('\n', stream);
}

/* One line for each form of the synopsis. */
static void write_usage(FILE *stream, const struct cmd *cmd) {
    const char *lead = "Usage:", *form = cmd->synopsis;
    for (;;) {
        int length = (int)strcspn(form, "\n");
        fprintf(stream, "%s rlock %s%s%.*s\n", lead, cmd->name, cmd_gap(cmd), length, form);
        if (form[length] == '\0')
            return;
        form += length + 1;
        lead = "   or:";
    }
}

static void write_options(FILE *stream, const struct cmd *cmd) {
    fputs("\nOptions:\n", stream);
    bool takes_duration = false;
    for (const struct opt *row = NULL; (row = opt_next(cmd->options, row)) != NULL;) {
        if (row->hidden)
            continue;
        if (row->heading != NULL)
            fprintf(stream, "\n%s:\n", row->heading);
        write_option(stream, row);
        takes_duration |= row->arg != NULL && strcmp(row->arg, "D") == 0;
    }
    if (takes_duration)
        fputs("\nD is a duration: 250ms, 30s, 5m, 2h or 1d; a number alone is seconds.\n", stream);
}

static void write_group(FILE *stream, const struct cmd *cmd) {
    fputs("\nCommands:\n", stream);
    for (const struct cmd *member = cmd->group; member->name != NULL; member++)
        fprintf(stream, "  %-10s %s\n", cmd_word(member), member->summary);
    fprintf(stream,
            "\nOptions:\n"
            "  -h, --help  show this help; 'rlock help %s%sCOMMAND' shows a command's\n",
            cmd->name, cmd_gap(cmd));
    if (cmd == &cmd_rlock)
        fputs("  --version   show the version\n"
              "\nExample: rlock run -n backup -s redis://redis.example -- ./backup.sh\n",
              stream);
}

int help_print(const struct cmd *cmd) {
    struct out_page page;
    FILE *stream = out_page_begin(&page);
    if (stream == NULL)
        return EXIT_SYSTEM;
    write_usage(stream, cmd);
    fprintf(stream, "\n%s.\n", cmd->summary);
    if (cmd->group != NULL)
        write_group(stream, cmd);
    else
        write_options(stream, cmd);
    return out_page_end(&page);
}

int help_raw(int argc, char **argv) {
    const struct cmd *cmd = &cmd_rlock;
    if (argc == 2 && (strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "--help") == 0))
        return help_print(cmd_find(cmd, argv[0]));
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

int help_list_options(const struct cmd *cmd) {
    struct out_page page;
    FILE *stream = out_page_begin(&page);
    if (stream == NULL)
        return EXIT_SYSTEM;
    for (const struct opt *row = NULL; (row = opt_next(cmd->options, row)) != NULL;) {
        if (row->hidden)
            continue;
        if (row->letter != 0)
            fprintf(stream, "-%c", row->letter);
        /* An optional argument is not a word of its own: it follows '='. */
        fprintf(stream, "\t--%s\t%s\t%s\n", row->name,
                row->arg != NULL && row->bare == NULL ? row->arg : "", row->help);
    }
    if (cmd->operand != NULL || cmd->child != CHILD_NONE)
        fprintf(stream, "\t\t%s\t\n", cmd->operand != NULL ? cmd->operand->name : "COMMAND");
    return out_page_end(&page);
}

int help_list_commands(const struct cmd *group) {
    int status = 0;
    for (const struct cmd *cmd = group->group; status == 0 && cmd->name != NULL; cmd++) {
        char text[256];
        snprintf(text, sizeof text, "%s\t%s\n", cmd_word(cmd), cmd->summary);
        status = out_stdout(text);
    }
    return status;
}
