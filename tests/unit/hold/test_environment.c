/* test_environment.c: proofs in the environment: read, and handed down. */
#include "support/test.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hold/environment.h"
#include "lock/lock.h"

static const char *const variables[] = {"RLOCK_HOLDS", "RLOCK_NAME",  "RLOCK_KIND",
                                        "RLOCK_OWNER", "RLOCK_TOKEN", "RLOCK_SERVER"};

void before_each(void) {
    for (size_t i = 0; i < COUNT(variables); i++)
        unsetenv(variables[i]);
}

static void set(const char *name, const char *value) {
    assert_int_equal(value != NULL ? setenv(name, value, 1) : unsetenv(name), 0);
}

/* The proofs as one text: "KIND NAME OWNER TOKEN;" each, and frees them. */
static const char *told(struct environment *holds) {
    static char text[4096];
    size_t length = 0;
    text[0] = '\0';
    for (size_t i = 0; i < holds->count; i++) {
        const struct rlock_proof *proof = &holds->proofs[i];
        length += (size_t)snprintf(text + length, sizeof text - length, "%s %s %s %" PRId64 ";",
                                   holds->kinds[i], proof->name, proof->owner, proof->token);
    }
    environment_free(holds);
    return text;
}

/* And nothing else: the other variables are for the command. */
TEST(reads_what_the_record_says) {
    static const struct {
        const char *record, *proofs;
        size_t inner;
    } rows[] = {
        {"7 u:1@h run a", "run a u:1@h 7;", 0},
        {"7 u run a\n9 v run b", "run a u 7;run b v 9;", 0},
        {"7 u run  a b ", "run  a b  u 7;", 0},
        {"9223372036854775807 u run a", "run a u 9223372036854775807;", 0},
        {"3 u write a\n\n3 u read a", "write a u 3;read a u 3;", 1},
        /* The innermost last: the library takes the last proof of a name. */
        {"3 u:1@h run a\n\n5 v:2@h run a", "run a u:1@h 3;run a v:2@h 5;", 1},
        {"3 u run a\n4 v run b c\n\n5 w fair d\n6 w fair e",
         "run a u 3;run b c v 4;fair d w 5;fair e w 6;", 2},
        /* What can be read beside what cannot is a proof. */
        {"x u run a\n4 v run b\n", "run b v 4;", 0},
        {"\n\n4 v run b\n", "run b v 4;", 0},
        {"3 u run a\n\n4 v run b\n\nx\n", "run a u 3;run b v 4;", 1},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct environment holds;
        for (size_t k = 1; k < COUNT(variables); k++)
            set(variables[k], "7");
        set("RLOCK_HOLDS", rows[i].record);
        assert_true(environment_read(&holds));
        const size_t inner = holds.inner;
        const char *proofs = told(&holds);
        if (strcmp(proofs, rows[i].proofs) != 0 || inner != rows[i].inner)
            fail_msg("row %zu: '%s' from %zu, not '%s'", i, proofs, inner, rows[i].proofs);
    }
}

TEST(what_cannot_be_read_is_no_proof) {
    static const char *const none[] = {
        NULL,       "",          "3",          "3 u",         "3 u run",   "3 u run ",
        "3  run a", "3 u RUN a", "7x u run a", "0 u latch a", "-7 u run a"};
    for (size_t i = 0; i < COUNT(none); i++) {
        struct environment holds;
        set("RLOCK_HOLDS", none[i]);
        assert_true(environment_read(&holds));
        assert_string_equal(told(&holds), "");
    }
}

TEST(of_a_name_the_proof_on_the_same_servers_is_the_last) {
    struct environment holds;
    set("RLOCK_HOLDS", "1 o run a\n@s s2\n2 p run a\n@t\n3 q run a\n4 q run b");
    assert_true(environment_read(&holds));
    assert_int_equal(environment_prove(&holds, "s s2"), 5);
    assert_string_equal(holds.proofs[4].owner, "p");
    assert_int_equal(environment_prove(&holds, "t"), 6);
    assert_string_equal(holds.proofs[5].name, "b");
    assert_int_equal(environment_prove(&holds, "s2"), 4);
    environment_free(&holds);
}

static struct rlock__resource held(const char *name, const char *owner, int64_t token) {
    return (struct rlock__resource){.held = true, .hold = {name, owner, token}};
}

/* What CMD's environment gets: a list of NAME=VALUE, or NAME, which it does not get; here without
 * "RLOCK_", and with '|' between them. */
static const char *joined(const char *list) {
    static char text[4096];
    char *to = text;
    for (; *list != '\0'; list += strlen(list) + 1)
        to += sprintf(to, "%s%s", to > text ? "|" : "", list + strlen("RLOCK_"));
    return text;
}

/* Of what is held now on these servers, below what RLOCK_HOLDS says. */
static const char *handed_down(struct rlock__resource *resources, size_t count, const char *kind,
                               const char *servers, const char *server) {
    const struct rlock_lock lock = {.resources = resources, .resource_count = count};
    struct environment enclosing;
    char list[4096];
    assert_true(environment_read(&enclosing));
    assert_true(environment_write(&enclosing, &lock, kind, servers, server, list, sizeof list));
    environment_free(&enclosing);
    return joined(list);
}

/* The same name on other servers is another lock, and stays; where they are only called something
 * else, the owner tells. */
TEST(holds_are_handed_down) {
    struct rlock__resource a = held("a", "u", 7), l = held("l", "u", 0),
                           two[] = {held("b b", "u", 7), held("c", "v", 9)};
#define A(kind) "7 u " kind " a|NAME=a|KIND=" kind "|OWNER=u|TOKEN=7"
    const struct {
        const char *record;
        struct rlock__resource *held;
        size_t count;
        const char *kind, *servers, *server, *told;
    } rows[] = {
        {NULL, &a, 1, "run", "", NULL, "HOLDS=" A("run")},
        /* c is held anew: its old proof is worth nothing */
        {"3 x run a\n\n2 stale run c", two, 2, "run", "", "redis://h:6379",
         "HOLDS=3 x run a\n\n7 u run b b\n9 v run c|NAME=b b\nc|KIND=run\nrun|OWNER=u\nv|"
         "TOKEN=7\n9|SERVER=redis://h:6379"},
        /* A downgrade: the read hold inside the write hold has its owner and token, and takes its
         * line. */
        {"3 x fair b\n4 y sem c\n\n7 u write a", &a, 1, "read", "", NULL,
         "HOLDS=3 x fair b\n4 y sem c\n\n" A("read")},
        {"3 x run b", &a, 1, "sem", "", NULL, "HOLDS=3 x run b\n\n" A("sem")},
        /* Nothing is held by `latch wait`: the record stays. */
        {"3 x run a\n4 x run b", &l, 1, "run", "", NULL, "NAME=l|KIND=run|OWNER=u|TOKEN=0"},
        {"@s\n3 x run a\n4 x run b\n\n@t t2\n5 y run c\n6 u run a", &a, 1, "run", "v", NULL,
         "HOLDS=@s\n3 x run a\n4 x run b\n@t t2\n5 y run c\n\n@v\n" A("run")},
        {"@s\n3 x run a\n\n@v\n4 y run b\n5 y run a", &a, 1, "run", "v", NULL,
         "HOLDS=@s\n3 x run a\n@v\n4 y run b\n\n" A("run")},
        {"3 x run a", &a, 1, "run", "v", NULL, "HOLDS=@v\n" A("run")},
        {"@v\n3 x run b\n\n4 y run a", &a, 1, "run", "v", NULL, /* and again */
         "HOLDS=@v\n3 x run b\n\n" A("run")},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        set("RLOCK_HOLDS", rows[i].record);
        assert_string_equal(
            handed_down(rows[i].held, rows[i].count, rows[i].kind, rows[i].servers, rows[i].server),
            rows[i].told);
    }
}

/* By `latch down`: the holds around are kept, but their owners and tokens are not its own. */
TEST(a_name_that_is_not_held_has_no_owner) {
    char list[4096];
    assert_true(environment_write_name("l", "latch", "redis://h:6379", list, sizeof list));
    assert_string_equal(joined(list), "NAME=l|KIND=latch|OWNER|TOKEN|SERVER=redis://h:6379");
    assert_false(environment_write_name("l", "latch", NULL, list, 40));
}

TEST(a_list_that_does_not_fit_is_refused) {
    struct rlock__resource resources[] = {held("a", "u", 7), held("b", "u", 8)};
    const struct rlock_lock lock = {.resources = resources, .resource_count = COUNT(resources)};
    struct environment enclosing;
    set("RLOCK_HOLDS", "6 v run c");
    assert_true(environment_read(&enclosing));
    const size_t needed =
        strlen(handed_down(resources, 2, "run", "", "unix:///s")) + 1 + 6 * strlen("RLOCK_") + 1;
    for (size_t size = 0; size <= needed + 1; size++) {
        char *list = malloc(size > 0 ? size : 1); /* so that a sanitizer sees the end */
        if (environment_write(&enclosing, &lock, "run", "", "unix:///s", list, size) !=
            (size >= needed))
            fail_msg("%zu bytes", size);
        free(list);
    }
    environment_free(&enclosing);
}
