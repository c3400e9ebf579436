/* slot.h: to which slot of a cluster a key belongs. */
#ifndef RLOCK_SLOT_H
#define RLOCK_SLOT_H

enum { RLOCK__SLOTS = 16384 };

/* The slot of a key, or of a shard channel (Redis Cluster specification, "Hash tags"): CRC16 of
 * what stands between its first { and the next }, and of all of it where nothing does. */
unsigned rlock__slot(const char *key);

#endif
