-- try_once.lua: what is changed without being held, a count, changes once: a request that is sent again, or arrives
-- late, is told what the first was told, and changes nothing. Something is written for the others as well: the replicas
-- that acknowledge it have all that was written before.

-- change() returns its answer; code: of the first.
function try.once(change, repeated)
    local code = redis.call('HGET', try.tombstone, 'code')
    local answer = code and repeated(tonumber(code)) or change()
    try.remember('code', answer[1])
    return answer
end
