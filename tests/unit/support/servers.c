/* servers.c: some peers, and the ways to them. */
#include "support/servers.h"

const struct rlock__script *script(void) {
    return rlock__kind_find("run")->acquire;
}

void begin(struct servers *f, size_t count, const char *const *answers[]) {
    *f = (struct servers){.count = count,
                          .call = {.key_count = 2,
                                   .keys = {"x", "y:{x}"},
                                   .arg_count = 6,
                                   .args = {"a", "b", "c", "d", "SPUBLISH channel", "f"}}};
    for (size_t i = 0; i < count; i++) {
        peer_start(&f->peers[i], answers[i]);
        f->sites[i] = (struct rlock__site){.server = {.path = f->peers[i].path},
                                           .access = {.connect_timeout_ms = LONG_MS},
                                           .replica_timeout_ms = 70};
        assert_true(rlock__route_init(&f->routes[i], &f->sites[i], NULL));
    }
}

void end(struct servers *f) {
    for (size_t i = 0; i < f->count; i++) {
        rlock__reply_free(f->runs[i].answer.reply);
        rlock__route_free(&f->routes[i]);
        peer_stop(&f->peers[i]);
    }
}

void run_until(struct servers *f, size_t enough, int64_t limit_ms, int cancel_fd) {
    const int64_t begun_ms = rlock_now_ms();
    const struct rlock__limit limit = {begun_ms + limit_ms, cancel_fd};
    for (size_t i = 0; i < f->count; i++) {
        rlock__reply_free(f->runs[i].answer.reply);
        f->runs[i] = (struct rlock__run){.route = &f->routes[i], .call = &f->call};
    }
    struct rlock__batch batch = {f->runs, f->count, enough, f->in_passing, 0, NULL};
    rlock__script_run_batches(&batch, script(), &limit);
    f->took_ms = rlock_now_ms() - begun_ms;
}
