-- rw.lua: the hash of `read` and `write`, Redisson's: besides the holds (holds.lua) it has the field mode, read or
-- write. Every read hold has a key with a lease of its own, {NAME}:OWNER:rwlock_timeout:I, I being 1 to the number of
-- the owner's read holds: by the longest of them Redisson knows how long a lock lasts. rlock keeps the hold's id there.
--
-- KEYS  8 marker: string, the writer that waits, and holds new readers back
--       9 waiters and 10 front of those writers, as in waiters.lua
--       11 told: string, up to which ticket readers in line were told that they may come in
--       12... the lease keys of the owners in ARGV
-- info has an entry for each owner of rlock's: Redisson's are in the hash alone.
local rw = {marker = KEYS[8], writers = {waiters = KEYS[9], front = KEYS[10]}, told = KEYS[11]}

function rw.write_field(owner) return owner .. ':write' end
