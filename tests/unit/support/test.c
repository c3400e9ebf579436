/* test.c: runs the tests of a file: `test_NAME ['*part of a name*']`. */
#include "support/test.h"

#include <stdlib.h>
#include <unistd.h>

enum { TESTS_MAX = 64 };

static struct CMUnitTest tests[TESTS_MAX];
static size_t count;

/* What cmocka calls, of what the file may have defined. */
#define HOOK(name, hook)                                                                           \
    static int name(void **state) {                                                                \
        (void)state;                                                                               \
        if ((hook) != NULL)                                                                        \
            (hook)();                                                                              \
        return 0;                                                                                  \
    }

HOOK(set_up_all, before_all)
HOOK(set_up, before_each)
HOOK(tear_down, after_each)
HOOK(tear_down_all, after_all)

void test_add(const char *name, void (*test)(void **state)) {
    if (count == TESTS_MAX)
        abort();
    tests[count++] = (struct CMUnitTest){name, test, set_up, tear_down, NULL};
}

int64_t patience_ms(int64_t ms) {
    const char *slow = getenv("RLOCK_TEST_SLOW");
    const double processors = (double)sysconf(_SC_NPROCESSORS_ONLN);
    double load = 0;
    if (getloadavg(&load, 1) != 1 || load < processors)
        load = processors;
    const double factor = load / processors * (slow != NULL ? atoi(slow) : 1);
    return (int64_t)((double)ms * (factor < 10 ? factor : 10));
}

int main(int argc, char **argv) {
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return _cmocka_run_group_tests("tests", tests, count, set_up_all, tear_down_all);
}
