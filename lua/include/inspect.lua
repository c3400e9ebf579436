-- inspect.lua: what the views of all kinds are made of. Nothing here writes, and what the dead left
-- counts as not there.
--
-- KEYS  8 list  9 timeouts  10 waiters  11 front: of `fair`  12 marker  13 waiters  14 front: of `write`
--       15 permits: a semaphore's  16 leases: holds.lua  17 record: once.lua
local inspect = {
    list = KEYS[8], timeouts = KEYS[9], marker = KEYS[12], permits = KEYS[15], leases = KEYS[16],
    waiters = {waiters = key.waiters, front = KEYS[6]},
    queue = {waiters = KEYS[10], front = KEYS[11]},
    writers = {waiters = KEYS[13], front = KEYS[14]},
    AT_ONCE = 20, -- entries that one command returns, or few more
    left = tonumber(ARGV[8]), -- how many entries are still to be looked at
}
local view = {kind = '', total = -1, available = '', count = -1, leased = -1, holders = {}, parts = {}, waiters = {}}

local TEXT = 4096 -- bytes; of a longer text so many are shown
local LONG = 4 * TEXT -- bytes; a longer description is none of rlock's, and is not read

-- Whatever a stranger has put there: a whole number that C can read, -1 for none.
function inspect.number(value)
    local number = tonumber(value)
    return number and number >= 0 and number < 2 ^ 53 and math.floor(number) or -1
end

-- Up to that many bytes, and no half character at the end.
local function text(value)
    if type(value) ~= 'string' then return '' end
    if #value <= TEXT then return value end
    return (string.gsub(string.sub(value, 1, TEXT), '[\192-\255][\128-\191]*$', ''))
end

-- A string, if it is no longer than one of ours or Redisson's can be: owners, tokens, numbers.
function inspect.get(name) return redis.call('STRLEN', name) <= TEXT and redis.call('GET', name) end

-- What a hash says of an owner: a table, and the JSON that it was read from.
function inspect.known(hash, owner)
    local size = redis.call('HSTRLEN', hash, owner)
    local json = size > 0 and size <= LONG and redis.call('HGET', hash, owner) or ''
    inspect.left = inspect.left - #json / 1024
    local read, known = pcall(cjson.decode, json)
    return read and type(known) == 'table' and known or {}, json
end

-- hold: {id, ttl, holds, token: digits or nil, permits, writes}
function inspect.add_holder(owner, hold)
    local known, json = inspect.known(key.info, owner)
    local token = string.match(hold.token or server.token_in(json) or '', '^%d+$') or ''
    view.holders[#view.holders + 1] = {text(owner), text(known.host), inspect.number(known.pid), text(known.user),
        text(known.command), inspect.number(known.since), hold.ttl, hold.holds, token, hold.permits or -1,
        hold.writes and 1 or 0, known.kept and 1 or 0, text(known.note), known.preemptible == true and 1 or 0,
        text(hold.id), known.no_command == true and 1 or 0}
end

-- What a holder has: a hold with a lease, a permit. ttl may be past.
function inspect.add_part(owner, id, ttl, writes)
    view.parts[#view.parts + 1] = {text(owner), text(id), math.max(ttl, 0), writes and 1 or 0}
end

-- What is noted of runs, see once.lua: of the last run its row, when the last that succeeded did, the last key, and how
-- often in a row the lock was not acquired in time. Empty: nothing.
function inspect.last_run()
    local is_hash, run = pcall(inspect.known, KEYS[17], 'last')
    if not is_hash then return {} end
    return {text(run.host), inspect.number(run.pid), text(run.user), text(run.command), inspect.number(run.status),
        inspect.number(run.took_ms), inspect.number(run.ended), inspect.number(redis.call('HGET', KEYS[17], 'done')),
        text(redis.call('HGET', KEYS[17], 'key') or nil), inspect.number(redis.call('HGET', KEYS[17], 'skips'))}
end
