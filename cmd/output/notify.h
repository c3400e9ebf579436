/* notify.h: tells systemd how things stand, where it asks for it (sd_notify(3), NOTIFY_SOCKET). */
#ifndef RLOCK_CMD_NOTIFY_H
#define RLOCK_CMD_NOTIFY_H

/* "STATUS=" and a line of text; with ready also "READY=1", with stopping "STOPPING=1". Does nothing
 * without NOTIFY_SOCKET; never waits, and a failure is nobody's business. */
void notify_status(const char *text);
void notify_ready(const char *text);
void notify_stopping(const char *text);

#endif
