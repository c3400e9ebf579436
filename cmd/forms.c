/* forms.c: what the options of one command must be to each other, where it has several forms. */
#include "commands.h"
#include "options/opt.h"
#include "output/out.h"
#include "report/report.h"

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

bool sem_check(const struct settings *settings, struct complaint *why) {
    if (settings->counter.resize > 0)
        return check_resize(settings, why);
    if (!settings_want_command(settings, why) || !settings_check_take(settings, why))
        return false;
    return !settings->lock.plain || !OPT_IS_GIVEN(settings, lock.min_hold_ms) ||
           complain(why, EXIT_USAGE,
                    "both --plain and --min-hold: without a lease nothing would give the permits "
                    "back later");
}

bool latch_set_check(const struct settings *settings, struct complaint *why) {
    return settings->counter.count > 0 ||
           complain(why, EXIT_USAGE,
                    "missing --count: say after how many count-downs it opens with --count N");
}

bool status_check(const struct settings *settings, struct complaint *why) {
    const char *form = settings->look.json           ? "--json"
                       : settings->look.watch_ms > 0 ? "--watch"
                                                     : NULL;
    if (!status_is_silent(settings))
        return true;
    if (settings->name_count == 0)
        return complain(why, EXIT_USAGE,
                        "missing NAME: -q tells by the exit status whether a name "
                        "is held: give it, as in 'rlock status -q NAME'");
    return form == NULL ||
           complain(why, EXIT_USAGE, "-q and %s: -q prints nothing: give one of the two", form);
}
