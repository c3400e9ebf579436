/* view.h: what a server has said of one name, made readable. */
#ifndef RLOCK_VIEW_H
#define RLOCK_VIEW_H

#include "redis/conn.h"
#include "rlock_admin.h"

/* Reads the reply of look.lua, which is the view's from then on, whatever comes of it. server and
 * name are copied, and borrowed. RLOCK_OK; RLOCK_UNAVAILABLE: it can't be understood; RLOCK_SYSTEM:
 * no memory. */
enum rlock_status rlock__view_read(rlock_view **out, const char *name, const char *server,
                                   rlock__reply *reply);

#endif
