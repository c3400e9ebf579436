/* title.c: /proc/PID/cmdline is read from where the system put the arguments. */
#include "process/title.h"

#include <stdio.h>
#include <string.h>

static struct {
    char *start;
    size_t size;
} arguments;

void title_setup(int argc, char **argv) {
    arguments.start = argv[0];
    arguments.size = (size_t)(argv[argc - 1] + strlen(argv[argc - 1]) + 1 - argv[0]);
}

void title_set(const char *word) {
    memset(arguments.start, 0, arguments.size);
    (void)snprintf(arguments.start, arguments.size, "%s", word);
}
