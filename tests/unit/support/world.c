/* world.c: a clock and a server that the test makes up. */
#include "support/world.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "os/clock.h"

struct world world;

static void did(char what, const struct rlock__resource *resource) {
    assert_true(world.deed_count < COUNT(world.deeds));
    world.deeds[world.deed_count++] =
        (struct deed){what, (size_t)(resource - world.resources), world.now_ms - START_MS};
}

/* --- the layer below -------------------------------------------------------------------------- */

int __wrap_clock_gettime(clockid_t id, struct timespec *out) {
    (void)id;
    *out = (struct timespec){world.now_ms / 1000, world.now_ms % 1000 * 1000000};
    return 0;
}

static enum rlock_status take(struct rlock__resource *resource, const struct rlock__limit *limit,
                              struct rlock__busy *busy) {
    const struct answer *answer = world.answers;
    const bool in_line = rlock__resource_may_queue(resource);
    if (answer[1].status != RLOCK_OK || answer[1].takes_ms >= 0)
        world.answers++;
    did(in_line ? 'T' : 't', resource);
    const int64_t sent_ms = world.now_ms;
    world.now_ms += answer->takes_ms;
    if (answer->status == RLOCK_AGAIN && world.now_ms > limit->deadline_ms)
        world.now_ms = limit->deadline_ms;
    assert_true(world.now_ms <= limit->deadline_ms);
    const bool lost = answer->status == RLOCK_AGAIN && !answer->sure;
    resource->instances->state = in_line ? RLOCK__IN_LINE : RLOCK__NOTHING;
    rlock__instance_after(resource->instances, RLOCK__TAKE,
                          answer->status == RLOCK_OK      ? RLOCK__YES
                          : answer->status != RLOCK_AGAIN ? RLOCK__NO
                          : lost                          ? RLOCK__NO_ANSWER
                                                          : RLOCK__NOT_DONE);
    for (size_t i = 0; i < world.client.count; i++)
        world.routes[i].answered = world.routes[i].answered || answer->status != RLOCK_AGAIN;
    if (answer->status == RLOCK_OK) {
        resource->held = true;
        resource->instances->granted_ms = sent_ms;
    }
    if (answer->status == RLOCK_BUSY) {
        *busy = (struct rlock__busy){.resource = resource, .split = answer->split};
        resource->hint_ms = answer->hint_ms;
        resource->place = answer->place;
        resource->again_ms = answer->again_ms;
    }
    return answer->status;
}

/* One after the other here: what is done at once is seen in the order of the names. */
enum rlock_status __wrap_rlock__take(struct rlock_lock *lock, const struct rlock__limit *limit,
                                     int64_t until_ms, struct rlock__busy *busy) {
    (void)until_ms;
    lock->stuck_at = 0;
    for (size_t i = 0; i < lock->resource_count; i++) {
        const enum rlock_status status = take(&lock->resources[i], limit, busy);
        if (status == RLOCK_OK)
            continue;
        lock->stuck_at = i;
        return status;
    }
    return RLOCK_OK;
}

static void leave(struct rlock__resource *resource) {
    did('b', resource);
    resource->held = false;
    *resource->instances = (struct rlock__instance){.state = RLOCK__NOTHING};
}

void __wrap_rlock__leave(struct rlock_lock *lock, bool all, int64_t end_ms, int cancel_fd) {
    (void)cancel_fd;
    assert_true(end_ms <= world.now_ms + 500 + NAMES_MAX); /* a dead server holds up nobody */
    for (size_t i = lock->resource_count; i > 0; i--) {
        struct rlock__resource *resource = &lock->resources[i - 1];
        if ((all || !resource->waited) && !rlock__resource_is_clear(resource))
            leave(resource);
    }
}

enum rlock_status __wrap_rlock__sleep(const struct rlock__limit *limit) {
    assert_true(limit->deadline_ms != RLOCK_FOREVER);
    world.now_ms = limit->deadline_ms;
    return RLOCK_OK;
}

enum rlock_status __wrap_rlock__listen(struct rlock__listener *listener,
                                       struct rlock_client *client,
                                       struct rlock__resource *resources, size_t count,
                                       const struct rlock__limit *limit) {
    assert_ptr_equal(client, &world.client);
    assert_true(limit->deadline_ms > world.now_ms);
    assert_int_equal(count, 1);
    did(resources->wanted == RLOCK__BOTH_CHANNELS ? 'L' : 'l', resources);
    world.moved = false;
    if (listener->resources != NULL)
        listener->resources->heard = RLOCK__NO_CHANNEL;
    listener->resources = world.deaf ? NULL : resources;
    resources->heard = world.deaf ? RLOCK__NO_CHANNEL : resources->wanted;
    return world.deaf ? RLOCK_AGAIN : RLOCK_OK;
}

void __wrap_rlock__listen_no_more(struct rlock__listener *listener) {
    if (listener->resources == NULL)
        return;
    did('n', listener->resources);
    listener->resources->heard = RLOCK__NO_CHANNEL;
    listener->resources = NULL;
}

bool __wrap_rlock__listens_elsewhere(const struct rlock__listener *listener,
                                     const struct rlock__routes *routes) {
    assert_ptr_equal(routes, &world.client.routes);
    return listener->resources != NULL && world.moved;
}

enum rlock_status __wrap_rlock__hear(struct rlock__listener *listener, size_t count, int beside_fd,
                                     const struct rlock__limit *limit) {
    const struct heard *heard = world.hearing;
    assert_int_equal(count, 1);
    assert_int_equal(beside_fd, -1);
    if (listener->resources == NULL || heard == NULL || heard->at_ms == 0 ||
        START_MS + heard->at_ms > limit->deadline_ms) {
        assert_true(limit->deadline_ms != RLOCK_FOREVER); /* nobody sleeps without a cap */
        world.now_ms = limit->deadline_ms;
        return RLOCK_OK;
    }
    world.hearing++;
    if (world.now_ms < START_MS + heard->at_ms)
        world.now_ms = START_MS + heard->at_ms;
    if (heard->dead) {
        listener->resources->heard = RLOCK__NO_CHANNEL;
        listener->resources = NULL;
        return RLOCK_UNAVAILABLE;
    }
    struct rlock__news *news = &listener->resources->news;
    news->what = (heard->woken ? RLOCK__WOKEN : 0U) | (heard->released ? RLOCK__RELEASED : 0U) |
                 (heard->heartbeat ? RLOCK__HEARTBEAT : 0U) |
                 (heard->first_ms != 0 ? RLOCK__FIRST : 0U);
    news->first_ms = heard->first_ms;
    return RLOCK_OK;
}

/* --- helpers ---------------------------------------------------------------------------------- */

void begin(size_t names, const struct answer *answers, const struct heard *hearing) {
    memset(&world, 0, sizeof world);
    world.now_ms = START_MS;
    world.answers = answers;
    world.hearing = hearing;
    world.client.connect_timeout_ms = world.client.io_timeout_ms = 5000;
    world.client.count = world.client.routes.count = 1;
    world.client.routes.at = world.routes;
    world.subscriptions[0].site = &world.site;
    world.listener.routes = (struct rlock__routes){.count = 1, .at = world.subscriptions};
    world.client.routes.error = &world.client.error;
    world.lock.listener_count = 1;
    world.lock.listeners = &world.listener;
    world.lock.client = &world.client;
    world.lock.kind = rlock__kind_find("run");
    world.lock.variant = "";
    world.lock.lease_ms = 30000;
    world.lock.resource_count = names;
    world.lock.resources = world.resources;
    for (size_t i = 0; i < names; i++) {
        world.resources[i].lock = &world.lock;
        world.resources[i].instance_count = 1;
        world.resources[i].instances = &world.instances[i];
    }
}

enum rlock_status acquire(int64_t deadline_ms, int64_t until_ms) {
    const struct rlock_wait wait = {
        .size = sizeof wait,
        .deadline_ms = deadline_ms == 0 ? 0 : rlock__after_ms(START_MS, deadline_ms),
        .until_ms = rlock__after_ms(START_MS, until_ms),
        .cancel_fd = -1,
    };
    return rlock_acquire(&world.lock, &wait);
}

static const char *told(bool in_time) {
    static char text[16 * COUNT(world.deeds)];
    int64_t told_ms = 0;
    size_t length = 0;
    text[0] = '\0';
    for (size_t i = 0; i < world.deed_count; i++) {
        const struct deed *deed = &world.deeds[i];
        char time[24] = "", name[2] = "";
        if (in_time && deed->at_ms != told_ms)
            (void)snprintf(time, sizeof time, " %lld:", (long long)deed->at_ms);
        if (world.lock.resource_count > 1)
            name[0] = (char)('0' + deed->resource);
        told_ms = deed->at_ms;
        length +=
            (size_t)snprintf(text + length, sizeof text - length, "%s%c%s", time, deed->what, name);
    }
    return text;
}

const char *deeds(void) {
    return told(false);
}

int64_t time_of(size_t deed) {
    assert_true(deed < world.deed_count);
    return world.deeds[deed].at_ms;
}

size_t count_of(char what) {
    size_t count = 0;
    for (size_t i = 0; i < world.deed_count; i++)
        count += world.deeds[i].what == what;
    return count;
}

void assert_waits(const struct wait *rows, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const struct wait *row = &rows[i];
        begin(row->names != 0 ? row->names : 1, row->answers, row->hearing);
        world.lock.kind = rlock__kind_find(row->kind != NULL ? row->kind : "run");
        const enum rlock_status status =
            acquire(row->deadline_ms, row->until_ms != 0 ? row->until_ms : FOREVER);
        const char *done = told(strchr(row->deeds, ':') != NULL);
        if (status != row->status || strcmp(done, row->deeds) != 0)
            fail_msg("%s: %s, '%s', not '%s'", row->what, rlock_status_text(status), done,
                     row->deeds);
    }
}
