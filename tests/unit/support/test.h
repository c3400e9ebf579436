/* test.h: what every test of the insides includes: cmocka, and what cmocka wants before it. */
#ifndef RLOCK_TEST_H
#define RLOCK_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* For an answer that another thread has to give in time: so many milliseconds, and up to ten times
 * as many where a build is slow, or the machine has more to do than processors. */
static inline int64_t patience_ms(int64_t ms) {
    const char *slow = getenv("RLOCK_TEST_SLOW");
    const double processors = (double)sysconf(_SC_NPROCESSORS_ONLN);
    double load = 0;
    if (getloadavg(&load, 1) != 1 || load < processors)
        load = processors;
    const double factor = load / processors * (slow != NULL ? atoi(slow) : 1);
    return (int64_t)((double)ms * (factor < 10 ? factor : 10));
}

#endif
