/* label.c: a label of a figure, in Prometheus's text format. */
#include "output/label.h"

#include <stdlib.h>
#include <string.h>

#include "output/printable.h"
#include "output/secret.h"

static void write_escaped(FILE *stream, const char *text) {
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\' || *text == '\n')
            fputc('\\', stream);
        fputc(*text == '\n' ? 'n' : *text, stream);
    }
}

void label_write(FILE *stream, const char *name, const char *value) {
    char *shown = strdup(value != NULL ? value : "");
    fprintf(stream, "%s=\"", name);
    if (shown != NULL) {
        secret_hide(shown);
        printable_make(shown, "\n");
        write_escaped(stream, shown);
    }
    fputc('"', stream);
    free(shown);
}
