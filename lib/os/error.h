/* error.h: the text of what went wrong last; it lives in the client, never in a global. */
#ifndef RLOCK_ERROR_H
#define RLOCK_ERROR_H

#define RLOCK__ERROR_SIZE 512

struct rlock__error {
    char text[RLOCK__ERROR_SIZE];
};

/* Sets the text, printf-style; cut to size, control characters made blank. */
__attribute__((format(printf, 2, 3))) void rlock__error_set(struct rlock__error *error,
                                                            const char *format, ...);

#endif
