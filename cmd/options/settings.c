/* settings.c: what settings own, and two checks that commands make themselves. */
#include "options/settings.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options/command.h"
#include "output/out.h"

struct kept_text {
    struct kept_text *next;
    size_t size;
    char text[];
};

bool complain(struct complaint *why, int status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why->text, sizeof why->text, format, arguments);
    va_end(arguments);
    why->status = status;
    return false;
}

char *settings_keep(struct settings *settings, const char *text) {
    size_t size = strlen(text) + 1;
    struct kept_text *kept = malloc(sizeof *kept + size);
    if (kept == NULL)
        return NULL;
    *kept = (struct kept_text){.next = settings->kept, .size = size};
    memcpy(kept->text, text, size);
    settings->kept = kept;
    return kept->text;
}

void settings_free(struct settings *settings) {
    while (settings->kept != NULL) {
        struct kept_text *kept = settings->kept;
        settings->kept = kept->next;
        explicit_bzero(kept->text, kept->size);
        free(kept);
    }
    if (settings->password != NULL)
        explicit_bzero(settings->password, strlen(settings->password));
    free(settings->password);
    free(settings->names);
    rlock_handle_free(settings->handle);
    *settings = (struct settings){0};
}

bool settings_want_command(const struct settings *settings, const struct cmd *cmd,
                           struct complaint *why) {
    return settings->command != NULL ||
           complain(why, EXIT_USAGE,
                    "missing command: give one after the options, as in 'rlock %s -n NAME -- "
                    "COMMAND', or with -c STRING",
                    cmd->name);
}

bool settings_check_take(const struct settings *settings, struct complaint *why) {
    return settings->permits == 0 || settings->take <= settings->permits ||
           complain(why, EXIT_USAGE,
                    "cannot use --take '%d': it is more than all permits: give at most %d",
                    settings->take, settings->permits);
}
