/* cmd_sem.c: rlock sem: some of the permits of a semaphore. */
#include "commands.h"
#include "hold/hold.h"
#include "options/opt.h"
#include "output/out.h"

static int sem_exec(struct settings *settings) {
    if (settings->counter.resize > 0)
        return resize(settings);
    if (settings->lock.plain)
        settings->lock.min_hold_ms = 0; /* a config file's; see sem_check() */
    return run_exec(settings);
}

static bool check_resize(const struct settings *settings, struct complaint *why) {
    const char *other = settings->run.command != NULL              ? "a command"
                        : OPT_IS_GIVEN(settings, lock.permits)     ? "--permits"
                        : OPT_IS_GIVEN(settings, lock.take)        ? "--take"
                        : OPT_IS_GIVEN(settings, lock.plain)       ? "--plain"
                        : OPT_IS_GIVEN(settings, lock.min_hold_ms) ? "--min-hold"
                                                                   : NULL;
    return other == NULL ||
           complain(why, EXIT_USAGE,
                    "both --resize and %s: --resize takes no permits and runs nothing", other);
}

static bool sem_check(const struct settings *settings, struct complaint *why) {
    if (settings->counter.resize > 0)
        return check_resize(settings, why);
    if (!settings_want_command(settings, &cmd_sem, why) || !settings_check_take(settings, why))
        return false;
    return !settings->lock.plain || !OPT_IS_GIVEN(settings, lock.min_hold_ms) ||
           complain(why, EXIT_USAGE,
                    "both --plain and --min-hold: without a lease nothing would give the permits "
                    "back later");
}

const struct cmd cmd_sem = {
    .name = "sem",
    .summary = "Run a command while holding permits of a semaphore",
    .synopsis = "-n NAME [--permits N] [--take K] [options] [--] COMMAND [ARG...]\n"
                "-n NAME [--permits N] [--take K] [options] -c STRING\n"
                "-n NAME --resize N [options]",
    .options = CMD_SEM,
    .child = CHILD_OPTIONAL,
    .one_name = true,
    .kind = &kind_sem,
    .exec = sem_exec,
    .check = sem_check,
};
