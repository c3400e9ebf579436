#!/usr/bin/env python3
"""A proxy that makes of a redis-server a stricter one, as some hosts have.

usage: strictproxy.py LISTEN TARGET SCRIPTS LOG [old]

LISTEN, TARGET: paths of Unix sockets. SCRIPTS: the folder of rlock's scripts as the server gets them.

It has no WAIT, no CONFIG and no CLIENT, runs no script without a key, and lets a script use the keys
only that the request has declared, unless the script's first line asks for more in the words that
Dragonfly reads. Each use of another key is a line in LOG, "undeclared SCRIPT COMMAND KEY", "allowed
..." where the script has asked. old: scripts find a server that is older than Redis 6.0.

For that scripts go to the server with a prelude before them, under a name (SHA-1) of their own.
"""
import asyncio
import hashlib
import os
import sys

from faultproxy import Fate, Proxy, frames, unix
from resp import packed, words_of

ALLOWS = "--!df flags=allow-undeclared-keys\n"
MISSING = ("WAIT", "WAITAOF", "CONFIG", "CLIENT")
NO_KEY = "ERR for redis cluster, eval/evalsha number of keys can't be negative or zero"

# Told by a message, for a script that is refused must change nothing.
PRELUDE = """
local redis = (function(server, KEYS)
    local NO_KEYS = {TIME = true, PUBLISH = true, SPUBLISH = true, INFO = true}
    local ALL_KEYS = {DEL = true, EXISTS = true}
    local declared, allowed = {}, %(allowed)s
    for _, name in ipairs(KEYS) do declared[name] = true end
    local function undeclared(command, ...)
        local last = ALL_KEYS[command] and select('#', ...) or 1
        for i = 1, NO_KEYS[command] and 0 or last do
            local name = tostring((select(i, ...)))
            if not declared[name] then return name end
        end
    end
    local function refusal(command, ...)
        local name = undeclared(string.upper(command), ...)
        if not name then return nil end
        server.call('PUBLISH', 'strictproxy', (allowed and 'allowed' or 'undeclared') ..
            ' %(name)s ' .. string.upper(command) .. ' ' .. name)
        return not allowed and 'script tried accessing undeclared key, key: ' .. name or nil
    end
    local function call(...)
        local why = refusal(...)
        if why then error(why, 0) end
        return server.call(...)
    end
    local function pcall(...)
        local why = refusal(...)
        return why and {err = 'ERR ' .. why} or server.pcall(...)
    end
    local function value(_, what)
        if not (%(old)s and what == 'setresp') then return server[what] end
    end
    return setmetatable({call = call, pcall = pcall}, {__index = value})
end)(redis, KEYS)
"""


def sha1(body):
    return hashlib.sha1(body.encode("latin-1")).hexdigest()


class Strict:
    """rlock's scripts by their SHA-1, what goes to the server instead, and what is refused."""

    def __init__(self, folder, old):
        self.old, self.names, self.known = "true" if old else "false", {}, {}
        for name in os.listdir(folder):
            with open(os.path.join(folder, name), encoding="latin-1") as file:
                self.names[sha1(file.read())] = name.removesuffix(".lua")

    def strict(self, body):
        name = self.names.get(sha1(body), "another")
        allowed = "true" if body.startswith(ALLOWS) else "false"
        stricter = PRELUDE % {"name": name, "allowed": allowed, "old": self.old} + body
        self.known[sha1(body)] = sha1(stricter)
        return stricter

    def request(self, frame, _):
        command, *words = words_of(frame)
        verb = command.upper()
        if verb in MISSING:
            return Fate(b"", "refuse-request", f"ERR unknown command '{command}', with args beginning with: ")
        if verb not in ("EVAL", "EVALSHA"):
            return Fate(frame)
        if words[1] == "0":
            return Fate(b"", "refuse-request", NO_KEY)
        if verb == "EVAL":
            return Fate(packed([command, self.strict(words[0]), *words[1:]]))
        if words[0] not in self.known:
            return Fate(b"", "refuse-request", "NOSCRIPT No matching script. Please use EVAL.")
        return Fate(packed([command, self.known[words[0]], *words[1:]]))

    @staticmethod
    def reply(fate, _):
        return fate


async def keep_log(target, path):
    """What the preludes tell, until the server ends."""
    reader, writer = await asyncio.open_unix_connection(target)
    writer.write(packed(["SUBSCRIBE", "strictproxy"]))
    with open(path, "a", encoding="latin-1", buffering=1) as log:
        async for frame in frames(reader):
            if frame.startswith(b"*3\r\n$7\r\nmessage"):
                log.write(words_of(frame)[2] + "\n")
    del writer


async def main():
    listen, target, folder, log, *more = sys.argv[1:]
    await Proxy(lambda: unix(listen), target, Strict(folder, "old" in more)).open()
    await keep_log(target, log)


if __name__ == "__main__":
    asyncio.run(main())
