-- acquire.lua: the arguments of a request to take a lock, by name (base.lua has the list), and the answer that it is
-- busy, which describes the holder.
call.enqueue, call.only_reenters = ARGV[7] == '1' or ARGV[7] == '3', ARGV[7] == '2'
call.goes_first = ARGV[7] == '3' -- its turn has come in the line of another name
call.permits_total, call.variant = tonumber(ARGV[9]), ARGV[10] or ''
call.proof_owner, call.proof_token = (ARGV[11] or '') ~= '' and ARGV[11] or nil, ARGV[12]
call.came_back = (ARGV[13] or '') ~= '' -- it has been told its place before
call.last_place, call.ticket = tonumber(ARGV[13]), tonumber(ARGV[14])
call.period = tonumber(ARGV[15])
call.preempts_as = (ARGV[16] or '') ~= '' and ARGV[16] or nil
call.once_key = (ARGV[17] or '') ~= '' and ARGV[17] or nil
call.priority, call.waited = tonumber(ARGV[18]) or 0, tonumber(ARGV[19]) or 0
local REFUSED = -2 -- it could never succeed; the text after the numbers says why
local OUSTED = -3 -- a later waiter has taken our place
local APART = -6 -- it asks to re-enter alone, and the hold around it is not here; -5: once.lua
local acquire = {}

-- With --preempt: the first in line asks a holder that has agreed to that to end, on the channel on which broken.lua
-- tells it. It asks with each try, for a message may be lost. Returns whether it was asked, see preemption in rlock.h,
-- and whether it is known to have been heard: a holder that has just begun does not listen yet.
local ASKED, NOT_AGREED, NO_RIGHT = 1, 2, 3
local function ask_to_end(holder, known)
    if known.preemptible ~= true or known.kept then return NOT_AGREED, true end
    local own_channel = string.format('rlock_break:%s', holder)
    local heard = redis.pcall('PUBLISH', own_channel, 'preempt ' .. call.preempts_as)
    if type(heard) == 'table' then return NO_RIGHT, true end
    return ASKED, heard > 0
end

-- holder: or, where nobody holds it, the waiter whose turn it is. hint: ms until it may be free by itself (-1: never).
-- The others: waiters.place().
function acquire.busy(holder, hint, place, waiting, again_ms, ticket)
    local shown = redis.call('HGET', key.info, holder)
    local waits = not shown and redis.call('HGET', key.shown, holder)
    local read, known = pcall(cjson.decode, shown or waits or '')
    if not read or type(known) ~= 'table' then known = {} end
    local since = tonumber(known.since)
    local answer = {BUSY, hint, place, holder, tostring(known.host or ''), tonumber(known.pid) or 0,
        tostring(known.user or ''), tostring(known.command or ''),
        since and math.max(server.now - since, 0) or 0, waiting, known.kept and 1 or waits and 2 or 0,
        again_ms or 5000, ticket or 0, tostring(known.note or '')}
    if call.preempts_as and place == 1 then
        local asked, heard = ask_to_end(holder, known)
        answer[12] = heard and answer[12] or math.min(answer[12], 500)
        answer[15] = asked
    end
    return answer
end
