/* config.c: the config files.
 *
 * A line is "key = value", a key being an option's long name. Space around both is dropped. '#'
 * begins a comment at the start of a line or after white space, so that a URL may hold one. There
 * is no quoting. Flags take yes, no, true, false, on, off, 1 or 0. A key that stands twice counts
 * where it stands last. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nearest.h"
#include "opt.h"
#include "out.h"

#define SYSTEM_FILE    "/etc/rlock.conf"
#define LINE_MAX_BYTES 4096
#define SPACE          " \t\r\n\v\f"
#define KEY_LETTERS    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"

static void cut_comment(char *line) {
    for (char *c = line; *c != '\0'; c++) {
        if (*c == '#' && (c == line || strchr(SPACE, c[-1]) != NULL)) {
            *c = '\0';
            return;
        }
    }
}

static char *trim(char *text) {
    text += strspn(text, SPACE);
    size_t length = strlen(text);
    while (length > 0 && strchr(SPACE, text[length - 1]) != NULL)
        length--;
    text[length] = '\0';
    return text;
}

static bool complain_key(const char *key, const struct origin *at, struct complaint *why) {
    struct nearest nearest = NEAREST_INIT(key);
    const struct opt *row;
    for (size_t i = 0; (row = opt_at(~0U, i)) != NULL; i++) {
        if (row->in_file)
            nearest_offer(&nearest, row->name);
    }
    if (nearest.best == NULL)
        return complain(why, EXIT_CONFIG, "%s:%u: unknown key '%.40s': see 'rlock run --help'",
                        at->file, at->line, key);
    return complain(why, EXIT_CONFIG, "%s:%u: unknown key '%.40s': did you mean '%s'?", at->file,
                    at->line, key, nearest.best);
}

/* Splits "key = value". The line itself is never told: it may hold a password. */
static bool read_line(struct settings *settings, char *line, const struct origin *at,
                      struct complaint *why) {
    cut_comment(line);
    char *key = trim(line);
    if (*key == '\0')
        return true;
    char *equals = strchr(key, '=');
    if (equals != NULL)
        *equals = '\0';
    trim(key);
    if (equals == NULL || *key == '\0' || key[strspn(key, KEY_LETTERS)] != '\0')
        return complain(why, EXIT_CONFIG, "%s:%u: not a setting: write 'key = value'", at->file,
                        at->line);
    const struct opt *row = opt_find(key);
    if (row == NULL || row->hidden)
        return complain_key(key, at, why);
    if (!row->in_file)
        return complain(why, EXIT_CONFIG,
                        "%s:%u: '%s' cannot stand in a config file: give it as the option --%s",
                        at->file, at->line, key, key);
    const char *value = trim(equals + 1);
    if (*value == '\0')
        return complain(why, EXIT_CONFIG, "%s:%u: '%s' has no value: write '%s = value'", at->file,
                        at->line, key, key);
    value = settings_keep(settings, value);
    if (value == NULL)
        return complain(why, EXIT_SYSTEM, "cannot read config file '%s': out of memory", at->file);
    return opt_set(row, settings, value, at, why);
}

static bool read_lines(struct settings *settings, FILE *stream, struct origin *at,
                       struct complaint *why) {
    bool good = true;
    char *line = NULL;
    size_t size = 0;
    ssize_t length;
    errno = 0;
    while (good && (length = getline(&line, &size, stream)) != -1) {
        at->line++;
        if (length > LINE_MAX_BYTES)
            good = complain(why, EXIT_CONFIG, "%s:%u: the line is too long: keep it below %d bytes",
                            at->file, at->line, LINE_MAX_BYTES);
        else if (strlen(line) != (size_t)length)
            good = complain(why, EXIT_CONFIG, "%s:%u: the line has a NUL byte: write plain text",
                            at->file, at->line);
        else
            good = read_line(settings, line, at, why);
    }
    if (good && !feof(stream))
        good = complain(why, EXIT_CONFIG, "%s:%u: cannot read the config file: %s", at->file,
                        at->line + 1, strerror(errno));
    if (line != NULL)
        explicit_bzero(line, size);
    free(line);
    return good;
}

bool config_read(struct settings *settings, const char *path, enum source source, bool required,
                 struct complaint *why) {
    /* open() first: a file that is not there, the usual case, costs one system call. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0 && !required && (errno == ENOENT || errno == ENOTDIR))
        return true;
    if (fd < 0)
        return complain(why, EXIT_CONFIG, "%s: cannot open the config file: %s", path,
                        strerror(errno));
    struct origin at = {.source = source, .file = settings_keep(settings, path)};
    FILE *stream = fdopen(fd, "r");
    if (stream == NULL || at.file == NULL) {
        complain(why, EXIT_SYSTEM, "cannot read config file '%s': out of memory", path);
        if (stream != NULL)
            fclose(stream);
        else
            close(fd);
        return false;
    }
    bool good = read_lines(settings, stream, &at, why);
    fclose(stream);
    return good;
}

/* False: there is no user's file, for nothing says where. A relative path would depend on the
 * directory that cron or a user happens to be in; XDG says to ignore it. */
static bool find_user_file(char path[PATH_MAX]) {
    const char *base = getenv("XDG_CONFIG_HOME"), *below = "";
    if (base == NULL || *base != '/') {
        base = getenv("HOME");
        below = "/.config";
    }
    if (base == NULL || *base != '/')
        return false;
    return snprintf(path, PATH_MAX, "%s%s/rlock/rlock.conf", base, below) < PATH_MAX;
}

bool config_load(struct settings *settings, struct complaint *why) {
    const char *only = getenv("RLOCK_CONFIG");
    if (only != NULL && *only != '\0')
        return config_read(settings, only, SOURCE_USER_FILE, true, why);
    if (!config_read(settings, SYSTEM_FILE, SOURCE_SYSTEM_FILE, false, why))
        return false;
    char path[PATH_MAX];
    return !find_user_file(path) || config_read(settings, path, SOURCE_USER_FILE, false, why);
}
