-- tickets.lua: what the ticket of a waiter in the fair queue says. It is the epoch ms at which the waiter came, less its
-- priority times BAND: a higher priority goes before, and equal ones go as they came.
local tickets = {BAND = 4000000000000} -- no epoch ms is larger until 2096; a thousand of them are exact in Lua

function tickets.came(ticket) return ticket % tickets.BAND end
function tickets.priority(ticket) return -math.floor(ticket / tickets.BAND) end
