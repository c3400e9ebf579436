/* settings.h: what one run is to do, from options, environment and config files together. */
#ifndef RLOCK_CMD_SETTINGS_H
#define RLOCK_CMD_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rlock_handle.h"

struct cmd;

/* Where a value came from; a later one beats an earlier one. */
enum source {
    SOURCE_DEFAULT,
    SOURCE_HANDLE, /* where the lock was taken */
    SOURCE_SYSTEM_FILE,
    SOURCE_USER_FILE,
    SOURCE_ENVIRONMENT,
    SOURCE_OPTION
};

enum {
    NOTE_MAX = 256,    /* bytes */
    SETTINGS_MAX = 64, /* as many as can be set, or more */
};

/* In the order of the words in their rows of opt.c. */
enum log_format { LOG_TEXT, LOG_JSON };
enum on_lost { ON_LOST_STOP, ON_LOST_WARN };
enum prefer { PREFER_READERS, PREFER_WRITERS };
enum sort { SORT_NEWEST, SORT_NAME };

struct origin {
    enum source source;
    unsigned line;    /* of a config file */
    const char *file; /* that file; NULL: none */
};

struct kept_text; /* text that settings own */

struct settings {
    const struct cmd *cmd; /* that they are for */
    const char **names;    /* as given, -n order */
    size_t name_count;
    const char *servers[RLOCK_SERVERS_MAX]; /* URLs, maybe with a password: never print them */
    size_t server_count;                    /* several are a quorum, all of one origin; 0: none */
    const char *known[RLOCK_SERVERS_MAX];   /* those of a file, where the environment has others */
    size_t known_count;
    const char *password_file;
    char *password; /* RLOCK_PASSWORD or what is in the file; NULL: none */
    bool supersede;
    enum prefer prefer;
    int permits; /* --permits N; 0: not given */
    int take;
    bool plain;
    int resize; /* --resize N; 0: not given */
    int count;  /* --count N; 0: not given */
    int by;
    bool always;
    bool must_exist;
    bool force;
    const char *owner; /* --owner; NULL: any */
    const char *kind;  /* --kind; NULL: all */
    bool json;
    bool prometheus;
    enum sort sort;
    int64_t watch_ms; /* 0: not given */
    bool list_names;
    int64_t wait_ms;      /* RLOCK_FOREVER: no limit; 0: do not wait */
    int64_t stop_wait_ms; /* --wait of break */
    int64_t lease_ms;
    int64_t timeout_ms;    /* --timeout D, of the command; 0: no limit */
    int64_t kill_after_ms; /* at most a third of the lease */
    int64_t min_hold_ms;
    int64_t once_per_ms;  /* --once-per D; 0: not given */
    const char *once_key; /* --once-key KEY; NULL: not given */
    int max_skips;        /* --max-skips N; 0: not given */
    const char *note;     /* --note, or a CI job's page; maybe with a password; NULL or "": none */
    bool preempt, preemptible;
    int64_t connect_timeout_ms;
    int64_t io_timeout_ms;
    int replicas; /* RLOCK_REPLICAS_AUTO: not given */
    int64_t replica_timeout_ms;
    bool fsync;
    struct rlock_tls_options tls; /* its texts live as long as the settings */
    int conflict_exit_code;       /* -E; 75 */
    bool exported;                /* --export */
    int while_pid;                /* --while PID; 0: not given */
    int64_t min_ttl_ms;           /* --min-ttl D; 0: not given */
    struct rlock_handle *handle;  /* the operand; NULL: none */
    bool no_renew;
    enum on_lost on_lost;
    bool quiet;
    int verbosity; /* number of -v */
    enum log_format log;
    const char *shell_command; /* -c; NULL: none */
    /* CMD and its arguments, NULL-terminated; with -c: {"/bin/sh","-c",STRING,NULL}; NULL: none */
    char **command;

    struct origin origins[SETTINGS_MAX]; /* see opt_from() */
    char *shell_argv[4];                 /* what command points to with -c: do not copy settings */
    struct kept_text *kept;
};

/* Why settings cannot be used: one line, never with a password in it, and the exit status. */
struct complaint {
    int status;
    char text[1024];
};

/* Fills the complaint and returns false, so that a check can return it. */
bool complain(struct complaint *why, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

enum settings_outcome {
    SETTINGS_OK,
    SETTINGS_HELP, /* --help was asked for */
    SETTINGS_LIST, /* the hidden --list-options */
    SETTINGS_LIST_OPERAND,
    SETTINGS_BAD
};

/* Complains if there is no command to run. */
bool settings_want_command(const struct settings *settings, const struct cmd *cmd,
                           struct complaint *why);

/* Checks --take against --permits. */
bool settings_check_take(const struct settings *settings, struct complaint *why);

/* Wipes the secrets and frees what the settings own. */
void settings_free(struct settings *settings);

/* A copy of text that lives as long as the settings; NULL: no memory. */
char *settings_keep(struct settings *settings, const char *text);
#endif
