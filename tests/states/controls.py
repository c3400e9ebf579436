"""Scripts with a fault in them, each of which must be found: is the search any good?"""
from typing import NamedTuple


class Control(NamedTuple):
    scene: str
    script: str
    old: str
    new: str
    said: str  # what the promise that it breaks says
    size: tuple = (3, 3, 1, 1)


CONTROLS = {
    "a release that asks for no owner": Control(
        "run", "mutex_release",
        "redis.pcall('HGET', KEYS[1], ARGV[1]) == '1' then\nlocal all = redis.call('ZRANGE', KEYS[4], '0', '1')\n"
        "if #all == 1 and all[1] == ARGV[1] .. ' ' .. string.sub(ARGV[3], 1, 32) then", "true then\nif true then",
        "believes to hold it"),
    "a token that does not grow": Control(
        "run", "mutex_acquire", "redis.call('INCR', KEYS[2])", "redis.call('GET', KEYS[2]) + 0", "no new token"),
    "a lease that is too short": Control(
        "run", "mutex_acquire", "redis.call('PEXPIRE', KEYS[1], lasts)",
        "redis.call('PEXPIRE', KEYS[1], lasts - 500)", "but it stands for"),
    "a lease that never ends": Control(
        "run", "mutex_acquire", "redis.call('PEXPIRE', KEYS[3], lasts)", "", "never expires"),
    "a lock that is taken before its lease ends": Control(
        "run", "mutex_acquire", "local ttl = redis.call('PTTL', key.lock)\n",
        "local ttl = redis.call('PTTL', key.lock) if ttl < 2000 then redis.call('DEL', key.lock) ttl = -2 end\n",
        "believes to hold it"),
    "a release that wakes nobody": Control(
        "run", "mutex_release", "redis.call('DEL', key.lock)\nqueue.wake_next()",
        "redis.call('DEL', key.lock)\nreturn {RELEASED, 0, 0}",
        "who waits gets it after"),
    "a repeated request that takes anew": Control(
        "run in run", "mutex_acquire", "if not field then return nil end\nif holds", "if true then return nil end\nif holds", "who waits gets it after"),
    "a late request that is not remembered to be over": Control(
        "run", "mutex_acquire", "return call.try <= over", "return false", "has left, and of it there is"),
    "a waiter that leaves without a word to the next": Control(
        "run", "mutex_release", "elseif not queue.wake() then\nwaiters.wake(waiters)\nend", "end", "who waits gets it after"),
    "a queue that lets the last in": Control(
        "fair", "fair_acquire", "not head or head == call.owner or call.goes_first or queue.overtakes()", "true", "who came earlier"),
    "a newcomer that goes before one of its own priority": Control(
        "fair --priority", "fair_acquire", "return call.priority > tickets.priority(queue.head_ticket)",
        "return call.priority >= tickets.priority(queue.head_ticket)", "who came earlier", (4, 3, 0, 0)),
    "a ticket without the priority": Control(
        "fair --priority", "fair_acquire", "tickets.came(newest.ticket) + 1 or 0) - rise", "tickets.came(newest.ticket) + 1 or 0)",
        "who has a higher priority", (4, 3, 0, 0)),
    "a waiter in front of which nobody knows, and which dies": Control(
        "fair --priority --supersede", "fair_acquire", "if call.has_cleaned and not call.overtakes then",
        "if call.has_cleaned then", "it goes on without end", (4, 2, 1, 0)),
    "a reader beside a writer": Control(
        "read, write", "read_acquire", "if mode == 'write' or writer then", "if writer then",
        "and one writes"),
    "a write that ends without a word": Control(
        "read, write", "rw_release",
        "if is_open or is_kept then server.tell_all(wrote and '1' or '0') end\nif is_open then rw.wake() end\n", "",
        "who waits gets it after"),
    "one permit too many": Control(
        "sem", "sem_acquire", "if available < call.permits then", "if available + 1 < call.permits then",
        "permits are held"),
    "a permit that comes back twice": Control(
        "sem", "sem_release", "sem.give(held)", "sem.give(call.permits)", "are available"),
    "a latch that is set anew by a request that comes late": Control(
        "latch", "latch_set", "return try.once(set, ", "return true and set() or (", "set again", (4, 1, 1, 1)),
    "a latch that is open, and nobody is told": Control(
        "latch", "latch_down", "server.tell_all('0')", "", "all are told", (4, 1, 1, 1)),
    "a count that is repeated, and counted": Control(
        "latch", "latch_down", "return try.once(count_down, look)", "return count_down()", "counted", (4, 1, 1, 1)),
    "a server that takes any token": Control(
        "tokens of a quorum, shared", "token_raise", "if not raise.is_new(token) then", "if false then", "gets the token",
        (2, 1, 0, 0)),
    "a server that does not keep the token": Control(
        "tokens of a quorum, shared", "token_raise", "redis.call('SET', key.token, token)", "", "gets the token",
        (2, 1, 0, 0)),
}
