/* test_printable.c: what is left of others' words on a terminal, and how much of it fits. */
#include "support/test.h"

#include <stdio.h>
#include <string.h>

#include "output/printable.h"

TEST(what_could_be_more_than_text_is_a_question_mark) {
    static const struct {
        const char *given, *shown;
    } rows[] = {
        {"", ""},
        {"plain ~", "plain ~"},
        {"a\nb\x1b[2J\x7f", "a?b?[2J?"},
        {"C1 \xc2\x80\xc2\x9b\xc2\x9f raw \x80\x9b\x9f", "C1 ??? raw ???"},
        {"\xc2\xa0\xc3\xbc\xe2\x82\xac\xf0\x9f\x94\x92",
         "\xc2\xa0\xc3\xbc\xe2\x82\xac\xf0\x9f\x94\x92"},
        {"\xd8\xa7\xd7\x90", "\xd8\xa7\xd7\x90"}, /* letters of languages that run that way stay */
        {"\xd8\x9c|\xe2\x80\x8e|\xe2\x80\x8f", "?|?|?"},
        {"\xe2\x80\xaa\xe2\x80\xab\xe2\x80\xac\xe2\x80\xad\xe2\x80\xae", "?????"},
        {"\xe2\x81\xa6\xe2\x81\xa7\xe2\x81\xa8\xe2\x81\xa9", "????"},
        {"\xe2\x80\xa7\xe2\x80\xa8\xe2\x80\xa9\xe2\x80\xaf", "\xe2\x80\xa7??\xe2\x80\xaf"},
        {"\xef\xbb\xbf\xe2\x80\x8b\xe2\x80\x8d\xe2\x81\xa0\xc2\xad", "?????"},
        {"\xe1\x85\x9e|\xe1\x85\x9f|\xe1\x85\xa0|\xe1\x85\xa1|\xe3\x85\xa4|\xef\xbe\xa0",
         "\xe1\x85\x9e|?|?|\xe1\x85\xa1|?|?"},      /* fillers of Hangul, between its letters */
        {"\xf3\xa0\x80\xa0\xf3\xa0\x84\x80", "??"}, /* tags, selectors beyond the 16th */
        {"\xef\xbf\xbc\xef\xbf\xbd\xef\xbf\xbe", "\xef\xbf\xbc\xef\xbf\xbd?"},
        /* no UTF-8: alone, cut, too long, a surrogate, beyond the last */
        {"\xc3|\xe2\x82|\xc0\xaf|\xed\xa0\x80|\xf4\x90\x80\x80|\xff", "?|??|??|???|????|?"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[64];
        (void)snprintf(text, sizeof text, "%s", rows[i].given);
        printable_make(text, "");
        assert_string_equal(text, rows[i].shown);
    }
    char lines[] = "a\tb\nc\rd";
    printable_make(lines, "\t\n");
    assert_string_equal(lines, "a\tb\nc?d");
}

TEST(passwords_are_hidden) {
    static const struct {
        const char *shown; /* NULL: as it stands */
        const char *given[12];
    } rows[] = {
        {NULL,
         {"", "redis://h:6379/0", "redis://user@h", "redis://u:@h", "https://h/a:b@c",
          "https://[::1]/x", "redis://[::1]:6379/0", "sentinel://a:1,b:2/m", "(curl http://h:80)",
          "redis://user: x", "password= x"}},
        {"run -s redis://u:***@h:1/0 -n x", {"run -s redis://u:S3CRET@h:1/0 -n x"}},
        {"redis://:***@h", {"redis://:S3CRET@h"}},
        {"redis://:*@h", {"redis://:x@h"}},
        {"--server=rediss://us%40er:***@h", {"--server=rediss://us%40er:S3%3ACRET@h"}},
        {"REDIS://u:***@h", {"REDIS://u:S3CRET@h"}},
        {"redis://u:***@h", {"redis://u:S3'C\"R,E;T@h", "redis://u:S3://CRET@h"}},
        {"sentinel://u:***@a:1,b:2/m", {"sentinel://u:S3CRET@a:1,b:2/m"}},
        {"redis://u:***@a redis://u:***@b", {"redis://u:S1C@a redis://u:S2C@b"}},
        {"redis://u:***@a,redis://u:***@b", {"redis://u:S1C@a,redis://u:S2C@b"}},
        {"a='redis://u:***@a'; b=\"https://u:***@b/x\"",
         {"a='redis://u:S1CRET@a'; b=\"https://u:S2CRET@b/x\""}},
        {"https://u:***@h/@scope/pkg?x=a@b", {"https://u:S3CRET@h/@scope/pkg?x=a@b"}},
        {"https://u:***@h", {"https://u:S3/CRET@h", "https://u:S3@CRET@h"}},
        {"cut in redis://u:***", {"cut in redis://u:S3CRE"}},
        {"git+ssh://u:***@h/r.git", {"git+ssh://u:S3CRET@h/r.git"}},
        {"://u:***@h ://", {"://u:S3CRET@h ://"}},
        {"jdbc:mysql://h/db?user=u&password=***&x=1",
         {"jdbc:mysql://h/db?user=u&password=S3CRET&x=1"}},
        {"--password=*** --PASSWD='***' PGPASSWORD=*** psql",
         {"--password=S3CRET --PASSWD='a b' PGPASSWORD=S3CRET psql"}},
        {"password='***", {"password='S3CRET"}},
        /* As rlock reads its own URLs: to the last '@', whatever stands before. */
        {"redis://u:***@h/1", {"redis://u:S3@C/R@ET@h/1"}},
        {"rediss://u:***@h/1", {"rediss://u:S3@C/R@ET@h/1"}},
        {"valkey://u:***@h/1", {"valkey://u:S3@C/R@ET@h/1"}},
        {"valkeys://u:***@h/1", {"valkeys://u:S3@C/R@ET@h/1"}},
        {"sentinel://u:***@h/1", {"sentinel://u:S3@C/R@ET@h/1"}},
        {"sentinels://u:***@h/1", {"sentinels://u:S3@C/R@ET@h/1"}},
        {"cluster://u:***@h/1", {"cluster://u:S3@C/R@ET@h/1"}},
        {"clusters://u:***@h/1", {"clusters://u:S3@C/R@ET@h/1"}},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        for (const char *const *given = rows[i].given; *given != NULL; given++) {
            const char *shown = rows[i].shown != NULL ? rows[i].shown : *given;
            char text[128];
            (void)snprintf(text, sizeof text, "%s", *given);
            secret_hide(text);
            assert_string_equal(text, shown);
            secret_hide(text);
            assert_string_equal(text, shown);
        }
    }
}

TEST(a_text_is_cut_in_front_of_a_character) {
    static const struct {
        const char *text;
        size_t columns;
        const char *cut;
    } rows[] = {
        {"", 0, ""},
        {"deploy", 0, ""},
        {"deploy", 3, "dep"},
        {"deploy", 6, "deploy"},
        {"deploy", 60, "deploy"},
        {"\xc3\xbc\xe2\x82\xac!", 2, "\xc3\xbc\xe2\x82\xac"}, /* narrow, of two and three bytes */
        /* Katakana: two columns each. */
        {"\xe3\x83\xad\xe3\x83\x83", 4, "\xe3\x83\xad\xe3\x83\x83"},
        {"\xe3\x83\xad\xe3\x83\x83", 3, "\xe3\x83\xad"},
        {"\xe3\x83\xad\xe3\x83\x83", 1, ""},
        {"a\xf0\x9f\x94\x92z", 3, "a\xf0\x9f\x94\x92"}, /* a lock */
        {"a\xf0\x9f\x94\x92z", 2, "a"},
        {"\xef\xbc\xa1", 1, ""},                 /* a fullwidth A */
        {"\x80\xff\xe2\x82", 3, "\x80\xff\xe2"}, /* no UTF-8: a column a byte */
        {"\xf0\x9f", 2, "\xf0\x9f"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[32];
        strcpy(text, rows[i].text);
        columns_cut(text, rows[i].columns);
        assert_string_equal(text, rows[i].cut);
        assert_true(columns_of(text) <= rows[i].columns);
    }
    assert_int_equal(columns_of("a\xf0\x9f\x94\x92z\xc3\xbc\x80"), 6);
}
