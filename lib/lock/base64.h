/* base64.h: bytes as letters that need no quotes anywhere: RFC 4648, section 5, without padding. */
#ifndef RLOCK_BASE64_H
#define RLOCK_BASE64_H

#include <stdbool.h>
#include <stddef.h>

/* How many letters so many bytes make, the end not counted. */
size_t rlock__base64_length(size_t size);

/* Writes them, and a NUL. */
void rlock__base64_encode(char *out, const unsigned char *bytes, size_t size);

/* The way back; out has room for three bytes of every four letters. False: it is none, or not in
 * the one way in which these bytes are written. */
bool rlock__base64_decode(unsigned char *out, size_t *size, const char *text);

#endif
