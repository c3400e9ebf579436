/* slot.c: to which slot of a cluster a key belongs. */
#include "redis/slot.h"

#include <stdbool.h>
#include <string.h>

/* CRC16-CCITT in its XMODEM form, bit by bit: names are short. */
static unsigned crc16(const char *data, size_t size) {
    unsigned crc = 0;
    for (size_t i = 0; i < size; i++) {
        crc ^= (unsigned)(unsigned char)data[i] << 8;
        for (int bit = 0; bit < 8; bit++)
            crc = (crc & 0x8000) != 0 ? (crc << 1 ^ 0x1021) & 0xffff : crc << 1 & 0xffff;
    }
    return crc;
}

unsigned rlock__slot(const char *key) {
    const char *open = strchr(key, '{');
    const char *close = open != NULL ? strchr(open + 1, '}') : NULL;
    const bool tagged = close != NULL && close > open + 1;
    const unsigned crc =
        tagged ? crc16(open + 1, (size_t)(close - open - 1)) : crc16(key, strlen(key));
    return crc % RLOCK__SLOTS;
}
