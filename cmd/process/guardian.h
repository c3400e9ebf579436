/* guardian.h: the small process between rlock and its command that ends the command's whole tree in
 * time, whatever has happened to rlock. */
#ifndef RLOCK_CMD_GUARDIAN_H
#define RLOCK_CMD_GUARDIAN_H

#include "process/orders.h"

/* The guardian's life. It starts nothing before ORDER_START. Call in a fresh child of a process
 * that takes its signals by descriptor; never returns. */
_Noreturn void guardian_main(const struct plan *plan);

#endif
