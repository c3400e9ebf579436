/* reply_error.h: what a server's error means for us. */
#ifndef RLOCK_REPLY_ERROR_H
#define RLOCK_REPLY_ERROR_H

#include "rlock.h"

/* RLOCK_OK: no harm, the server asks for no password. RLOCK_AGAIN: it may pass, the same request
 * can be sent again. RLOCK_DENIED, RLOCK_WRONG_KIND. RLOCK_UNAVAILABLE: it will not pass by itself,
 * or we do not know the text. *plain: the text, or the same in plain words; borrowed. */
enum rlock_status rlock__reply_error_status(const char *text, const char **plain);

#endif
