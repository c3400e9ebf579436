/* test_out.c: messages as text and as JSON, with a stranger's bytes in them. */
#include "support/test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "output/out.h"

static int caught, real_stderr; /* a file in the place of standard error */

static void begin(bool quiet, bool verbose, bool as_json) {
    out_setup(quiet, verbose, as_json);
    assert_int_equal(ftruncate(caught, 0), 0);
    assert_int_equal(lseek(caught, 0, SEEK_SET), 0);
    assert_int_equal(dup2(caught, STDERR_FILENO), STDERR_FILENO);
}

/* What was written since begin(). */
static const char *end(void) {
    static char text[16384];
    assert_int_equal(dup2(real_stderr, STDERR_FILENO), STDERR_FILENO);
    const ssize_t n = pread(caught, text, sizeof text - 1, 0);
    assert_true(n >= 0);
    text[n] = '\0';
    return text;
}

TEST(a_message_is_one_harmless_line) {
    static const struct {
        const char *said, *written;
    } rows[] = {
        {"cannot take x: held", "rlock: cannot take x: held\n"},
        {"", "rlock: \n"},
        {"a\nb\rc\td\x1b[2J\x7f", "rlock: a?b?c?d?[2J?\n"},
        {"redis://u:S3CRET@h", "rlock: redis://u:***@h\n"},
        {"%s %n {\"a\":1}", "rlock: %s %n {\"a\":1}\n"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        begin(false, false, false);
        out_error("%s", rows[i].said);
        assert_string_equal(end(), rows[i].written);
    }
}

TEST(a_long_message_is_cut_to_a_line) {
    static char longer[20000];
    memset(longer, 'x', sizeof longer - 1);
    begin(false, false, false);
    out_error("%s", longer);
    const char *text = end();
    assert_true(strlen(text) > 1000 && strlen(text) < 5000);
    assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
}

TEST(levels_are_heard_as_asked_for) {
    static const struct {
        bool quiet, verbose;
        const char *heard;
    } rows[] = {{true, false, "rlock: an error\n"},
                {false, false, "rlock: an error\nrlock: a warning\nrlock: waiting\n"},
                {false, true,
                 "rlock: an error\nrlock: a warning\nrlock: details\nrlock: waiting\n"
                 "rlock: acquired\n"}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        begin(rows[i].quiet, rows[i].verbose, false);
        out_error("an error");
        out_warn("a warning");
        out_debug("details");
        out_event(OUT_INFO, "waiting", NULL, 0, "waiting");
        out_event(OUT_DEBUG, "acquired", NULL, 0, "acquired");
        assert_string_equal(end(), rows[i].heard);
    }
}

TEST(what_cannot_be_written_is_dropped) {
    begin(false, false, false);
    const int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
    assert_true(full >= 0);
    assert_int_equal(dup2(full, STDERR_FILENO), STDERR_FILENO);
    errno = ENOENT;
    out_error("nobody reads this");
    assert_int_equal(errno, ENOENT); /* callers print strerror(errno) after a first message */
    close(full);
    close(STDERR_FILENO);
    out_error("nor this");
    assert_string_equal(end(), "");
}

/* --- JSON: from here on, for the choice stays ------------------------------------------------- */

/* Checks one line: {"time":"...Z", and then `rest`. */
static void assert_json(const char *line, const char *rest) {
    static const char pattern[] = "{\"time\":\"dddd-dd-ddTdd:dd:dd.dddZ\",";
    for (size_t i = 0; i < sizeof pattern - 1; i++) {
        const bool digit = line[i] >= '0' && line[i] <= '9';
        if (pattern[i] == 'd' && i > 8 ? !digit : line[i] != pattern[i])
            fail_msg("at %zu of %s", i, line);
    }
    assert_string_equal(line + sizeof pattern - 1, rest);
}

TEST(any_bytes_make_valid_json) {
    static const struct {
        const char *said, *written; /* the message as a JSON string */
    } rows[] = {
        {"plain", "plain"},
        {"", ""},
        {"\"quoted\" back\\slash /", "\\\"quoted\\\" back\\\\slash /"},
        {"a\nb\rc\td\be\ff", "a\\u000ab\\u000dc\\u0009d\\u0008e\\u000cf"},
        {"\x01\x1b\x1f", "\\u0001\\u001b\\u001f"},
        {"\xc3\xbc\xe2\x82\xac\xf0\x9f\x94\x92", "\xc3\xbc\xe2\x82\xac\xf0\x9f\x94\x92"},
        /* The same, but harmless on a terminal. */
        {"\x7f\xc2\x9b\xe2\x80\xae\xe2\x80\xa8\xef\xbb\xbf", "\\u007f\\u009b\\u202e\\u2028\\ufeff"},
        {"\xf3\xa0\x80\xa0", "\\udb40\\udc20"},
        {"a\xffz|\xe2\x82z", "a\xef\xbf\xbdz|\xef\xbf\xbd\xef\xbf\xbdz"}, /* not UTF-8 */
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char expected[512];
        const struct out_field fields[] = {OUT_TEXT("name", rows[i].said), OUT_TEXT("none", NULL),
                                           OUT_NUMBER("token", INT64_MAX), OUT_NUMBER("least", 0),
                                           OUT_NUMBER("no number", -1)};
        (void)snprintf(
            expected, sizeof expected,
            "\"level\":\"warning\",\"event\":\"busy\",\"message\":\"%s\",\"name\":\"%s\","
            "\"token\":9223372036854775807,\"least\":0}\n", /* more digits than a double has */
            rows[i].written, rows[i].written);
        begin(false, false, true);
        out_event(OUT_WARNING, "busy", fields, COUNT(fields), "%s", rows[i].said);
        assert_json(end(), expected);
    }
}

TEST(a_cut_message_is_still_json) {
    for (size_t shift = 0; shift < 3; shift++) {
        static char longer[20000];
        size_t length = shift;
        memset(longer, 'x', length);
        while (length + 4 < sizeof longer) {
            memcpy(longer + length, "\xe2\x82\xac", 3);
            length += 3;
        }
        longer[length] = '\0';
        begin(false, false, true);
        out_error("%s", longer);
        const char *text = end();
        assert_string_equal(text + strlen(text) - 3, "\"}\n");
        assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
        /* Whole characters to the end, or the sign for "there was a part of one". */
        const char *last = text + strlen(text) - 6;
        while (memcmp(last, "\xef\xbf\xbd", 3) == 0)
            last -= 3;
        assert_memory_equal(last, "\xe2\x82\xac", 3);
    }
}

void before_all(void) {
    char path[] = "/tmp/rlock-test-XXXXXX";
    caught = mkostemp(path, O_CLOEXEC);
    real_stderr = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 10);
    assert_true(caught >= 0 && real_stderr >= 0);
    unlink(path);
}
