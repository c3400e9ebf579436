/* title.c: /proc/PID/cmdline is read from where the system put the arguments. */
#include "process/title.h"

#include <stdio.h>
#include <string.h>

static struct {
    char *start;
    size_t size;
} arguments;

void title_setup(int argc, char **argv) {
    if (argc < 1) /* before Linux 5.18 */
        return;
    arguments.start = argv[0];
    arguments.size = (size_t)(argv[argc - 1] + strlen(argv[argc - 1]) + 1 - argv[0]);
}

void title_set(const char *word) {
    if (arguments.size == 0)
        return;
    memset(arguments.start, 0, arguments.size);
    (void)snprintf(arguments.start, arguments.size, "%s", word);
}
