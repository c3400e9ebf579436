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
from collections import deque

import link

ALLOWS = b"--!df flags=allow-undeclared-keys\n"
MISSING = ("WAIT", "WAITAOF", "CONFIG", "CLIENT")
NO_KEY = "ERR for redis cluster, eval/evalsha number of keys can't be negative or zero"

# Told by a message, for a script that is refused must change nothing.
PRELUDE = """
local redis = (function(server, KEYS)
    local NO_KEYS = {TIME = true, PUBLISH = true, SPUBLISH = true, INFO = true}
    local ALL_KEYS, TWO_KEYS = {DEL = true, EXISTS = true, MGET = true}, {RENAME = true}
    local declared, allowed = {}, %(allowed)s
    for _, name in ipairs(KEYS) do declared[name] = true end
    local function undeclared(command, ...)
        local last = ALL_KEYS[command] and select('#', ...) or TWO_KEYS[command] and 2 or 1
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


def words_of(frame):
    """The words of a request: an array of bulk strings."""
    words, pos = [], frame.index(b"\r\n") + 2
    while pos < len(frame):
        line_end = frame.index(b"\r\n", pos)
        size = int(frame[pos + 1:line_end])
        words.append(frame[line_end + 2:line_end + 2 + size])
        pos = line_end + 2 + size + 2
    return words


def frame_of(words):
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words)


def sha1(body):
    return hashlib.sha1(body).hexdigest()


class Scripts:
    """rlock's scripts by their SHA-1, and what goes to the server instead."""

    def __init__(self, folder, old):
        self.old, self.names, self.known = "true" if old else "false", {}, {}
        for name in os.listdir(folder):
            with open(os.path.join(folder, name), "rb") as file:
                self.names[sha1(file.read())] = name.removesuffix(".lua")

    def strict(self, body):
        name = self.names.get(sha1(body), "another")
        allowed = "true" if body.startswith(ALLOWS) else "false"
        text = PRELUDE % {"name": name, "allowed": allowed, "old": self.old}
        stricter = text.encode() + body
        self.known[sha1(body).encode()] = sha1(stricter).encode()
        return stricter


class Link(link.Link):
    def __init__(self, scripts, *ends):
        super().__init__(*ends)
        self.scripts = scripts
        self.refusals = deque()  # what is to be said to each request under way; None: the server's answer

    def judge(self, words):
        """The error that the request is answered with, or None and what goes to the server."""
        command = words[0].decode().upper()
        if command in MISSING:
            return f"ERR unknown command '{words[0].decode()}', with args beginning with: ", words
        if command not in ("EVAL", "EVALSHA"):
            return None, words
        if words[2] == b"0":
            return NO_KEY, words
        if command == "EVAL":
            return None, [words[0], self.scripts.strict(words[1]), *words[2:]]
        if words[1] not in self.scripts.known:
            return "NOSCRIPT No matching script. Please use EVAL.", words
        return None, [words[0], self.scripts.known[words[1]], *words[2:]]

    async def requests(self):
        async for frame in link.frames(self.client):
            refusal, words = self.judge(words_of(frame))
            self.refusals.append(refusal)
            # In its place goes something else, for answers come in the order of requests.
            self.server_writer.write(b"PING\r\n" if refusal else frame_of(words))
            await self.server_writer.drain()

    async def replies(self):
        async for frame in link.frames(self.server):
            refusal = self.refusals.popleft() if self.refusals else None  # or a message
            self.client_writer.write(f"-{refusal}\r\n".encode() if refusal else frame)
            await self.client_writer.drain()


async def keep_log(target, log):
    """What the preludes tell, until the server ends."""
    reader, writer = await asyncio.open_unix_connection(target)
    writer.write(frame_of([b"SUBSCRIBE", b"strictproxy"]))
    async for frame in link.frames(reader):
        kind, _, text = words_of(frame)[:3] if frame.startswith(b"*3\r\n$7\r\n") else (b"", b"", b"")
        if kind == b"message":
            log.write(text.decode("utf-8", "replace") + "\n")
            log.flush()
    del writer


async def main():
    listen, target, folder, path, *more = sys.argv[1:]
    scripts = Scripts(folder, "old" in more)

    async def serve(client, client_writer):
        server, server_writer = await asyncio.open_unix_connection(target)
        await Link(scripts, client, client_writer, server, server_writer).run()

    with open(path, "a", encoding="utf-8") as log:
        logging = asyncio.ensure_future(keep_log(target, log))
        await asyncio.start_unix_server(serve, listen, backlog=512)
        await logging


if __name__ == "__main__":
    asyncio.run(main())
