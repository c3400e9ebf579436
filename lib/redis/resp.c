/* resp.c: reads replies, by hiredis, and refuses what is larger than any should be. */
#include <hiredis/hiredis.h>
#include <stdlib.h>

#include "redis/conn.h"

#if HIREDIS_MAJOR >= 1
typedef size_t array_size;
#else
typedef int array_size;
#endif

struct rlock__resp {
    redisReader *reader;
    redisReplyObjectFunctions functions; /* hiredis's, but for createArray */
    void *(*create_array)(const redisReadTask *task, array_size count);
    const char *fault; /* why nothing more is read; NULL: nothing */
    size_t most, counted;
};

/* False: it is too large. One that is not waited for any more may have counted for more already. */
static bool count(struct rlock__resp *resp, size_t items, size_t size) {
    if (resp->counted > resp->most || items > (resp->most - resp->counted) / size) {
        resp->fault = "the server's answer is larger than any should be";
        return false;
    }
    resp->counted += items * size;
    return true;
}

/* What is announced counts at once: memory is taken for all of it. */
static void *create_array(const redisReadTask *task, array_size items) {
    struct rlock__resp *resp = task->privdata;
    int depth = 0;
    for (const redisReadTask *at = task; at != NULL; at = at->parent)
        depth++;
    if (depth > RLOCK__RESP_DEPTH)
        resp->fault = "the server's answer is nested deeper than any should be";
    const bool fits = resp->fault == NULL && count(resp, (size_t)items, RLOCK__RESP_ITEM);
    return fits ? resp->create_array(task, items) : NULL;
}

struct rlock__resp *rlock__resp_new(void) {
    struct rlock__resp *resp = calloc(1, sizeof *resp);
    redisReader *reader = redisReaderCreate();
    if (resp == NULL || reader == NULL) {
        free(resp);
        if (reader != NULL)
            redisReaderFree(reader);
        return NULL;
    }
    resp->reader = reader;
    resp->most = RLOCK__RESP_ANSWER;
    resp->functions = *reader->fn;
    resp->create_array = resp->functions.createArray;
    resp->functions.createArray = create_array;
    reader->fn = &resp->functions;
    reader->privdata = resp;
    return resp;
}

void rlock__resp_free(struct rlock__resp *resp) {
    if (resp != NULL)
        redisReaderFree(resp->reader);
    free(resp);
}

const char *rlock__resp_feed(struct rlock__resp *resp, const char *bytes, size_t size) {
    if (resp->fault == NULL && count(resp, size, 1) &&
        redisReaderFeed(resp->reader, bytes, size) != REDIS_OK)
        resp->fault = "out of memory";
    return resp->fault;
}

/* Why hiredis has stopped, unless create_array() has said so. */
static const char *fault_of(const struct rlock__resp *resp) {
    if (resp->fault != NULL)
        return resp->fault;
    return resp->reader->err == REDIS_ERR_OOM ? "out of memory"
                                              : "the server does not speak Redis's protocol";
}

const char *rlock__resp_next(struct rlock__resp *resp, size_t most, rlock__reply **out) {
    void *reply = NULL;
    resp->most = most > 0 ? most : RLOCK__RESP_ANSWER;
    if (resp->fault == NULL && redisReaderGetReply(resp->reader, &reply) != REDIS_OK)
        resp->fault = fault_of(resp);
    if (reply != NULL)
        resp->counted = 0;
    *out = reply;
    return resp->fault;
}

int64_t rlock__resp_bounded(int64_t number) {
    return number > RLOCK__NUMBER_MOST    ? RLOCK__NUMBER_MOST
           : number < -RLOCK__NUMBER_MOST ? -RLOCK__NUMBER_MOST
                                          : number;
}

bool rlock__resp_whole(const char *text, int64_t *out) {
    int64_t number = 0;
    if (*text == '\0')
        return false;
    for (; *text != '\0'; text++) {
        const int digit = *text - '0';
        if (digit < 0 || digit > 9 || number > (INT64_MAX - digit) / 10)
            return false;
        number = 10 * number + digit;
    }
    *out = number;
    return true;
}
