/* key.c: whether a key on a server is a lock, or stands beside one.
 *
 * Most locks are known by what stands beside them; Redisson's may stand alone. */
#include "admin/admin.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char TOKEN[] = "redisson_lock_token:";

/* What stands before a lock's name, or behind it, and of what kind such a key is. */
static const struct affix {
    const char *text, *kind;
    bool is_behind;
} affixes[] = {
    {TOKEN, "string", false},          {"redisson_lock_queue:", "list", false},
    {"rlock_info:", "hash", false},    {"rlock_hold:", "hash", false},
    {"rlock_last:", "hash", false},    {"rlock_waiters:", "zset", false},
    {"rlock_writers:", "zset", false}, {":timeout", "zset", true},
    {":wait_write", "string", true},
};

static bool begins(const char *text, const char *word) {
    return strncmp(text, word, strlen(word)) == 0;
}

/* {NAME}, or a name that has braces of its own; NULL: neither, or no memory. */
static char *untagged(const char *text, size_t size) {
    const bool tagged = size > 2 && text[0] == '{' && text[size - 1] == '}' &&
                        memchr(text + 1, '{', size - 2) == NULL;
    if (tagged)
        return strndup(text + 1, size - 2);
    return memchr(text, '{', size) != NULL ? strndup(text, size) : NULL;
}

/* The lock's name and kind, if by its own name this key stands beside a lock; NULL: it does not. */
static char *beside(const char *key, const char **kind) {
    const size_t size = strlen(key);
    for (size_t i = 0; i < sizeof affixes / sizeof *affixes; i++) {
        const struct affix *affix = &affixes[i];
        const size_t length = strlen(affix->text);
        const char *at = affix->is_behind && size > length ? key + size - length : key;
        *kind = affix->kind;
        if (begins(at, affix->text))
            return untagged(affix->is_behind ? key : key + length, size - length);
    }
    return NULL;
}

bool rlock__key_begin(struct rlock__key *out, const char *key) {
    *out = (struct rlock__key){.kind = NULL};
    out->name = beside(key, &out->kind);
    /* A number is a semaphore, or a latch, when something beside it tells so. */
    out->question = begins(key, TOKEN) ? RLOCK__KEY_NAMED : RLOCK__KEY_BESIDE;
    if (out->name == NULL) {
        if (begins(key, "rlock_") || begins(key, "redisson_")) /* they stand beside one */
            return false;
        out->question = RLOCK__KEY_KIND;
        out->name = strdup(key);
    }
    out->key = strdup(key);
    if (out->key != NULL && out->name != NULL)
        return true;
    rlock__key_free(out);
    return false;
}

void rlock__key_free(struct rlock__key *key) {
    free(key->key);
    free(key->name);
}

bool rlock__key_ask(const struct rlock__key *key, struct rlock__link *link) {
    static const char *const commands[] = {
        [RLOCK__KEY_NAMED] = "TYPE",  [RLOCK__KEY_BESIDE] = "TYPE", [RLOCK__KEY_KIND] = "TYPE",
        [RLOCK__KEY_FIELDS] = "HLEN", [RLOCK__KEY_OWNER] = "HKEYS", [RLOCK__KEY_SIZE] = "HSTRLEN",
        [RLOCK__KEY_MODE] = "HGET",
    };
    const bool about_mode = key->question == RLOCK__KEY_SIZE || key->question == RLOCK__KEY_MODE;
    const char *const words[] = {commands[key->question],
                                 key->question == RLOCK__KEY_NAMED ? key->name : key->key, "mode"};
    return rlock__link_ask_words(link, about_mode ? 3 : 2, words);
}

/* Redisson's owners, and rlock's, begin with a UUID and a colon. */
static bool is_owner(const char *text) {
    static const char form[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx:";
    size_t i = 0;
    while (form[i] != '\0' &&
           (form[i] == 'x' ? isxdigit((unsigned char)text[i]) != 0 : text[i] == form[i]))
        i++;
    return form[i] == '\0';
}

static bool says(const rlock__reply *reply, const char *word) {
    const char *text = rlock__reply_string(reply);
    return text != NULL && strcmp(text, word) == 0;
}

bool rlock__key_hear(struct rlock__key *key, const rlock__reply *reply) {
    int64_t number;
    const char *owner;
    switch (key->question) {
    case RLOCK__KEY_NAMED: key->question = RLOCK__KEY_BESIDE; return says(reply, key->kind);
    case RLOCK__KEY_BESIDE: key->is_lock = says(reply, key->kind); return false;
    case RLOCK__KEY_KIND: key->question = RLOCK__KEY_FIELDS; return says(reply, "hash");
    case RLOCK__KEY_FIELDS:
        if (!rlock__reply_number(reply, &number))
            return false;
        key->question = number == 1 ? RLOCK__KEY_OWNER : RLOCK__KEY_SIZE;
        return true;
    case RLOCK__KEY_OWNER:
        owner = rlock__reply_text(reply, 0);
        key->is_lock = owner != NULL && is_owner(owner);
        return false;
    case RLOCK__KEY_SIZE:
        key->question = RLOCK__KEY_MODE;
        return rlock__reply_number(reply, &number) &&
               (number == (int64_t)strlen("read") || number == (int64_t)strlen("write"));
    case RLOCK__KEY_MODE: key->is_lock = says(reply, "read") || says(reply, "write");
    }
    return false;
}
