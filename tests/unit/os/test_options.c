/* test_options.c: programs older and newer than the library are understood, or refused. What
 * each function misses in its options is told by lock/test_limits.c. */
#include "support/test.h"

#include <string.h>

#include "os/options.h"

/* The same structure in three versions, as one after the other adds to it. */
struct first {
    size_t size;
    int64_t lease_ms;
    bool loud;
};

struct known {
    size_t size;
    int64_t lease_ms;
    bool loud;
    const char *note;
};

struct newer {
    size_t size;
    int64_t lease_ms;
    bool loud;
    const char *note;
    int64_t speed;
    bool proud;
};

static struct rlock__error error;

static enum rlock_status read_into(struct known *out, const void *given) {
    error.text[0] = '\0';
    memset(out, 'x', sizeof *out);
    return RLOCK__READ_OPTIONS(known, loud, out, given, &error);
}

TEST(what_an_older_program_does_not_know_is_zero) {
    const struct known same = {.size = sizeof same, .lease_ms = 7, .loud = true, .note = "n"};
    const struct first older = {.size = sizeof older, .lease_ms = 7, .loud = true};
    struct known out;
    assert_int_equal(read_into(&out, &same), RLOCK_OK);
    assert_true(out.lease_ms == 7 && out.loud);
    assert_string_equal(out.note, "n");
    assert_int_equal(read_into(&out, &older), RLOCK_OK);
    assert_true(out.lease_ms == 7 && out.loud);
    assert_null(out.note);
}

TEST(a_newer_program_is_served_while_it_uses_nothing_new) {
    struct known out;
    struct newer given;
    memset(&given, 0, sizeof given); /* also what no field has */
    given.size = sizeof given;
    given.note = "n";
    assert_int_equal(read_into(&out, &given), RLOCK_OK);
    assert_string_equal(out.note, "n");
    given.proud = true; /* the last byte that is any field's */
    assert_int_equal(read_into(&out, &given), RLOCK_INVALID);
    assert_non_null(
        strstr(error.text, "struct known has an option that this version of librlock, "));
    assert_non_null(strstr(error.text, rlock_version()));
}

TEST(a_size_that_cannot_be_is_refused) {
    static const size_t sizes[] = {0, 1, offsetof(struct first, loud), 4097, SIZE_MAX};
    for (size_t i = 0; i < COUNT(sizes); i++) {
        struct known out;
        const struct known given = {.size = sizes[i], .lease_ms = 7};
        assert_int_equal(read_into(&out, &given), RLOCK_INVALID);
        assert_non_null(strstr(error.text, "the size in struct known is "));
    }
}
