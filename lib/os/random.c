/* random.c: ids that nobody else has, and pauses. */
#include "os/random.h"

#include <stddef.h>
#include <sys/random.h>

#include "os/clock.h"

static bool fill(unsigned char *bytes, size_t size) {
    return getrandom(bytes, size, 0) == (ssize_t)size;
}

static void to_hex(const unsigned char *bytes, size_t size, char *out) {
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < size; i++) {
        *out++ = digits[bytes[i] >> 4];
        *out++ = digits[bytes[i] & 15];
    }
    *out = '\0';
}

bool rlock__random_id(char out[RLOCK__ID_SIZE]) {
    unsigned char bytes[16];
    if (!fill(bytes, sizeof bytes))
        return false;
    to_hex(bytes, sizeof bytes, out);
    return true;
}

bool rlock__random_uuid(char out[RLOCK__UUID_SIZE]) {
    static const struct { size_t from, size; } groups[] = {{0, 4}, {4, 2}, {6, 2}, {8, 2}, {10, 6}};
    unsigned char bytes[16];
    if (!fill(bytes, sizeof bytes))
        return false;
    bytes[6] = (unsigned char)((bytes[6] & 0x0f) | 0x40); /* version 4: random */
    bytes[8] = (unsigned char)((bytes[8] & 0x3f) | 0x80); /* variant 1 */
    for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++) {
        to_hex(bytes + groups[i].from, groups[i].size, out);
        out += 2 * groups[i].size;
        *out++ = '-';
    }
    out[-1] = '\0';
    return true;
}

int64_t rlock__random_between(int64_t low, int64_t high) {
    uint32_t r = 0;
    if (getrandom(&r, sizeof r, 0) != (ssize_t)sizeof r)
        return high;
    return low + (int64_t)(r % (uint64_t)(high - low + 1));
}

int64_t rlock__backoff(int64_t *pause_ms, int64_t min_ms, int64_t max_ms) {
    *pause_ms = *pause_ms == 0 ? min_ms : rlock__sooner_ms(2 * *pause_ms, max_ms);
    return rlock__random_between(*pause_ms / 2, *pause_ms);
}
