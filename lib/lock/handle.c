/* handle.c: a lock that is held, as one printable word.
 *
 * "rlock1." and in base64 a text, with its CRC-32 behind it, so that one which was cut off or
 * mistyped is found out before anything is sent. The text: a line "KIND LEASE PERMITS OWNER", a
 * line of servers, and a line "TOKEN ID OWNER NAME" for each hold. A name has no newline, all else
 * no space. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lock/lock.h"
#include "rlock_handle.h"

#define PREFIX "rlock1."

enum { CRC_SIZE = 4 };

/* ISO 3309, as zip and Ethernet have it. */
static uint32_t crc32(const unsigned char *bytes, size_t size) {
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < size; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ ((crc & 1) != 0 ? UINT32_C(0xedb88320) : 0);
    }
    return ~crc;
}

/* --- base64: RFC 4648, section 5, without padding ---------- ---------------------------------- */

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

static void base64_encode(char *out, const unsigned char *bytes, size_t size) {
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

/* False: it is none, or not in the one way in which these bytes are written. */
static bool base64_decode(unsigned char *out, size_t *size, const char *text) {
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

/* --- what it may have ------------------------------------------------------------------------- */

static bool is_word(const char *text) {
    return text != NULL && *text != '\0' && strpbrk(text, " \n") == NULL;
}

static bool is_id(const char *text) {
    if (strspn(text, "0123456789abcdef") != RLOCK__ID_SIZE - 1)
        return false;
    text += RLOCK__ID_SIZE - 1;
    const size_t digits = strspn(text + (*text == '.'), "0123456789");
    return *text == '\0' || (*text == '.' && digits > 0 && digits <= 9 && text[1 + digits] == '\0');
}

const char *rlock__handle_fault(const struct rlock_handle *handle) {
    static const char no_owner[] = "a handle needs an owner, which is one word";
    if (handle->hold_count == 0 || handle->holds == NULL)
        return "a handle needs a hold";
    if (!is_word(handle->owner))
        return no_owner;
    for (size_t i = 0; i < handle->hold_count; i++) {
        const struct rlock_handle_hold *hold = &handle->holds[i];
        if (!is_word(hold->owner))
            return no_owner;
        if (hold->token < 1)
            return "the token of a hold is 1 or more";
        if (hold->id != NULL && *hold->id != '\0' && !is_id(hold->id))
            return "the id of a hold is as handles have it, or none";
    }
    return NULL;
}

/* --- writing ---------------------------------------------------------------------------------- */

/* text with one more line; it is freed. NULL: no memory. */
static char *add_hold(char *text, const struct rlock__resource *resource) {
    char *longer = NULL, id[RLOCK__TRY_SIZE];
    if (asprintf(&longer, "%s%" PRId64 " %s %s %s\n", text, resource->hold.token,
                 rlock__resource_id(id, resource), resource->hold.owner, resource->name) < 0)
        longer = NULL;
    free(text);
    return longer;
}

/* Yours to free; NULL: no memory. */
static char *describe(const struct rlock_lock *lock, const char *servers) {
    char *text = NULL;
    if (asprintf(&text, "%s %s %s %s\n%s\n", lock->kind->name, lock->lease_text, lock->permits_text,
                 lock->owner, servers) < 0)
        return NULL;
    for (size_t i = 0; i < lock->resource_count && text != NULL; i++)
        text = lock->resources[i].held ? add_hold(text, &lock->resources[i]) : text;
    return text;
}

static char *encode(const char *text) {
    const size_t size = strlen(text);
    unsigned char *bytes = malloc(size + CRC_SIZE);
    char *out = malloc(sizeof PREFIX + 4 * (size + CRC_SIZE + 2) / 3); /* six bits each */
    if (bytes != NULL && out != NULL) {
        memcpy(bytes, text, size + 1);
        const uint32_t crc = crc32(bytes, size);
        for (size_t i = 0; i < CRC_SIZE; i++)
            bytes[size + i] = (unsigned char)(crc >> 8 * i);
        base64_encode(stpcpy(out, PREFIX), bytes, size + CRC_SIZE);
    } else {
        free(out);
        out = NULL;
    }
    free(bytes);
    return out;
}

static bool has_ids(const struct rlock_lock *lock) {
    bool all = true;
    for (size_t i = 0; i < lock->resource_count; i++)
        all = all && (!lock->resources[i].held || *lock->resources[i].hold_id != '\0');
    return all;
}

enum rlock_status rlock_handle_write(char **out, const rlock_lock *lock, const char *servers) {
    *out = NULL;
    if (lock->kind->renew == NULL || rlock_hold_at(lock, 0) == NULL || !has_ids(lock))
        return rlock__client_invalid(
            lock->client, "only what is held for a lease, by ids that are known, has a handle");
    if (servers != NULL && (*servers == '\0' || strchr(servers, '\n') != NULL))
        return rlock__client_invalid(lock->client, "servers is one line, and not empty");
    char *text = describe(lock, servers != NULL ? servers : lock->client->shown);
    if (text != NULL)
        *out = encode(text);
    free(text);
    if (*out != NULL)
        return RLOCK_OK;
    rlock__error_set(&lock->client->error, "no memory");
    return RLOCK_SYSTEM;
}

/* --- reading ---------------------------------------------------------------------------------- */

/* A handle, and what its texts lie in. */
struct read_handle {
    struct rlock_handle handle;
    struct rlock_handle_hold *holds;
    char text[];
};

/* The text that was encoded, at its end a NUL. False: cut off, mistyped, or no handle at all. */
static bool decode(char *text, const char *encoded) {
    unsigned char *bytes = (unsigned char *)text;
    size_t size;
    if (!base64_decode(bytes, &size, encoded) || size < CRC_SIZE)
        return false;
    size -= CRC_SIZE;
    const uint32_t crc = crc32(bytes, size);
    for (size_t i = 0; i < CRC_SIZE; i++) {
        if (bytes[size + i] != (unsigned char)(crc >> 8 * i))
            return false;
    }
    text[size] = '\0';
    return strlen(text) == size;
}

/* The next piece, which is not empty and ends with that; NULL: there is none. */
static const char *cut(char **rest, char end) {
    char *piece = *rest, *found = strchr(piece, end);
    if (found == NULL || found == piece)
        return NULL;
    *found = '\0';
    *rest = found + 1;
    return piece;
}

static bool cut_number(char **rest, char end, int64_t low, int64_t high, int64_t *out) {
    const char *text = cut(rest, end);
    return text != NULL && rlock__resp_whole(text, out) && *out >= low && *out <= high;
}

static bool read_hold(struct rlock_handle_hold *hold, char **rest) {
    if (!cut_number(rest, ' ', 1, INT64_MAX, &hold->token))
        return false;
    hold->id = cut(rest, ' ');
    hold->owner = cut(rest, ' '); /* there is none behind an id that is missing */
    hold->name = cut(rest, '\n');
    return rlock_name_fault(hold->name) == NULL;
}

static bool read_text(struct read_handle *read) {
    struct rlock_handle *handle = &read->handle;
    handle->size = sizeof *handle;
    char *rest = read->text;
    const char *kind = handle->kind = cut(&rest, ' ');
    const struct rlock__kind *known = rlock__kind_find(kind);
    if (known == NULL || known->renew == NULL ||
        !cut_number(&rest, ' ', RLOCK_LEASE_MIN_MS, RLOCK_LEASE_MAX_MS, &handle->lease_ms) ||
        !cut_number(&rest, ' ', 1, RLOCK_TAKE_MAX, &handle->permits))
        return false;
    handle->owner = cut(&rest, '\n');
    handle->servers = cut(&rest, '\n');
    while (*rest != '\0') {
        if (!read_hold(&read->holds[handle->hold_count++], &rest))
            return false;
    }
    handle->holds = read->holds;
    return handle->servers != NULL && rlock__handle_fault(handle) == NULL;
}

static size_t count_lines(const char *text) {
    size_t lines = 0;
    for (; *text != '\0'; text++)
        lines += *text == '\n';
    return lines;
}

enum rlock_status rlock_handle_read(struct rlock_handle **out, const char *text) {
    *out = NULL;
    if (text == NULL || strncmp(text, PREFIX, strlen(PREFIX)) != 0)
        return RLOCK_INVALID;
    text += strlen(PREFIX);
    struct read_handle *read = calloc(1, sizeof *read + strlen(text) + 1);
    if (read == NULL)
        return RLOCK_SYSTEM;
    enum rlock_status status = RLOCK_INVALID;
    if (decode(read->text, text)) {
        read->holds = calloc(count_lines(read->text) + 1, sizeof *read->holds);
        status = read->holds == NULL ? RLOCK_SYSTEM : read_text(read) ? RLOCK_OK : RLOCK_INVALID;
    }
    *out = &read->handle;
    if (status != RLOCK_OK) {
        rlock_handle_free(*out);
        *out = NULL;
    }
    return status;
}

void rlock_handle_free(struct rlock_handle *handle) {
    struct read_handle *read = (struct read_handle *)handle; /* its first field */
    if (read == NULL)
        return;
    free(read->holds);
    free(read);
}
