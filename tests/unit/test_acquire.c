/* test_acquire.c: when a waiter tries, sleeps, wakes and leaves, on a clock and a server that the
 * test makes up: the layer below acquire.c is this file. */
#include "test.h"

#include <string.h>
#include <time.h>

#include "clock.h"
#include "lock.h"

enum { START_MS = 1000000, NAMES_MAX = 3 };

/* One try's answer. The last one counts for all that follow. */
struct answer {
    enum rlock_status status;
    int64_t hint_ms; /* BUSY: when the hold expires */
    int64_t place;   /* BUSY */
    int64_t takes_ms;
};

/* Something that is heard. */
struct heard {
    int64_t at_ms; /* after the start */
    bool woken, released, dead;
    int64_t first_ms; /* 0: no such news */
};

/* What acquire.c did. */
struct deed {
    char what; /* 't'ry, 'T'ry in line, 'g'lance, give 'b'ack, 'l'isten, 'L'isten on the shared
                  channel too, listen 'a'lone, listen 'n'o more */
    size_t part;
    int64_t at_ms;
};

static struct {
    int64_t now_ms;
    const struct answer *answers;
    const struct heard *hearing;
    struct deed deeds[4096];
    size_t deed_count;
    bool deaf; /* subscribing fails */
    bool glance_finds_change;

    struct rlock_client client;
    struct rlock__part parts[NAMES_MAX];
    struct rlock_lock lock;
} world;

static void did(char what, const struct rlock__part *part) {
    assert_true(world.deed_count < COUNT(world.deeds));
    world.deeds[world.deed_count++] =
        (struct deed){what, (size_t)(part - world.parts), world.now_ms - START_MS};
}

/* --- the layer below ----------------------------------------------------------------------------
 */

int __wrap_clock_gettime(clockid_t id, struct timespec *out);
int __wrap_clock_gettime(clockid_t id, struct timespec *out) {
    (void)id;
    *out = (struct timespec){world.now_ms / 1000, world.now_ms % 1000 * 1000000};
    return 0;
}

enum rlock_status __wrap_rlock__part_take(struct rlock_lock *lock, struct rlock__part *part,
                                          bool in_line, const struct rlock__limit *limit,
                                          int64_t *hint_ms);
enum rlock_status __wrap_rlock__part_take(struct rlock_lock *lock, struct rlock__part *part,
                                          bool in_line, const struct rlock__limit *limit,
                                          int64_t *hint_ms) {
    const struct answer *answer = world.answers;
    if (answer[1].status != RLOCK_OK || answer[1].takes_ms >= 0)
        world.answers++;
    did(in_line ? 'T' : 't', part);
    const int64_t sent_ms = world.now_ms;
    world.now_ms += answer->takes_ms;
    if (answer->status == RLOCK_AGAIN && world.now_ms > limit->deadline_ms)
        world.now_ms = limit->deadline_ms;
    assert_true(world.now_ms <= limit->deadline_ms);
    part->in_doubt =
        answer->status == RLOCK_AGAIN || (part->in_doubt && answer->status != RLOCK_OK);
    part->in_line = in_line && answer->status != RLOCK_OK;
    lock->client->route.answered = lock->client->route.answered || answer->status != RLOCK_AGAIN;
    if (answer->status == RLOCK_OK) {
        part->held = true;
        part->lease_end_ms = rlock__lease_end_ms(sent_ms, lock->lease_ms);
    }
    if (answer->status == RLOCK_BUSY) {
        *hint_ms = answer->hint_ms;
        lock->place = answer->place;
    }
    return answer->status;
}

bool __wrap_rlock__part_glance(struct rlock_lock *lock, const struct rlock__part *part,
                               const struct rlock__limit *limit);
bool __wrap_rlock__part_glance(struct rlock_lock *lock, const struct rlock__part *part,
                               const struct rlock__limit *limit) {
    (void)lock;
    assert_true(limit->deadline_ms > world.now_ms);
    did('g', part);
    return !world.glance_finds_change;
}

enum rlock_status __wrap_rlock__part_give_back(struct rlock_lock *lock, struct rlock__part *part,
                                               int64_t keep_ms, const struct rlock__limit *limit);
enum rlock_status __wrap_rlock__part_give_back(struct rlock_lock *lock, struct rlock__part *part,
                                               int64_t keep_ms, const struct rlock__limit *limit) {
    (void)lock;
    assert_int_equal(keep_ms, 0);
    assert_true(limit->deadline_ms <= world.now_ms + 500); /* a dead server holds up nobody */
    did('b', part);
    part->held = part->in_line = part->in_doubt = false;
    return RLOCK_OK;
}

enum rlock_status __wrap_rlock__poll(int fd, short events, const struct rlock__limit *limit);
enum rlock_status __wrap_rlock__poll(int fd, short events, const struct rlock__limit *limit) {
    (void)events;
    assert_int_equal(fd, -1);
    assert_true(limit->deadline_ms != RLOCK_FOREVER);
    world.now_ms = limit->deadline_ms;
    return RLOCK_AGAIN;
}

enum rlock_status __wrap_rlock__listen(struct rlock__listener *listener, struct rlock__part *part,
                                       bool shared, const struct rlock__limit *limit);
enum rlock_status __wrap_rlock__listen(struct rlock__listener *listener, struct rlock__part *part,
                                       bool shared, const struct rlock__limit *limit) {
    (void)limit;
    did(shared ? 'L' : 'l', part);
    listener->part = world.deaf ? NULL : part;
    listener->shared = !world.deaf && (shared || listener->shared);
    return world.deaf ? RLOCK_AGAIN : RLOCK_OK;
}

void __wrap_rlock__listen_alone(struct rlock__listener *listener, const struct rlock__limit *limit);
void __wrap_rlock__listen_alone(struct rlock__listener *listener,
                                const struct rlock__limit *limit) {
    (void)limit;
    did('a', listener->part);
    listener->shared = false;
}

void __wrap_rlock__listen_no_more(struct rlock__listener *listener);
void __wrap_rlock__listen_no_more(struct rlock__listener *listener) {
    if (listener->part != NULL)
        did('n', listener->part);
    listener->part = NULL;
    listener->shared = false;
}

enum rlock_status __wrap_rlock__hear(struct rlock__listener *listener,
                                     const struct rlock__limit *limit, struct rlock__news *news);
enum rlock_status __wrap_rlock__hear(struct rlock__listener *listener,
                                     const struct rlock__limit *limit, struct rlock__news *news) {
    const struct heard *heard = world.hearing;
    *news = (struct rlock__news){.first_ms = -1};
    assert_non_null(listener->part);
    if (heard == NULL || heard->at_ms == 0 || START_MS + heard->at_ms > limit->deadline_ms) {
        assert_true(limit->deadline_ms != RLOCK_FOREVER); /* nobody sleeps without a cap */
        world.now_ms = limit->deadline_ms;
        return RLOCK_AGAIN;
    }
    world.hearing++;
    if (world.now_ms < START_MS + heard->at_ms)
        world.now_ms = START_MS + heard->at_ms;
    if (heard->dead) {
        listener->part = NULL;
        listener->shared = false;
        return RLOCK_UNAVAILABLE;
    }
    news->woken = heard->woken;
    news->released = heard->released;
    if (heard->first_ms != 0)
        news->first_ms = heard->first_ms;
    return RLOCK_OK;
}

/* --- helpers ------------------------------------------------------------------------------------
 */

/* A table of answers ends with AND_SO_ON: the one before it is given again and again. */
#define GRANTED(ms)                                                                                \
    { .status = RLOCK_OK, .takes_ms = (ms) }
#define NO_ANSWER(ms)                                                                              \
    { .status = RLOCK_AGAIN, .takes_ms = (ms) }
#define BUSY(hint, in_line)                                                                        \
    { .status = RLOCK_BUSY, .hint_ms = (hint), .place = (in_line) }
#define AND_SO_ON                                                                                  \
    { .status = RLOCK_OK, .takes_ms = -1 }

static void begin(size_t names, const struct answer *answers, const struct heard *hearing) {
    memset(&world, 0, sizeof world);
    world.now_ms = START_MS;
    world.answers = answers;
    world.hearing = hearing;
    world.client.connect_timeout_ms = world.client.io_timeout_ms = 5000;
    world.lock.client = &world.client;
    world.lock.kind = rlock__kind_find("run");
    world.lock.lease_ms = 30000;
    world.lock.part_count = names;
    world.lock.parts = world.parts;
}

/* deadline_ms, until_ms: after the start; RLOCK_FOREVER. deadline_ms 0: do not wait. */
static enum rlock_status acquire(int64_t deadline_ms, int64_t until_ms) {
    const struct rlock_wait wait = {
        .deadline_ms = deadline_ms == 0 ? 0 : rlock__after_ms(START_MS, deadline_ms),
        .until_ms = rlock__after_ms(START_MS, until_ms),
        .cancel_fd = -1,
    };
    return rlock_acquire(&world.lock, &wait);
}

/* What was done, as a word. */
static const char *deeds(void) {
    static char word[COUNT(world.deeds) + 1];
    for (size_t i = 0; i < world.deed_count; i++)
        word[i] = world.deeds[i].what;
    word[world.deed_count] = '\0';
    return word;
}

static int64_t time_of(size_t deed) {
    assert_true(deed < world.deed_count);
    return world.deeds[deed].at_ms;
}

static size_t count_of(char what) {
    size_t count = 0;
    for (size_t i = 0; i < world.deed_count; i++)
        count += world.deeds[i].what == what;
    return count;
}

/* --- tests --------------------------------------------------------------------------------------
 */

static void a_free_lock_is_taken_at_once(void **state) {
    (void)state;
    static const struct answer answers[] = {GRANTED(3), AND_SO_ON};
    begin(1, answers, NULL);
    assert_int_equal(acquire(RLOCK_FOREVER, RLOCK_FOREVER), RLOCK_OK);
    assert_string_equal(deeds(), "t");
    /* Counted from before the request went out. */
    assert_int_equal(rlock_lease_end_ms(&world.lock), START_MS + 30000 - 302);
}

static void who_does_not_wait_tries_once(void **state) {
    (void)state;
    static const struct answer answers[] = {BUSY(900, 1), AND_SO_ON};
    begin(1, answers, NULL);
    assert_int_equal(acquire(0, RLOCK_FOREVER), RLOCK_BUSY);
    assert_string_equal(deeds(), "t");
}

/* Subscribed, confirmed, then a second try, which stands in line: no message is missed between. */
static void listens_before_it_sleeps(void **state) {
    (void)state;
    static const struct answer answers[] = {BUSY(29000, 1), GRANTED(0), AND_SO_ON};
    begin(1, answers, NULL);
    assert_int_equal(acquire(RLOCK_FOREVER, RLOCK_FOREVER), RLOCK_OK);
    assert_string_equal(deeds(), "tLTn");
    assert_int_equal(time_of(2), 0);
}

/* A glance each cap, and a try after eleven of them. */
static void sleeps_no_longer_than_the_cap(void **state) {
    (void)state;
    static const struct answer answers[] = {BUSY(-1, 70), AND_SO_ON};
    begin(1, answers, NULL);
    assert_int_equal(acquire(RLOCK_FOREVER, 60000), RLOCK_AGAIN);
    assert_int_equal(strncmp(deeds(), "tlTgggggggggggT", 15), 0);
    assert_in_range(count_of('T') + count_of('g'), 1 + 60000 / 5000, 1 + 60000 / 4500);
    for (size_t i = 3; i < world.deed_count; i++)
        assert_in_range(time_of(i) - time_of(i - 1), 4500, 5000);
}

static void a_glance_that_finds_a_change_is_followed_by_a_try(void **state) {
    (void)state;
    static const struct answer answers[] = {BUSY(-1, 70), BUSY(-1, 70), GRANTED(0), AND_SO_ON};
    begin(1, answers, NULL);
    world.glance_finds_change = true;
    assert_int_equal(acquire(RLOCK_FOREVER, RLOCK_FOREVER), RLOCK_OK);
    assert_string_equal(deeds(), "tlTgTn");
    assert_int_equal(time_of(4), time_of(3));
}

static void the_front_tries_and_does_not_glance(void **state) {
    (void)state;
    static const struct answer answers[] = {BUSY(-1, 16), AND_SO_ON};
    begin(1, answers, NULL);
    assert_int_equal(acquire(RLOCK_FOREVER, 20000), RLOCK_AGAIN);
    assert_int_equal(count_of('g'), 0);
}

static void the_first_is_there_when_the_hold_expires(void **state) {
    (void)state;
    static const struct answer answers[] = {BUSY(900, 1), BUSY(800, 1), GRANTED(0), AND_SO_ON};
    begin(1, answers, NULL);
    assert_int_equal(acquire(RLOCK_FOREVER, RLOCK_FOREVER), RLOCK_OK);
    assert_string_equal(deeds(), "tLTTn");
    assert_int_equal(time_of(3), 801);
}

static void the_others_leave_the_expiry_to_the_first(void **state) {
    (void)state;
    static const struct answer answers[] = {BUSY(800, 2), AND_SO_ON};
    begin(1, answers, NULL);
    assert_int_equal(acquire(RLOCK_FOREVER, 4400), RLOCK_AGAIN);
    assert_string_equal(deeds(), "tlT");
}

/* Where waiters are counted as dead, a waiter is heard of in time, wherever it stands. */
static void who_must_beat_tries_every_two_seconds(void **state) {
    (void)state;
    static const char *const kinds[] = {"fair", "write"};
    static const struct answer answers[] = {BUSY(-1, 70), AND_SO_ON};
    for (size_t k = 0; k < COUNT(kinds); k++) {
        begin(1, answers, NULL);
        world.lock.kind = rlock__kind_find(kinds[k]);
        assert_int_equal(acquire(RLOCK_FOREVER, 60000), RLOCK_AGAIN);
        assert_int_equal(count_of('g'), 0);
        assert_true(count_of('T') > 10);
        for (size_t i = 3; i < world.deed_count; i++)
            assert_in_range(time_of(i) - time_of(i - 1), 2000, 2500);
    }
}

static void who_queues_stands_from_the_first_try(void **state) {
    (void)state;
    static const struct answer answers[] = {BUSY(29000, 2), GRANTED(0), AND_SO_ON};
    begin(1, answers, NULL);
    world.lock.kind = rlock__kind_find("fair");
    assert_int_equal(acquire(RLOCK_FOREVER, RLOCK_FOREVER), RLOCK_OK);
    assert_string_equal(deeds(), "TlTn");
}

static void who_does_not_wait_does_not_queue(void **state) {
    (void)state;
    static const struct answer answers[] = {BUSY(29000, 2), AND_SO_ON};
    begin(1, answers, NULL);
    world.lock.kind = rlock__kind_find("fair");
    assert_int_equal(acquire(0, RLOCK_FOREVER), RLOCK_BUSY);
    assert_string_equal(deeds(), "t");
}

/* One queue at a time: the second name's turn would be swallowed by who waits for the first. */
static void of_two_queues_one_is_left(void **state) {
    (void)state;
    static const struct answer answers[] = {GRANTED(0), BUSY(-1, 1), BUSY(29000, 1), BUSY(29000, 1),
                                            AND_SO_ON};
    begin(2, answers, NULL);
    world.lock.kind = rlock__kind_find("fair");
    assert_int_equal(acquire(RLOCK_FOREVER, 1000), RLOCK_AGAIN);
    /* took 0, queued for 1; gave 0 back; 0 is busy: queued there, and left 1's */
    assert_int_equal(strncmp(deeds(), "TTbLT", 5), 0);
    assert_int_equal(world.deeds[5].what, 'n');
    assert_int_equal(world.deeds[6].what, 'b');
    assert_int_equal(world.deeds[6].part, 1);
    assert_true(world.parts[0].in_line);
    assert_false(world.parts[1].in_line);
}

/* A latch that is not there yet is waited for; once there was word of it, it has been. */
static void what_was_heard_of_has_been_there(void **state) {
    (void)state;
    static const struct answer answers[] = {BUSY(-1, 0), AND_SO_ON};
    static const struct heard hearing[] = {{.at_ms = 37, .released = true}, {0}};
    begin(1, answers, hearing);
    world.lock.kind = rlock__kind_find("latch");
    assert_int_equal(acquire(RLOCK_FOREVER, 30), RLOCK_AGAIN);
    assert_int_equal(world.lock.place, 0);
    static const struct answer opened[] = {GRANTED(0), AND_SO_ON};
    world.answers = opened;
    assert_int_equal(acquire(RLOCK_FOREVER, RLOCK_FOREVER), RLOCK_OK);
    assert_int_equal(world.lock.place, 1);
}

static void what_could_never_succeed_ends_the_wait(void **state) {
    (void)state;
    static const enum rlock_status ends[] = {RLOCK_REFUSED, RLOCK_OUSTED, RLOCK_WRONG_KIND};
    for (size_t i = 0; i < COUNT(ends); i++) {
        const struct answer answers[] = {BUSY(-1, 1), BUSY(-1, 1), {.status = ends[i]}, AND_SO_ON};
        begin(1, answers, NULL);
        assert_int_equal(acquire(RLOCK_FOREVER, RLOCK_FOREVER), ends[i]);
        assert_string_equal(deeds(), "tLTTnb");
    }
}

static void wakes_at_its_own_message(void **state) {
    (void)state;
    static const struct answer answers[] = {BUSY(29000, 3), BUSY(29000, 3), GRANTED(0), AND_SO_ON};
    static const struct heard hearing[] = {{.at_ms = 37, .woken = true}, {0}};
    begin(1, answers, hearing);
    assert_int_equal(acquire(RLOCK_FOREVER, RLOCK_FOREVER), RLOCK_OK);
    assert_string_equal(deeds(), "tlTTn");
    assert_int_equal(time_of(3), 37);
}

/* A try without an answer makes nobody deaf: the listener's connection is another one. */
static void listens_on_after_a_lost_answer(void **state) {
    (void)state;
    static const struct answer answers[] = {BUSY(29000, 1), BUSY(29000, 1), NO_ANSWER(0),
                                            BUSY(20000, 1), GRANTED(0),     AND_SO_ON};
    static const struct heard hearing[] = {
        {.at_ms = 37, .woken = true}, {.at_ms = 300, .woken = true}, {0}};
    begin(1, answers, hearing);
    assert_int_equal(acquire(RLOCK_FOREVER, RLOCK_FOREVER), RLOCK_OK);
    assert_string_equal(deeds(), "tLTTTTn");
    assert_int_equal(time_of(5), 300);
}

/* Redisson's release is everybody's message; only the first in line acts on it. */
static void the_shared_message_is_for_the_first(void **state) {
    (void)state;
    static const struct heard hearing[] = {{.at_ms = 37, .released = true}, {0}};
    static const struct answer first[] = {BUSY(29000, 1), BUSY(29000, 1), GRANTED(0), AND_SO_ON};
    begin(1, first, hearing);
    assert_int_equal(acquire(RLOCK_FOREVER, RLOCK_FOREVER), RLOCK_OK);
    assert_string_equal(deeds(), "tLTTn");
    assert_int_equal(time_of(3), 37);

    static const struct answer third[] = {BUSY(29000, 3), AND_SO_ON};
    begin(1, third, hearing);
    assert_int_equal(acquire(RLOCK_FOREVER, 4400), RLOCK_AGAIN);
    assert_string_equal(deeds(), "tlT");
}

/* "You are first now, the hold ends in 700 ms": no try, but the shared channel and the expiry. */
static void who_becomes_first_listens_to_redisson_too(void **state) {
    (void)state;
    static const struct answer answers[] = {BUSY(29000, 2), BUSY(29000, 2), GRANTED(0), AND_SO_ON};
    static const struct heard hearing[] = {{.at_ms = 50, .first_ms = 700}, {0}};
    begin(1, answers, hearing);
    assert_int_equal(acquire(RLOCK_FOREVER, RLOCK_FOREVER), RLOCK_OK);
    assert_string_equal(deeds(), "tlTLTn");
    assert_int_equal(time_of(3), 50);
    assert_int_equal(time_of(4), 751);
}

static void who_is_first_no_more_leaves_the_shared_channel(void **state) {
    (void)state;
    static const struct answer answers[] = {BUSY(900, 1), BUSY(29000, 2), AND_SO_ON};
    begin(1, answers, NULL);
    assert_int_equal(acquire(RLOCK_FOREVER, 3000), RLOCK_AGAIN);
    assert_string_equal(deeds(), "tLTa");
}

static void gives_up_at_its_deadline_and_leaves_the_line(void **state) {
    (void)state;
    static const struct answer answers[] = {BUSY(29000, 4), AND_SO_ON};
    begin(1, answers, NULL);
    assert_int_equal(acquire(7321, RLOCK_FOREVER), RLOCK_BUSY);
    assert_int_equal(world.now_ms, START_MS + 7321);
    assert_string_equal(deeds(), "tlTTnb");
    assert_false(rlock_in_doubt(&world.lock));
}

static void until_keeps_the_place(void **state) {
    (void)state;
    static const struct answer answers[] = {BUSY(29000, 4), AND_SO_ON};
    begin(1, answers, NULL);
    for (int64_t until_ms = 100; until_ms <= 4400; until_ms += 100) {
        assert_int_equal(acquire(60000, until_ms), RLOCK_AGAIN);
        assert_int_equal(world.now_ms, START_MS + until_ms);
    }
    assert_string_equal(deeds(), "tlT"); /* looking at the clock costs the server nothing */
    rlock_withdraw(&world.lock);
    assert_int_equal(count_of('b'), 1);
    assert_null(world.lock.listener.part);
}

/* 75 is for "held by others"; when the last word was none it is 69. */
static void the_last_answer_decides(void **state) {
    (void)state;
    static const struct answer answers[] = {BUSY(900, 1), BUSY(900, 1), NO_ANSWER(50), AND_SO_ON};
    begin(1, answers, NULL);
    assert_int_equal(acquire(8000, RLOCK_FOREVER), RLOCK_UNAVAILABLE);
    assert_true(world.now_ms >= START_MS + 8000);
    assert_int_equal(deeds()[world.deed_count - 1], 'b');
}

/* A granted answer that comes when the lease is over: it is given back, not used. */
static void a_late_grant_is_none(void **state) {
    (void)state;
    static const struct answer answers[] = {GRANTED(2980), GRANTED(1), AND_SO_ON};
    begin(1, answers, NULL);
    world.lock.lease_ms = 3000;
    assert_int_equal(acquire(RLOCK_FOREVER, RLOCK_FOREVER), RLOCK_OK);
    assert_string_equal(deeds(), "tbt");
    assert_in_range(time_of(2), 2980 + 10, 2980 + 20);
    assert_int_equal(rlock_lease_end_ms(&world.lock), START_MS + time_of(2) + 3000 - 32);
}

static void a_server_that_never_answers_is_given_up(void **state) {
    (void)state;
    static const struct answer refused[] = {NO_ANSWER(0), AND_SO_ON};
    begin(1, refused, NULL);
    assert_int_equal(acquire(RLOCK_FOREVER, RLOCK_FOREVER), RLOCK_UNAVAILABLE);
    assert_in_range(world.now_ms, START_MS + 5000, START_MS + 6000);
    assert_in_range(count_of('t'), 8, 20); /* from 20 ms, doubling, up to a second */
    for (size_t i = 2; i + 1 < world.deed_count; i++)
        assert_in_range(time_of(i) - time_of(i - 1), 10, 1000);

    /* A silent one eats a whole time-out a try: two tries, not one. */
    static const struct answer silent[] = {NO_ANSWER(5000), AND_SO_ON};
    begin(1, silent, NULL);
    assert_int_equal(acquire(RLOCK_FOREVER, RLOCK_FOREVER), RLOCK_UNAVAILABLE);
    assert_int_equal(count_of('t'), 2);
}

static void one_that_went_away_is_waited_for(void **state) {
    (void)state;
    static const struct answer answers[] = {BUSY(900, 1), BUSY(900, 1), NO_ANSWER(0), AND_SO_ON};
    begin(1, answers, NULL);
    assert_int_equal(acquire(RLOCK_FOREVER, 600000), RLOCK_AGAIN);
    assert_in_range(count_of('T') + count_of('t'), 600, 1300);
}

/* Subscribing fails although tries are answered: no storm, and no sleep without ears. */
static void a_deaf_waiter_tries_now_and_then(void **state) {
    (void)state;
    static const struct answer answers[] = {BUSY(29000, 1), AND_SO_ON};
    begin(1, answers, NULL);
    world.deaf = true;
    assert_int_equal(acquire(RLOCK_FOREVER, 60000), RLOCK_AGAIN);
    assert_in_range(count_of('t'), 60, 140);
}

static void a_lost_connection_is_listened_on_anew(void **state) {
    (void)state;
    static const struct answer answers[] = {BUSY(29000, 2), BUSY(29000, 2), BUSY(29000, 2),
                                            GRANTED(0), AND_SO_ON};
    static const struct heard hearing[] = {{.at_ms = 100, .dead = true}, {0}};
    begin(1, answers, hearing);
    assert_int_equal(acquire(RLOCK_FOREVER, RLOCK_FOREVER), RLOCK_OK);
    /* A try behind the new subscription finds what was said meanwhile. */
    const char *last = strrchr(deeds(), 'l');
    assert_non_null(last);
    assert_true(last > deeds() + 1);
    assert_non_null(strchr(last, 'T'));
    assert_true(world.now_ms < START_MS + 2000);
}

static void several_names_are_all_or_none(void **state) {
    (void)state;
    static const struct answer answers[] = {GRANTED(0), GRANTED(0), BUSY(900, 1), AND_SO_ON};
    begin(3, answers, NULL);
    assert_int_equal(acquire(0, RLOCK_FOREVER), RLOCK_BUSY);
    assert_string_equal(deeds(), "tttbb");
    /* The last one taken goes back first. */
    assert_int_equal(world.deeds[3].part, 1);
    assert_int_equal(world.deeds[4].part, 0);

    static const struct answer later[] = {GRANTED(0), BUSY(900, 1), GRANTED(0), GRANTED(0),
                                          AND_SO_ON};
    begin(2, later, NULL);
    assert_int_equal(acquire(RLOCK_FOREVER, RLOCK_FOREVER), RLOCK_OK);
    /* It waits for the busy one only, holding nothing, and begins anew with the first. */
    assert_string_equal(deeds(), "ttbLtTn");
    assert_int_equal(world.deeds[3].part, 1);
    assert_int_equal(world.deeds[4].part, 0);
}

static void final_answers_end_the_wait(void **state) {
    (void)state;
    static const enum rlock_status final[] = {RLOCK_WRONG_KIND, RLOCK_DENIED, RLOCK_UNAVAILABLE,
                                              RLOCK_SYSTEM, RLOCK_CANCELLED};
    for (size_t i = 0; i < COUNT(final); i++) {
        const struct answer answers[] = {{.status = final[i]}, AND_SO_ON};
        begin(1, answers, NULL);
        assert_int_equal(acquire(RLOCK_FOREVER, RLOCK_FOREVER), final[i]);
        assert_int_equal(count_of('t'), 1);
        assert_int_equal(world.now_ms, START_MS);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_free_lock_is_taken_at_once),
        cmocka_unit_test(who_does_not_wait_tries_once),
        cmocka_unit_test(listens_before_it_sleeps),
        cmocka_unit_test(sleeps_no_longer_than_the_cap),
        cmocka_unit_test(a_glance_that_finds_a_change_is_followed_by_a_try),
        cmocka_unit_test(the_front_tries_and_does_not_glance),
        cmocka_unit_test(the_first_is_there_when_the_hold_expires),
        cmocka_unit_test(the_others_leave_the_expiry_to_the_first),
        cmocka_unit_test(who_must_beat_tries_every_two_seconds),
        cmocka_unit_test(who_queues_stands_from_the_first_try),
        cmocka_unit_test(who_does_not_wait_does_not_queue),
        cmocka_unit_test(of_two_queues_one_is_left),
        cmocka_unit_test(what_was_heard_of_has_been_there),
        cmocka_unit_test(what_could_never_succeed_ends_the_wait),
        cmocka_unit_test(wakes_at_its_own_message),
        cmocka_unit_test(listens_on_after_a_lost_answer),
        cmocka_unit_test(the_shared_message_is_for_the_first),
        cmocka_unit_test(who_becomes_first_listens_to_redisson_too),
        cmocka_unit_test(who_is_first_no_more_leaves_the_shared_channel),
        cmocka_unit_test(gives_up_at_its_deadline_and_leaves_the_line),
        cmocka_unit_test(until_keeps_the_place),
        cmocka_unit_test(the_last_answer_decides),
        cmocka_unit_test(a_late_grant_is_none),
        cmocka_unit_test(a_server_that_never_answers_is_given_up),
        cmocka_unit_test(one_that_went_away_is_waited_for),
        cmocka_unit_test(a_deaf_waiter_tries_now_and_then),
        cmocka_unit_test(a_lost_connection_is_listened_on_anew),
        cmocka_unit_test(several_names_are_all_or_none),
        cmocka_unit_test(final_answers_end_the_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
