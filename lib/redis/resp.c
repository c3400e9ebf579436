/* resp.c: how large a server's reply may be, and of what shape. */
#include "redis/conn.h"

#include <stdlib.h>
#include <string.h>

static bool fail(struct rlock__resp *resp, const char *why) {
    resp->fault = why;
    return false;
}

static bool not_redis(struct rlock__resp *resp) {
    return fail(resp, "the server does not speak Redis's protocol");
}

static bool too_large(struct rlock__resp *resp) {
    return fail(resp, "the server's answer is larger than any should be");
}

static size_t left(const struct rlock__resp *resp) {
    const size_t most = resp->most > 0 ? resp->most : RLOCK__RESP_ANSWER;
    return resp->counted < most ? most - resp->counted : 0;
}

/* An element is complete, and with it the arrays of which it is the last one. */
static void complete(struct rlock__resp *resp) {
    while (resp->depth > 0 && --resp->missing[resp->depth - 1] == 0)
        resp->depth--;
    if (resp->depth == 0)
        resp->counted = 0;
}

static bool begin_text(struct rlock__resp *resp, long long size) {
    if (size > RLOCK__RESP_TEXT || (size_t)size > left(resp))
        return too_large(resp);
    resp->counted += (size_t)size;
    resp->to_skip = (size_t)size + strlen("\r\n");
    return true;
}

/* What is announced counts at once: memory is taken for all of it. */
static bool begin_array(struct rlock__resp *resp, long long count) {
    if (resp->depth == RLOCK__RESP_DEPTH)
        return fail(resp, "the server's answer is nested deeper than any should be");
    if ((unsigned long long)count > left(resp) / RLOCK__RESP_ITEM)
        return too_large(resp);
    resp->counted += (size_t)count * RLOCK__RESP_ITEM;
    resp->missing[resp->depth++] = (size_t)count;
    return true;
}

/* Whether the line is a number such as the parser takes; a size: from -1, which means "none". */
static bool is_number(const struct rlock__resp *resp, bool is_size) {
    const char *digits = resp->number + (*resp->number == '-');
    const size_t count = strspn(digits, "0123456789");
    if (count == 0 || digits[count] != '\0')
        return false;
    return !is_size || (count <= 18 && strtoll(resp->number, NULL, 10) >= -1);
}

static bool end_line(struct rlock__resp *resp) {
    const char type = resp->type;
    const bool is_size = type == '$' || type == '*';
    resp->number[resp->length < RLOCK__RESP_NUMBER ? resp->length : RLOCK__RESP_NUMBER] = '\0';
    resp->type = '\0';
    if ((is_size || type == ':') && !is_number(resp, is_size))
        return not_redis(resp);
    if (type == '+' || type == '-')
        resp->counted += resp->length;
    const long long size = is_size ? strtoll(resp->number, NULL, 10) : -1;
    if (type == '$' && size >= 0)
        return begin_text(resp, size);
    if (type == '*' && size > 0)
        return begin_array(resp, size);
    complete(resp);
    return true;
}

/* One more byte of a line, or its first one: no type that we never asked for. */
static bool look_at(struct rlock__resp *resp, char byte) {
    if (resp->type == '\0') {
        if (byte == '\0' || strchr("+-:$*", byte) == NULL)
            return not_redis(resp);
        resp->type = byte;
        resp->length = 0;
        resp->after_cr = false;
        return true;
    }
    if (resp->after_cr && byte == '\n')
        return end_line(resp);
    const bool is_text = resp->type == '+' || resp->type == '-';
    if (is_text && (++resp->length > RLOCK__RESP_LINE || resp->length > left(resp)))
        return too_large(resp);
    if (!is_text && resp->after_cr)
        return not_redis(resp);
    resp->after_cr = byte == '\r';
    if (is_text || resp->after_cr)
        return true;
    if (resp->length == RLOCK__RESP_NUMBER)
        return not_redis(resp);
    resp->number[resp->length++] = byte;
    return true;
}

size_t rlock__resp_look(struct rlock__resp *resp, const char *bytes, size_t size) {
    size_t i = 0;
    while (i < size && resp->fault == NULL) {
        if (resp->to_skip > 0) {
            const size_t skipped = resp->to_skip < size - i ? resp->to_skip : size - i;
            i += skipped;
            resp->to_skip -= skipped;
            if (resp->to_skip == 0)
                complete(resp);
        } else {
            i += look_at(resp, bytes[i]);
        }
    }
    return i;
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
