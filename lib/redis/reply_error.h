/* reply_error.h: what a server's error means for us. */
#ifndef RLOCK_REPLY_ERROR_H
#define RLOCK_REPLY_ERROR_H

#include "redis/link.h"

/* RLOCK_OK: no harm, the server asks for no password. RLOCK_AGAIN: it may pass, or we do not know
 * the text; the same request can be sent again. RLOCK_DENIED, RLOCK_WRONG_KIND. RLOCK_UNAVAILABLE:
 * it will not pass by itself. *plain: the text, or the same in plain words; borrowed. */
enum rlock_status rlock__reply_error_status(const char *text, const char **plain);

/* False: nor do we know what has come of the request. */
bool rlock__reply_error_known(const char *text);

/* True: nothing has come of the request: it was refused as a whole, and not by what a script met.
 */
bool rlock__reply_error_untouched(const char *text);

/* What a reply says: RLOCK_OK, or as above when it is an error; link->error has it. Where another
 * server may be the one to ask by now, the link is not trusted any more. */
enum rlock_status rlock__reply_judge(struct rlock__link *link, const rlock__reply *reply);

#endif
