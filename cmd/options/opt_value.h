/* opt_value.h: the setters that the rows of opt.c name: what each value may be. */
#ifndef RLOCK_CMD_OPT_VALUE_H
#define RLOCK_CMD_OPT_VALUE_H

#include "options/opt.h"

opt_setter set_name, set_server, set_handle, set_duration, set_wait, set_no_wait, set_number;
opt_setter set_flag, set_verbose;
opt_setter set_any_text, set_text, set_path, set_note;
opt_setter set_choice;      /* the place of the word in the row's arg, an int or an enum */
opt_setter set_choice_text; /* the word */
#endif
