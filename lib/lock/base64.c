/* base64.c: bytes as letters that need no quotes anywhere. */
#include "lock/base64.h"

#include <stdint.h>
#include <string.h>

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

size_t rlock__base64_length(size_t size) {
    return size / 3 * 4 + (size % 3 > 0 ? size % 3 + 1 : 0);
}

void rlock__base64_encode(char *out, const unsigned char *bytes, size_t size) {
    uint32_t bits = 0;
    unsigned count = 0;
    for (size_t i = 0; i < size; i++) {
        bits = bits << 8 | bytes[i];
        for (count += 8; count >= 6; count -= 6)
            *out++ = letters[bits >> (count - 6) & 63];
    }
    if (count > 0)
        *out++ = letters[bits << (6 - count) & 63];
    *out = '\0';
}

bool rlock__base64_decode(unsigned char *out, size_t *size, const char *text) {
    uint32_t bits = 0;
    unsigned count = 0;
    *size = 0;
    for (; *text != '\0'; text++) {
        const char *letter = strchr(letters, *text);
        if (letter == NULL)
            return false;
        bits = bits << 6 | (uint32_t)(letter - letters);
        count += 6;
        if (count >= 8) {
            count -= 8;
            out[(*size)++] = (unsigned char)(bits >> count);
        }
    }
    /* What is left over is less than a letter, and zero. */
    return count < 6 && (bits & ((1U << count) - 1)) == 0;
}
