/* opt_value.c: what an option's value may be, and where it goes. */
#include "options/opt.h"

#include <assert.h>
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options/local_url.h"
#include "output/duration.h"
#include "output/out.h"
#include "rlock.h"

static_assert(DURATION_MAX_MS <= RLOCK_TIME_MAX_MS, /* NOLINT(misc-redundant-expression) */
              "a duration that can be written can be used");
static_assert(NOTE_MAX <= RLOCK_TEXT_MAX, "a note that is taken can be shown");

static bool refuse_memory(const struct given *given) {
    return complain(given->why, EXIT_SYSTEM, "cannot use %s: out of memory", given->row->name);
}

static void *field_of(struct settings *settings, const struct given *given) {
    return (char *)settings + given->row->field;
}

static bool has_control(const char *text) {
    while (*text != '\0' && !iscntrl((unsigned char)*text))
        text++;
    return *text != '\0';
}

bool set_name(struct settings *settings, const struct given *given) {
    const char *fault = rlock_name_fault(given->text);
    if (fault != NULL)
        return opt_refuse(given, "%s", fault);
    const char **names =
        realloc(settings->names, (settings->name_count + 1) * sizeof *settings->names);
    if (names == NULL)
        return refuse_memory(given);
    names[settings->name_count++] = given->text;
    settings->names = names;
    return true;
}

/* A relative path on the command line belongs to the caller's directory; in a file or a variable,
 * which are read in any directory, it is ambiguous. */
static bool has_directory(const struct given *given) {
    return given->from->source == SOURCE_OPTION;
}

/* Several servers are a quorum: from several options, or from one value with spaces. All come from
 * one source. The library reads the URLs, and checks whether they can be a quorum. */
bool set_server(struct settings *settings, const struct given *given) {
    const char **urls = settings->server.urls;
    const enum source source = given->from->source;
    const bool again = OPT_FROM(settings, server.urls)->source == source;
    size_t count = again ? settings->server.count : 0;
    if (again && source != SOURCE_OPTION)
        return opt_refuse(given, "there is a server already: the servers of a quorum stand on one "
                                 "line, separated by spaces");
    const size_t first = count;
    if (*given->text == '"' || *given->text == '\'')
        return opt_refuse(given, "it is in quotes: write it without them");
    char *rest = settings_keep(settings, given->text), *word;
    if (rest == NULL)
        return refuse_memory(given);
    if (source == SOURCE_ENVIRONMENT) {
        memcpy(settings->server.known, urls, sizeof settings->server.known);
        settings->server.known_count = settings->server.count;
    }
    while ((word = strsep(&rest, " \t\r\n")) != NULL) {
        if (*word == '\0')
            continue;
        if (count == RLOCK_SERVERS_MAX)
            return opt_refuse(given, "too many servers: a quorum has at most 15");
        if (local_is(word) && word[sizeof LOCAL_PREFIX - 1] == '~')
            return opt_refuse(given, "the shell leaves '~' behind a colon as it is: give "
                                     "local:\"$HOME\"/DIR");
        if (local_is(word) && local_is_relative(word) && !has_directory(given))
            return opt_refuse(given, "local:DIR is relative, and would be another server in each "
                                     "directory: give the whole path");
        if (count > first && local_is(urls[count - 1]) && strchr(word, ':') == NULL)
            return opt_refuse(given, "'%s' is no URL: in local:DIR, write a space as %%20", word);
        urls[count++] = word;
    }
    if (count == 0)
        return opt_refuse(given, "it is empty: give a URL such as redis://127.0.0.1:6379");
    settings->server.count = count;
    return true;
}

bool set_duration(struct settings *settings, const struct given *given) {
    const struct opt *row = given->row;
    int64_t ms;
    const char *wrong = duration_parse(&ms, given->text);
    if (wrong != NULL)
        return opt_refuse(given, "%s", wrong);
    char least[DURATION_TEXT_SIZE], most[DURATION_TEXT_SIZE];
    duration_format(least, row->min);
    duration_format(most, row->max);
    if (row->max != 0 && (ms < row->min || ms > row->max))
        return opt_refuse(given, "it is too %s: give %s to %s", ms < row->min ? "short" : "long",
                          least, most);
    if (ms < row->min)
        return opt_refuse(given, "it is too short: give at least %s", least);
    memcpy(field_of(settings, given), &ms, sizeof ms);
    return true;
}

bool set_any_text(struct settings *settings, const struct given *given) {
    memcpy(field_of(settings, given), &given->text, sizeof given->text);
    return true;
}

bool set_text(struct settings *settings, const struct given *given) {
    if (*given->text == '\0')
        return opt_refuse(given, "it is empty: give one, or leave it out");
    const int64_t most = given->row->max;
    if (most != 0 && strlen(given->text) > (uint64_t)most)
        return opt_refuse(given, "it is too long: give at most %" PRId64 " bytes", most);
    return set_any_text(settings, given);
}

bool set_shell(struct settings *settings, const struct given *given) {
    char **words = settings->run.command = settings->run.shell;
    words[0] = "/bin/sh";
    words[1] = "-c";
    words[2] = (char *)given->text; /* exec does not write to it */
    return true;
}

bool set_path(struct settings *settings, const struct given *given) {
    if (*given->text != '/' && *given->text != '\0' && !has_directory(given))
        return opt_refuse(given,
                          "it is relative, and would be another file in each directory: give "
                          "the whole path");
    return set_text(settings, given);
}

bool set_note(struct settings *settings, const struct given *given) {
    if (strlen(given->text) > NOTE_MAX)
        return opt_refuse(given, "it is too long: a note has at most 256 bytes");
    if (has_control(given->text))
        return opt_refuse(given, "it has a control character: a note is one line of text");
    return set_any_text(settings, given);
}

bool set_wait(struct settings *settings, const struct given *given) {
    if (strcmp(given->text, "forever") != 0)
        return set_duration(settings, given);
    settings->lock.wait_ms = RLOCK_FOREVER;
    return true;
}

bool set_number(struct settings *settings, const struct given *given) {
    const struct opt *row = given->row;
    const bool negative = row->min < 0 && *given->text == '-';
    const char *text = given->text + (negative ? 1 : 0);
    size_t digits = strspn(text, "0123456789");
    /* With at most ten digits it cannot overflow; no row's max has more, or is more than an int. */
    const bool is_number = digits > 0 && digits <= 10 && text[digits] == '\0';
    const long long read = is_number ? strtoll(given->text, NULL, 10) : 0;
    if (!is_number || read < row->min || read > row->max)
        return opt_refuse(given, "give a whole number from %d to %d", (int)row->min, (int)row->max);
    const int number = (int)read;
    memcpy(field_of(settings, given), &number, sizeof number);
    return true;
}

/* The command line says "yes"; a config file may also say no. */
static bool read_flag(bool *flag, const struct given *given) {
    static const struct {
        const char *word;
        bool flag;
    } words[] = {{"yes", true}, {"no", false},  {"true", true}, {"false", false},
                 {"on", true},  {"off", false}, {"1", true},    {"0", false}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(words[i].word, given->text) == 0) {
            *flag = words[i].flag;
            return true;
        }
    }
    (void)opt_refuse(given, "give yes or no");
    return false;
}

bool set_flag(struct settings *settings, const struct given *given) {
    return read_flag(field_of(settings, given), given);
}

/* What was said last counts: each takes back the other. */
bool set_loudness(struct settings *settings, const struct given *given) {
    bool *flag = field_of(settings, given);
    if (!read_flag(flag, given))
        return false;
    bool *other = flag == &settings->quiet ? &settings->verbose : &settings->quiet;
    *other = *other && !*flag;
    return true;
}

bool set_no_wait(struct settings *settings, const struct given *given) {
    bool flag;
    if (!read_flag(&flag, given))
        return false;
    if (flag)
        settings->lock.wait_ms = 0;
    else if (settings->lock.wait_ms == 0) /* "no-wait = no" takes back a weaker file's "yes" */
        settings->lock.wait_ms = RLOCK_FOREVER;
    return true;
}

/* "give stop or warn", of "stop|warn". */
static bool refuse_choice(const struct given *given) {
    const char *rest = given->row->arg;
    char words[100] = "";
    size_t used = 0;
    for (bool is_first = true; rest != NULL && used < sizeof words; is_first = false) {
        const char *next = strchr(rest, '|');
        const char *gap = is_first ? "" : next == NULL ? " or " : ", ";
        used += (size_t)snprintf(words + used, sizeof words - used, "%s%.*s", gap,
                                 (int)strcspn(rest, "|"), rest);
        rest = next != NULL ? next + 1 : NULL;
    }
    return opt_refuse(given, "give %s", words);
}

/* The place of the value among the words of "stop|warn"; -1: it is none of them. */
static int find_choice(const struct given *given) {
    const size_t length = strlen(given->text);
    const char *word = given->row->arg;
    for (int i = 0; word != NULL; i++) {
        if (length > 0 && strcspn(word, "|") == length && strncmp(word, given->text, length) == 0)
            return i;
        word = strchr(word, '|');
        word = word != NULL ? word + 1 : NULL;
    }
    return -1;
}

bool set_choice(struct settings *settings, const struct given *given) {
    const int choice = find_choice(given);
    if (choice < 0)
        return refuse_choice(given);
    memcpy(field_of(settings, given), &choice, sizeof choice);
    return true;
}

bool set_choice_text(struct settings *settings, const struct given *given) {
    return find_choice(given) < 0 ? refuse_choice(given) : set_any_text(settings, given);
}

bool set_handle(struct settings *settings, const struct given *given) {
    static const struct origin from = {.source = SOURCE_HANDLE};
    struct rlock_handle *handle;
    const enum rlock_status status = rlock_handle_read(&handle, given->text);
    if (status == RLOCK_SYSTEM)
        return refuse_memory(given);
    if (*given->text == '\0')
        return opt_refuse(given, "it is empty: give the line that 'rlock acquire' printed");
    if (status != RLOCK_OK)
        return opt_refuse(given,
                          "it is no handle, or only a part of one: give the line that 'rlock "
                          "acquire' printed, unchanged");
    rlock_handle_free(settings->handle.given);
    settings->handle.given = handle;
    /* It names the servers where the lock was taken; --server overrides them. */
    return opt_set(opt_find("server"), settings, handle->servers, &from, given->why);
}
