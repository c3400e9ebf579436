/* config.c: the config files.
 *
 * A line is "key = value", a key being an option's long name. Space around both is dropped. '#'
 * begins a comment at the start of a line or after white space, so that a URL may hold one. There
 * is no quoting. Flags take yes, no, true, false, on, off, 1 or 0. A key that stands twice counts
 * where it stands last. */
#include "options/settings.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options/command.h"
#include "options/lines.h"
#include "options/opt.h"
#include "output/out.h"

#define SYSTEM_FILE "/etc/rlock.conf"
#define SPACE       " \t\r\n\v\f"
#define KEY_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"

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
    struct suggestion suggestion = SUGGESTION_INIT(key);
    if (strcmp(key, "password") == 0)
        return complain(why, EXIT_CONFIG,
                        "%s:%u: unknown key 'password': give password-file, the path of a file "
                        "that the password is in",
                        at->file, at->line);
    for (const struct opt *row = NULL; (row = opt_next(~0U, row)) != NULL;) {
        if (row->in_file)
            suggest_offer(&suggestion, row->name);
    }
    if (suggestion.best == NULL)
        return complain(why, EXIT_CONFIG, "%s:%u: unknown key '%.40s': see 'rlock run --help'",
                        at->file, at->line, key);
    return complain(why, EXIT_CONFIG, "%s:%u: unknown key '%.40s': did you mean '%s'?", at->file,
                    at->line, key, suggestion.best);
}

/* A file is no shell script. A note is any text. */
static bool is_quoted(const char *value) {
    const size_t length = strlen(value);
    return length > 1 && (*value == '"' || *value == '\'') && value[length - 1] == *value;
}

/* Splits "key = value". The line itself is never shown: it may contain a password. */
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
    if (is_quoted(value) && strcmp(key, "note") != 0)
        return complain(why, EXIT_CONFIG,
                        "%s:%u: '%s' has a value in quotes: write it without them", at->file,
                        at->line, key);
    value = settings_keep(settings, value);
    if (value == NULL)
        return complain(why, EXIT_SYSTEM, "cannot read config file '%s': out of memory", at->file);
    return (row->not_from_file & settings->cmd->options) != 0 ||
           opt_set(row, settings, value, at, why);
}

static bool read_lines(struct settings *settings, struct lines *lines, struct origin *at,
                       struct complaint *why) {
    const char *wrong;
    bool good = true;
    while (lines_next(lines, &wrong)) {
        at->line = lines->number;
        good = read_line(settings, lines->text, at, why) && good;
    }
    if (wrong != NULL)
        good = complain(why, EXIT_CONFIG, "%s:%u: %s", at->file, lines->number, wrong);
    return good;
}

bool config_read(struct settings *settings, const char *path, enum source source, bool required,
                 struct complaint *why) {
    struct lines lines;
    const char *wrong;
    /* Opened first: a file that is not there, the usual case, costs one system call. */
    if (!lines_open(&lines, path, false, &wrong))
        return (!required && (errno == ENOENT || errno == ENOTDIR)) ||
               complain(why, EXIT_CONFIG, "%s: cannot open the config file: %s%s", path, wrong,
                        required ? "" : "; RLOCK_CONFIG may name another");
    struct origin at = {.source = source, .file = settings_keep(settings, path)};
    const bool good =
        at.file != NULL
            ? read_lines(settings, &lines, &at, why)
            : complain(why, EXIT_SYSTEM, "cannot read config file '%s': out of memory", path);
    lines_close(&lines);
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
    const char *instead = getenv("RLOCK_CONFIG");
    if (instead != NULL && *instead != '\0')
        return config_read(settings, instead, SOURCE_USER_FILE, true, why);
    const bool good = config_read(settings, SYSTEM_FILE, SOURCE_SYSTEM_FILE, false, why);
    char path[PATH_MAX];
    return (!find_user_file(path) || config_read(settings, path, SOURCE_USER_FILE, false, why)) &&
           good;
}
