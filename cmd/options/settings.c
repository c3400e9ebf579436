/* settings.c: what the settings own, where each comes from, and how a check says that one is wrong.
 */
#include "options/settings.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options/opt.h"
#include "output/out.h"

struct kept_text {
    struct kept_text *next;
    size_t size;
    char text[];
};

bool complain(struct complaint *why, int status, const char *format, ...) {
    va_list arguments;
    if (why->status != 0)
        return false;
    va_start(arguments, format);
    vsnprintf(why->text, sizeof why->text, format, arguments);
    va_end(arguments);
    why->status = status;
    return false;
}

bool opt_refuse(const struct given *given, const char *format, ...) {
    enum { SHOWN_MAX = 40 };
    const struct opt *row = given->row;
    const struct origin *from = given->from;
    char shown[SHOWN_MAX + sizeof " '...'"] = "", wrong[200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(wrong, sizeof wrong, format, arguments);
    va_end(arguments);
    if (!row->secret)
        snprintf(shown, sizeof shown, " '%.*s%s'", SHOWN_MAX, given->text,
                 strlen(given->text) > SHOWN_MAX ? "..." : "");
    if (from->file != NULL)
        return complain(given->why, EXIT_CONFIG, "%s:%u: cannot use %s%s: %s", from->file,
                        from->line, row->name, shown, wrong);
    const char *name = from->source == SOURCE_HANDLE        ? "HANDLE"
                       : from->source == SOURCE_ENVIRONMENT ? row->variable
                                                            : row->name;
    return complain(given->why, EXIT_USAGE, "cannot use %s%s%s: %s",
                    name != row->name || row->commands == 0 ? "" : "--", name, shown, wrong);
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
    free(settings->names);
    rlock_handle_free(settings->handle.given);
    *settings = (struct settings){0};
}

/* --- a value, and where it came from ---------------------------------------------------------- */

const struct origin *opt_from(const struct settings *settings, size_t field) {
    return &settings->origins[opt_place(field)];
}

const char *opt_origin(const struct opt *row, const struct settings *settings,
                       char text[OPT_ORIGIN_SIZE]) {
    const struct origin *from = opt_from(settings, row->field);
    if (from->file != NULL)
        (void)snprintf(text, OPT_ORIGIN_SIZE, "%s:%u", from->file, from->line);
    else if (from->source == SOURCE_ENVIRONMENT)
        (void)snprintf(text, OPT_ORIGIN_SIZE, "%s", row->variable);
    else if (from->source == SOURCE_HANDLE)
        (void)snprintf(text, OPT_ORIGIN_SIZE, "the handle");
    else
        (void)snprintf(text, OPT_ORIGIN_SIZE, "--%s", row->name);
    return text;
}

bool opt_set(const struct opt *row, struct settings *settings, const char *value,
             const struct origin *from, struct complaint *why) {
    const struct origin *before = opt_from(settings, row->field);
    const struct given given = {row, value, from, why};
    if (before->source > from->source) {
        struct settings checked = *settings;
        const bool good = row->set(&checked, &given);
        settings->kept = checked.kept;
        return good;
    }
    if (!row->set(settings, &given))
        return false;
    settings->origins[opt_place(row->field)] = *from;
    return true;
}

bool opt_preset(struct settings *settings, struct complaint *why) {
    static const struct origin preset = {.source = SOURCE_DEFAULT};
    for (const struct opt *row = NULL; (row = opt_next(~0U, row)) != NULL;) {
        if (row->preset != NULL && !opt_set(row, settings, row->preset, &preset, why))
            return false;
    }
    return true;
}
