/* opt_value.c: what an option's value may be, and where it goes. */
#include "options/opt_value.h"

#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options/local_url.h"
#include "output/duration.h"
#include "rlock.h"

static_assert(DURATION_MAX_MS <= RLOCK_TIME_MAX_MS, /* NOLINT(misc-redundant-expression) */
              "a duration that can be written can be used");
static_assert(NOTE_MAX <= RLOCK_TEXT_MAX, "a note that is taken can be shown");

static bool refuse(struct reason *reason, const char *text) {
    snprintf(reason->text, sizeof reason->text, "%s", text);
    return false;
}

static bool refuse_memory(struct reason *reason) {
    reason->no_memory = true;
    return false;
}

static bool has_control(const char *text) {
    while (*text != '\0' && !iscntrl((unsigned char)*text))
        text++;
    return *text != '\0';
}

bool set_name(const struct opt *row, struct settings *settings, const char *value,
              const struct origin *from, struct reason *reason) {
    (void)row;
    (void)from;
    const char *fault = rlock_name_fault(value);
    if (fault != NULL)
        return refuse(reason, fault);
    const char **names =
        realloc(settings->names, (settings->name_count + 1) * sizeof *settings->names);
    if (names == NULL)
        return refuse_memory(reason);
    names[settings->name_count++] = value;
    settings->names = names;
    return true;
}

/* Whether a relative path means what its author meant: on the command line it is the caller's
 * directory's, while a file or a variable is read in any directory. */
static bool has_directory(const struct origin *from) {
    return from->source == SOURCE_OPTION;
}

/* Several are a quorum: of several options, or of one value, separated by spaces. All come from one
 * source. The URLs themselves are the library's to read, and so is what servers make a quorum.
 */
bool set_server(const struct opt *row, struct settings *settings, const char *value,
                const struct origin *from, struct reason *reason) {
    const char *found[RLOCK_SERVERS_MAX];
    const bool again = settings->origins[row->key].source == from->source;
    size_t count = again ? settings->server_count : 0;
    if (again && from->source != SOURCE_OPTION)
        return refuse(reason, "there is a server already: the servers of a quorum stand on one "
                              "line, separated by spaces");
    char *rest = settings_keep(settings, value), *word;
    if (rest == NULL)
        return refuse_memory(reason);
    memcpy(found, settings->servers, sizeof found);
    while ((word = strsep(&rest, " \t\r\n")) != NULL) {
        if (*word != '\0' && count == RLOCK_SERVERS_MAX)
            return refuse(reason, "too many servers: a quorum has at most 15");
        if (local_is(word) && local_is_relative(word) && !has_directory(from))
            return refuse(reason, "local:DIR is relative, and would be another server in each "
                                  "directory: give the whole path");
        if (*word != '\0')
            found[count++] = word;
    }
    if (count == 0)
        return refuse(reason, "it is empty: give a URL such as redis://127.0.0.1:6379");
    if (from->source == SOURCE_ENVIRONMENT) {
        memcpy(settings->known, settings->servers, sizeof found);
        settings->known_count = settings->server_count;
    }
    memcpy(settings->servers, found, sizeof found);
    settings->server_count = count;
    return true;
}

bool set_duration(const struct opt *row, struct settings *settings, const char *value,
                  const struct origin *from, struct reason *reason) {
    (void)from;
    int64_t ms;
    const char *wrong = duration_parse(&ms, value);
    if (wrong != NULL)
        return refuse(reason, wrong);
    char least[DURATION_TEXT_SIZE], most[DURATION_TEXT_SIZE];
    duration_format(least, row->min);
    duration_format(most, row->max);
    if (row->max != 0 && (ms < row->min || ms > row->max)) {
        snprintf(reason->text, sizeof reason->text, "it is too %s: give %s to %s",
                 ms < row->min ? "short" : "long", least, most);
        return false;
    }
    if (ms < row->min) {
        snprintf(reason->text, sizeof reason->text, "it is too short: give at least %s", least);
        return false;
    }
    memcpy((char *)settings + row->offset, &ms, sizeof ms);
    return true;
}

bool set_text(const struct opt *row, struct settings *settings, const char *value,
              const struct origin *from, struct reason *reason) {
    (void)from;
    if (*value == '\0')
        return refuse(reason, "it is empty: give one, or leave it out");
    memcpy((char *)settings + row->offset, &value, sizeof value);
    return true;
}

bool set_path(const struct opt *row, struct settings *settings, const char *value,
              const struct origin *from, struct reason *reason) {
    if (*value != '/' && *value != '\0' && !has_directory(from))
        return refuse(reason, "it is relative, and would be another file in each directory: give "
                              "the whole path");
    return set_text(row, settings, value, from, reason);
}

bool set_note(const struct opt *row, struct settings *settings, const char *value,
              const struct origin *from, struct reason *reason) {
    (void)row;
    (void)from;
    if (strlen(value) > NOTE_MAX)
        return refuse(reason, "it is too long: a note has at most 256 bytes");
    if (has_control(value))
        return refuse(reason, "it has a control character: a note is one line of text");
    settings->note = value;
    return true;
}

bool set_wait(const struct opt *row, struct settings *settings, const char *value,
              const struct origin *from, struct reason *reason) {
    if (strcmp(value, "forever") != 0)
        return set_duration(row, settings, value, from, reason);
    settings->wait_ms = RLOCK_FOREVER;
    return true;
}

bool set_number(const struct opt *row, struct settings *settings, const char *value,
                const struct origin *from, struct reason *reason) {
    (void)from;
    size_t digits = strspn(value, "0123456789");
    /* With at most ten digits it cannot overflow; no row's max has more, or is more than an int. */
    const long long read =
        digits > 0 && digits <= 10 && value[digits] == '\0' ? strtoll(value, NULL, 10) : -1;
    if (read < row->min || read > row->max) {
        snprintf(reason->text, sizeof reason->text, "give a whole number from %d to %d",
                 (int)row->min, (int)row->max);
        return false;
    }
    const int number = (int)read;
    memcpy((char *)settings + row->offset, &number, sizeof number);
    return true;
}

/* The command line says "yes"; a config file may also say no. */
static bool read_flag(bool *flag, const char *value, struct reason *reason) {
    static const struct {
        const char *word;
        bool flag;
    } words[] = {{"yes", true}, {"no", false},  {"true", true}, {"false", false},
                 {"on", true},  {"off", false}, {"1", true},    {"0", false}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(words[i].word, value) == 0) {
            *flag = words[i].flag;
            return true;
        }
    }
    return refuse(reason, "give yes or no");
}

bool set_flag(const struct opt *row, struct settings *settings, const char *value,
              const struct origin *from, struct reason *reason) {
    (void)from;
    bool flag;
    if (!read_flag(&flag, value, reason))
        return false;
    memcpy((char *)settings + row->offset, &flag, sizeof flag);
    return true;
}

bool set_no_wait(const struct opt *row, struct settings *settings, const char *value,
                 const struct origin *from, struct reason *reason) {
    (void)row;
    (void)from;
    bool flag;
    if (!read_flag(&flag, value, reason))
        return false;
    if (flag)
        settings->wait_ms = 0;
    else if (settings->wait_ms == 0) /* "no-wait = no" takes back a weaker file's "yes" */
        settings->wait_ms = RLOCK_FOREVER;
    return true;
}

bool set_verbose(const struct opt *row, struct settings *settings, const char *value,
                 const struct origin *from, struct reason *reason) {
    (void)row;
    bool flag;
    if (!read_flag(&flag, value, reason))
        return false;
    if (flag && from->source == SOURCE_OPTION)
        settings->verbosity++;
    else
        settings->verbosity = flag;
    return true;
}

bool set_on_lost(const struct opt *row, struct settings *settings, const char *value,
                 const struct origin *from, struct reason *reason) {
    (void)row;
    (void)from;
    bool warn = strcmp(value, "warn") == 0;
    if (!warn && strcmp(value, "stop") != 0)
        return refuse(reason, "give stop or warn");
    settings->warn_on_lost = warn;
    return true;
}

bool set_prefer(const struct opt *row, struct settings *settings, const char *value,
                const struct origin *from, struct reason *reason) {
    (void)row;
    (void)from;
    bool readers = strcmp(value, "readers") == 0;
    if (!readers && strcmp(value, "writers") != 0)
        return refuse(reason, "give readers or writers");
    settings->prefer_readers = readers;
    return true;
}

bool set_kind(const struct opt *row, struct settings *settings, const char *value,
              const struct origin *from, struct reason *reason) {
    (void)from;
    const size_t length = strlen(value);
    for (const char *word = row->arg; word != NULL; word = strchr(word, '|')) {
        word += *word == '|';
        if (length > 0 && strcspn(word, "|") == length && strncmp(word, value, length) == 0) {
            settings->kind = value;
            return true;
        }
    }
    return refuse(reason, "give run, fair, read, write, sem or latch");
}

bool set_log(const struct opt *row, struct settings *settings, const char *value,
             const struct origin *from, struct reason *reason) {
    (void)row;
    (void)from;
    bool json = strcmp(value, "json") == 0;
    if (!json && strcmp(value, "text") != 0)
        return refuse(reason, "give text or json");
    settings->log = json ? LOG_JSON : LOG_TEXT;
    return true;
}

bool set_handle(const struct opt *row, struct settings *settings, const char *value,
                const struct origin *from, struct reason *reason) {
    (void)row;
    (void)from;
    struct rlock_handle *handle;
    const enum rlock_status status = rlock_handle_read(&handle, value);
    if (status == RLOCK_SYSTEM)
        return refuse_memory(reason);
    if (*value == '\0')
        return refuse(reason, "it is empty: give the line that 'rlock acquire' printed");
    if (status != RLOCK_OK)
        return refuse(reason, "it is no handle, or only a part of one: give the line that 'rlock "
                              "acquire' printed, unchanged");
    rlock_handle_free(settings->handle);
    settings->handle = handle;
    return true;
}

bool set_command(const struct opt *row, struct settings *settings, const char *value,
                 const struct origin *from, struct reason *reason) {
    (void)row;
    (void)from;
    (void)reason;
    settings->shell_command = value;
    return true;
}
