/* test.h: what every test of the insides includes: cmocka, and a main() that finds the tests. */
#ifndef RLOCK_TEST_H
#define RLOCK_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* What ld's --wrap puts in the place of a function has no declaration. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* TEST(what_holds) { ... }: test.c runs those of a file. */
#define TEST(what)                                                                                 \
    static void what(void **state);                                                                \
    __attribute__((constructor)) static void add_##what(void) {                                    \
        test_add(#what, what);                                                                     \
    }                                                                                              \
    static void what(void **state __attribute__((unused)))

void test_add(const char *name, void (*test)(void **state));

/* What a file may define, to be run besides. */
__attribute__((weak)) void before_all(void);
__attribute__((weak)) void before_each(void);
__attribute__((weak)) void after_each(void);
__attribute__((weak)) void after_all(void);

/* For an answer that another thread has to give in time: so many milliseconds, and up to ten times
 * as many where a build is slow, or the machine has more to do than processors. */
int64_t patience_ms(int64_t ms);

#endif
