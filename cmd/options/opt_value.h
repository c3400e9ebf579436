/* opt_value.h: the setters that the rows of opt.c name: what each value may be. */
#ifndef RLOCK_CMD_OPT_VALUE_H
#define RLOCK_CMD_OPT_VALUE_H

#include "options/opt.h"

opt_setter set_name, set_server, set_wait, set_no_wait, set_duration, set_number, set_flag;
opt_setter set_text, set_path, set_note;
opt_setter set_verbose, set_on_lost, set_prefer, set_kind, set_log, set_command;
opt_setter set_handle;
#endif
