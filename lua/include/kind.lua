-- kind.lua: what else may stand under a name.

-- An answer is an error: false, if only that the key is of another type.
function server.is_wrong_kind(answer)
    if type(answer) == 'table' and not string.find(answer.err, 'WRONGTYPE', 1, true) then error(answer) end
    return false
end
