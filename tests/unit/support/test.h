/* test.h: what every test of the insides includes: cmocka, and what cmocka wants before it. */
#ifndef RLOCK_TEST_H
#define RLOCK_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

#endif
