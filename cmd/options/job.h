/* job.h: the CI job that we run in. */
#ifndef RLOCK_CMD_JOB_H
#define RLOCK_CMD_JOB_H

#include <stdbool.h>

#include "options/settings.h"

/* Gives settings their note where nothing else has: the URL of the job's page, from the
 * environment, without a login in it. One that cannot be a note is none. False: no memory. */
bool job_note(struct settings *settings);

#endif
