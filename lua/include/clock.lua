-- clock.lua: the one clock, the server's.
local time = redis.call('TIME')
local now_text = time[1] .. string.sub('00000' .. time[2], -6, -4) -- epoch ms, as a command takes it
local now = tonumber(now_text)
