/* control.h: which bytes of a text are control characters, whatever the program's locale. */
#ifndef RLOCK_CONTROL_H
#define RLOCK_CONTROL_H

#include <stdbool.h>

static inline bool rlock__is_control(char c) {
    return (unsigned char)c < ' ' || c == 127;
}

#endif
