-- rw.lua: the hash of `read` and `write`, Redisson's: besides the holds (holds.lua) it has the field mode, read or
-- write. An owner's read holds have a key, {NAME}:OWNER:rwlock_timeout:1, with their ids, a space between two. It lasts as
-- long as the longest of them. Redisson has such a key for each hold of an owner, 1 to their number; of those that are
-- there it asks for how long they last, and for nothing else: by the longest it knows how long a lock lasts.
--
-- KEYS  8 marker: string, the writer that waits, and holds new readers back
--       9 waiters and 10 front of those writers, as in waiters.lua
--       11 told: string, up to which ticket readers in line were told that they may come in
--       12... the lease keys of the owners in ARGV
-- info has an entry for each owner of rlock's: Redisson's are in the hash alone.
local rw = {marker = KEYS[8], writers = {waiters = KEYS[9], front = KEYS[10]}, told = KEYS[11]}

function rw.write_field(owner) return owner .. ':write' end

-- For Redisson read holds whose key is gone are over.
function holds.stands(field)
    return holds.count(field) > 0 and (holds.is_write(field) or redis.call('EXISTS', lease_key(field)) == 1)
end

function holds.left_beside(owner)
    return holds.count(owner) > 0 and math.max(redis.call('PTTL', lease_key(owner)), 0) or 0
end
