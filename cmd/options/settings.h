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
enum sort { SORT_NEWEST, SORT_NAME };

struct origin {
    enum source source;
    unsigned line;    /* of a config file */
    const char *file; /* that file; NULL: none */
};

struct kept_text; /* text that settings own */

/* Which servers, and how they are reached: for server.c. */
struct server_settings {
    const char *urls[RLOCK_SERVERS_MAX];  /* maybe with a password: never print them */
    size_t count;                         /* several are a quorum, all of one origin; 0: none */
    const char *known[RLOCK_SERVERS_MAX]; /* those of a file, where the environment has others */
    size_t known_count;
    const char *password_file;
    const char *password; /* RLOCK_PASSWORD or what is in the file; NULL: none */
    int64_t connect_timeout_ms;
    int64_t io_timeout_ms;
    int replicas; /* RLOCK_REPLICAS_AUTO: not given */
    int64_t replica_timeout_ms;
    bool fsync;
    struct rlock_tls_options tls; /* its texts live as long as the settings */
};

/* How a lock is taken: for acquire.c, and what it says where it was not. */
struct lock_settings {
    int64_t wait_ms; /* RLOCK_FOREVER: no limit; 0: do not wait */
    int64_t lease_ms;
    int64_t min_hold_ms;
    int any; /* --any K; 0: not given: all names */
    bool supersede;
    int priority;
    int permits; /* --permits N; 0: not given */
    int take;
    bool plain;
    bool must_exist;
    int64_t once_per_ms;  /* --once-per D; 0: not given */
    const char *once_key; /* --once-key KEY; NULL: not given */
    int max_skips;        /* --max-skips N; 0: not given */
    const char *note;     /* --note, or a CI job's page; maybe with a password; NULL or "": none */
    bool preempt, preemptible;
    int conflict_exit_code; /* -E; 75 */
};

/* The command that runs under a lock: for run.c and command.c. */
struct run_settings {
    char **command;        /* CMD and its arguments, NULL-terminated; NULL: none */
    char *shell[4];        /* what that is with -c: "/bin/sh", "-c", STRING, NULL */
    int64_t timeout_ms;    /* --timeout D, of the command; 0: no limit */
    int64_t kill_after_ms; /* at most a third of the lease */
    bool no_renew;
    enum on_lost on_lost;
    bool always; /* count a latch down although the command has failed */
};

/* What is changed without being held: for counter.c. */
struct counter_settings {
    int resize; /* --resize N; 0: not given */
    int count;  /* --count N; 0: not given */
    int by;
};

/* Locks that are left behind a handle. */
struct handle_settings {
    bool exported;              /* --export */
    int while_pid;              /* --while PID; 0: not given */
    int64_t min_ttl_ms;         /* --min-ttl D; 0: not given */
    struct rlock_handle *given; /* the operand; NULL: none */
};

/* What is shown of the locks of others, and which of them are broken: for cmd/report. */
struct look_settings {
    const char *owner; /* --owner; NULL: any */
    const char *kind;  /* --kind; NULL: all */
    bool json;
    enum sort sort;
    int64_t watch_ms; /* 0: not given */
    bool list_names;
    bool force;
    int64_t stop_wait_ms; /* --wait of break */
};

struct settings {
    const struct cmd *cmd; /* that they are for */
    const char **names;    /* as given, -n order */
    size_t name_count;
    struct server_settings server;
    struct lock_settings lock;
    struct run_settings run;
    struct counter_settings counter;
    struct handle_settings handle;
    struct look_settings look;
    bool quiet, verbose;
    enum log_format log;
    struct origin origins[SETTINGS_MAX]; /* see opt_from() */
    struct kept_text *kept;
};

/* Why settings cannot be used: one line, never with a password in it, and the exit status. What is
 * read is read to its end all the same, for --log may stand behind the mistake, and says how to
 * report it. */
struct complaint {
    int status; /* 0: no complaint */
    char text[1024];
};

/* Fills the complaint, unless there is one: the first counts. Returns false, so that a check can
 * return it. */
bool complain(struct complaint *why, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

enum settings_outcome {
    SETTINGS_OK,
    SETTINGS_HELP, /* --help was asked for */
    SETTINGS_LIST, /* the hidden --list-options */
    SETTINGS_BAD
};

/* Complains if there is no command to run. */
bool settings_want_command(const struct settings *settings, struct complaint *why);

/* Checks --take against --permits. */
bool settings_check_take(const struct settings *settings, struct complaint *why);

/* Wipes the secrets and frees what the settings own. */
void settings_free(struct settings *settings);

/* A copy of text that lives as long as the settings; NULL: no memory. */
char *settings_keep(struct settings *settings, const char *text);

/* --- read from everywhere, and checked -------------------------------------------------------- */

/* Reads a command's options (argv[0] is its name), then the config files and the environment, and
 * checks them together. Nothing is printed, and no server is contacted.
 * Free the settings whatever the outcome. why: of SETTINGS_BAD; then settings.log is set, too. */
enum settings_outcome settings_load(struct settings *settings, const struct cmd *cmd, int argc,
                                    char **argv, struct complaint *why);

/* Its parts. check.c: the command line alone, before any file is read; and all sources together,
 * which may shorten --kill-after. */
bool settings_check_command_line(const struct settings *settings, struct complaint *why);
bool settings_check(struct settings *settings, struct complaint *why);

/* config.c: reads the file that RLOCK_CONFIG names, or else the system's and the user's, where
 * there are any. False: why says FILE:LINE and what is wrong. */
bool config_load(struct settings *settings, struct complaint *why);

/* Reads one file. required: that it is missing is an error as well. */
bool config_read(struct settings *settings, const char *path, enum source source, bool required,
                 struct complaint *why);

/* opt_parse.c: reads options up to the first operand, where the command begins
 * (settings->run.command, NULL: none); of a command that has operands, all options and operands, in
 * any order. Uses getopt_long(), so one thread at a time. */
enum settings_outcome opt_parse(struct settings *settings, int argc, char **argv,
                                struct complaint *why);

#endif
