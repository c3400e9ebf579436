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
} before[] =
    {
        {TOKEN, "string"},          {"redisson_lock_queue:", "list"}, {"rlock_info:", "hash"},
        {"rlock_hold:", "hash"},    {"rlock_last:", "hash"},          {"rlock_waiters:", "zset"},
        {"rlock_writers:", "zset"},
},
  behind[] = {{":timeout", "zset"}, {":wait_write", "string"}};

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
    for (size_t i = 0; i < sizeof before / sizeof *before; i++) {
        const size_t length = strlen(before[i].text);
        *kind = before[i].kind;
        if (begins(key, before[i].text))
            return untagged(key + length, size - length);
    }
    for (size_t i = 0; i < sizeof behind / sizeof *behind; i++) {
        const size_t length = strlen(behind[i].text);
        *kind = behind[i].kind;
        if (size > length && strcmp(key + size - length, behind[i].text) == 0)
            return untagged(key, size - length);
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
        [RLOCK__KEY_FIELDS] = "HLEN", [RLOCK__KEY_OWNER] = "HKEYS", [RLOCK__KEY_MODE] = "HGET",
    };
    const char *const words[] = {commands[key->question],
                                 key->question == RLOCK__KEY_NAMED ? key->name : key->key, "mode"};
    return rlock__link_ask_words(link, key->question == RLOCK__KEY_MODE ? 3 : 2, words);
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
    int64_t fields;
    const char *owner;
    switch (key->question) {
    case RLOCK__KEY_NAMED: key->question = RLOCK__KEY_BESIDE; return says(reply, key->kind);
    case RLOCK__KEY_BESIDE: key->is_lock = says(reply, key->kind); return false;
    case RLOCK__KEY_KIND: key->question = RLOCK__KEY_FIELDS; return says(reply, "hash");
    case RLOCK__KEY_FIELDS:
        if (!rlock__reply_number(reply, &fields))
            return false;
        key->question = fields == 1 ? RLOCK__KEY_OWNER : RLOCK__KEY_MODE;
        return true;
    case RLOCK__KEY_OWNER:
        owner = rlock__reply_text(reply, 0);
        key->is_lock = owner != NULL && is_owner(owner);
        return false;
    case RLOCK__KEY_MODE: key->is_lock = says(reply, "read") || says(reply, "write");
    }
    return false;
}
