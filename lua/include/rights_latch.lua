-- rights_latch.lua: the rights of latches, see rights.lua.
rights['latch set'] = function()
    return {'GET', 'TYPE'}, {'HGET', 'PEXPIRE', 'SET'}, {'HSET'}
end
rights['latch down'] = function()
    return {'DEL', 'GET', 'TYPE'}, {'DECRBY', 'HGET', 'PEXPIRE'}, {'HSET'}
end
rights['latch wait'] = function()
    return {'GET', 'TYPE'}, {'HGET'}
end
