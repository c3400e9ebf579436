-- kind.lua: what else may stand under a name.

-- An answer is an error: false, if only that the key is of another type.
function server.is_wrong_kind(answer)
    if type(answer) == 'table' and not string.find(answer.err, 'WRONGTYPE', 1, true) then error(answer) end
    return false
end

-- The names x and {x} are two locks, but Redisson calls some of their keys alike: the name of the other.
-- nil: a name with braces elsewhere has none.
function server.twin()
    if not string.find(key.lock, '{', 1, true) then return '{' .. key.lock .. '}' end
    return string.match(key.lock, '^{([^{}]+)}$')
end
