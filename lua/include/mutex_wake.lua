-- mutex_wake.lua: who comes next when `run` or `fair` is free.

-- The head of the queue alone, if it listens; else who waits without a place in it.
local function wake_next()
    if queue.wake() then return end
    server.tell_all('0')
    waiters.wake(waiters)
end
