/* secret.h: passwords in a text that is not ours, such as a command line. */
#ifndef RLOCK_CMD_SECRET_H
#define RLOCK_CMD_SECRET_H

/* Puts "***" in the place of each password, in place: of what stands between "SCHEME://USER:" and
 * '@', and behind "password=" and "passwd=", of an option, a variable or a URL's query. Never makes
 * the text longer. */
void secret_hide(char *text);

#endif
