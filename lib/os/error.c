/* error.c: the text of what went wrong last. */
#include "os/error.h"

#include <stdarg.h>
#include <stdio.h>

#include "os/control.h"

void rlock__error_set(struct rlock__error *error, const char *format, ...) {
    va_list args;
    va_start(args, format);
    (void)vsnprintf(error->text, sizeof error->text, format, args);
    va_end(args);
    /* A server's text is a stranger's: one line, nothing that moves a terminal's cursor. */
    for (char *c = error->text; *c != '\0'; c++) {
        if (rlock__is_control(*c))
            *c = ' ';
    }
}
