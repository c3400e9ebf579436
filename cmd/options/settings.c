/* settings.c: what the settings own, and how a check says that they are wrong. */
#include "options/settings.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    if (settings->server.password != NULL)
        explicit_bzero(settings->server.password, strlen(settings->server.password));
    free(settings->server.password);
    free(settings->names);
    rlock_handle_free(settings->handle.given);
    *settings = (struct settings){0};
}
