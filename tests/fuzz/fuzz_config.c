/* fuzz_config.c: a config file: read, or refused with a line that says why. */
#include "fuzz.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "commands.h"
#include "options/opt.h"
#include "options/settings.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct settings settings = {.cmd = cmd_find(&cmd_rlock, "run")};
    struct complaint why = {0};
    char path[64];
    const int fd = memfd_create("config", 0);
    assert(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    const bool preset = opt_preset(&settings, &why);
    assert(preset);
    if (!config_read(&settings, path, SOURCE_USER_FILE, true, &why))
        assert(why.status != 0 && why.text[0] != '\0');
    settings_free(&settings);
    close(fd);
    return 0;
}
