#!/usr/bin/env python3
"""A proxy between rlock and redis-server that loses, delays and drops on command.

usage: faultproxy.py LISTEN TARGET FIFO LOG

LISTEN, TARGET: paths of Unix sockets. Orders are lines written to FIFO; each is answered in LOG by
"ok ORDER" once it is in force. LOG also has a line for each request, "request N WORDS...", and for
each fault that bit, "lost-reply N", "lost-request N", "delayed N" and so on: a test without such a
line has tested nothing.

orders (MATCH: part of a request's words, without regard to case; NTH: from 1, of the requests that
match from now on; COUNT of them, 1 by default):
  lose-request MATCH NTH [COUNT]   never reaches the server; the connection is closed
  mute-request MATCH NTH [COUNT]   the same, but the connection stays open and silent
  lose-reply MATCH NTH [COUNT]     the server does it; the reply is lost, the connection is closed
  mute-reply MATCH NTH [COUNT]     the same, but the connection stays open and silent
  hold-request MATCH NTH [COUNT]   the same, until "deliver"
  refuse-request MATCH NTH COUNT ERROR...  never reaches the server; the answer is -ERROR
  deliver                          what was held reaches the server now, whoever has gone, in its order
  delay-reply MATCH NTH MS         the reply comes MS later
  drop P SEED [MATCH]              each request meets lose-request or lose-reply with probability P
  lag MS                           what the client sends in one piece takes MS longer
  hang                             nothing passes in either direction; new connections are taken
  refuse                           connections are closed, new ones refused
  pass                             no fault any more
"""
import asyncio
import os
import random
import sys
from collections import deque

import link


def words_of(frame):
    """The words of a request: an array of bulk strings."""
    words, pos = [], frame.index(b"\r\n") + 2
    while pos < len(frame):
        line_end = frame.index(b"\r\n", pos)
        size = int(frame[pos + 1:line_end])
        words.append(frame[line_end + 2:line_end + 2 + size].decode("utf-8", "replace"))
        pos = line_end + 2 + size + 2
    return words


class Rule:
    def __init__(self, action, match, nth, count, param=0):
        self.action, self.match, self.param = action, match.lower(), param
        self.first, self.last, self.seen = nth, nth + count - 1, 0

    def applies(self, text):
        if self.match not in text:
            return False
        self.seen += 1
        return self.first <= self.seen <= self.last


class Faults:
    """What is to go wrong, and the log of what did."""

    def __init__(self, log):
        self.log_file = log
        self.requests = 0
        self.clear()

    def clear(self):
        self.rules, self.drop, self.held, self.lag = [], None, [], 0

    def log(self, text):
        self.log_file.write(text + "\n")
        self.log_file.flush()

    def order(self, words):
        action, args = words[0], words[1:]
        if action == "drop":
            self.drop = (float(args[0]), random.Random(int(args[1])),
                         args[2].lower() if len(args) > 2 else "")
        elif action == "lag":
            self.lag = int(args[0]) / 1000
        elif action == "delay-reply":
            self.rules.append(Rule(action, args[0], int(args[1]), 1, int(args[2]) / 1000))
        elif action in ("lose-request", "mute-request", "hold-request", "lose-reply", "mute-reply"):
            count = int(args[2]) if len(args) > 2 else 1
            self.rules.append(Rule(action, args[0], int(args[1]), count))
        elif action == "refuse-request":
            self.rules.append(Rule(action, args[0], int(args[1]), int(args[2]), " ".join(args[3:])))
        else:
            return False
        return True

    def judge(self, words):
        """The fault that this request meets, as (number, action, param)."""
        self.requests += 1
        text = " ".join(words).lower()
        self.log(f"request {self.requests} " + " ".join(word[:200] for word in words).replace("\n", " "))
        found = (None, 0)
        for rule in self.rules:
            if rule.applies(text):
                found = (rule.action, rule.param)
        if self.drop:
            probability, source, match = self.drop
            if match in text and source.random() < probability:
                found = (source.choice(["lose-request", "lose-reply"]), 0)
        return (self.requests, *found)


class Proxy:
    def __init__(self, listen, target, faults):
        self.listen, self.target, self.faults = listen, target, faults
        self.flowing = asyncio.Event()
        self.flowing.set()
        self.server, self.writers, self.tasks = None, set(), set()

    async def open(self):
        if self.server is None:
            if os.path.exists(self.listen):
                os.unlink(self.listen)
            self.server = await asyncio.start_unix_server(self.serve, self.listen, backlog=512)

    def refuse(self):
        if self.server is not None:
            self.server.close()
            self.server = None
        for writer in list(self.writers):
            writer.transport.abort()

    async def order(self, line):
        words = line.split()
        if words[0] == "pass":
            self.faults.clear()
            self.flowing.set()
            await self.open()
        elif words[0] == "hang":
            self.flowing.clear()
        elif words[0] == "refuse":
            self.refuse()
        elif words[0] == "deliver":
            await self.deliver()
        elif not self.faults.order(words):
            self.faults.log(f"unknown order {line}")
            return
        self.faults.log(f"ok {line}")

    async def deliver(self):
        for number, frame in self.faults.held:
            server, server_writer = await asyncio.open_unix_connection(self.target)
            server_writer.write(frame)
            reply = await server.readline()
            self.faults.log(f"delivered {number} {reply.decode().strip()}")
            server_writer.close()
        self.faults.held = []

    async def serve(self, client, client_writer):
        try:
            server, server_writer = await asyncio.open_unix_connection(self.target)
        except OSError:
            client_writer.transport.abort()
            return
        self.writers |= {client_writer, server_writer}
        try:
            await Link(self, client, client_writer, server, server_writer).run()
        finally:
            self.writers -= {client_writer, server_writer}


class Link(link.Link):
    def __init__(self, proxy, *ends):
        super().__init__(*ends)
        self.proxy, self.faults = proxy, proxy.faults
        self.pending = deque()  # the fault that each request under way is to meet
        self.muted = False

    async def frames(self, reader):
        async for frame in link.frames(reader, self.lag if reader is self.client else None):
            await self.proxy.flowing.wait()
            yield frame

    async def lag(self):
        if self.faults.lag:
            await asyncio.sleep(self.faults.lag)

    async def requests(self):
        async for frame in self.frames(self.client):
            words = words_of(frame)
            number, action, param = self.faults.judge(words)
            if action in ("lose-request", "mute-request", "hold-request"):
                self.faults.log(f"lost-request {number}")
                if action == "hold-request":
                    self.faults.held.append((number, frame))
                if action == "lose-request":
                    return
                self.muted = True
            if self.muted:
                continue
            self.pending.append((number, action, param))
            # In its place goes something else, for answers come in the order of requests.
            self.server_writer.write(b"PING\r\n" if action == "refuse-request" else frame)
            await self.server_writer.drain()

    async def replies(self):
        async for frame in self.frames(self.server):
            # Messages on a subscribed connection are answers to nothing.
            number, action, param = self.pending.popleft() if self.pending else (0, None, 0)
            if action in ("lose-reply", "mute-reply"):
                self.faults.log(f"lost-reply {number}")
                if action == "lose-reply":
                    return
                self.muted = True
            if action == "refuse-request":
                self.faults.log(f"refused {number}")
                frame = f"-{param}\r\n".encode()
            if action == "delay-reply":
                self.faults.log(f"delayed {number}")
                await asyncio.sleep(param)
            if not self.muted:
                self.client_writer.write(frame)
                await self.client_writer.drain()


async def take_orders(proxy, fifo):
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    # Opened for writing as well: the FIFO never ends when a test's echo closes it.
    pipe = os.fdopen(os.open(fifo, os.O_RDWR | os.O_NONBLOCK), "rb", buffering=0)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), pipe)
    while True:
        line = (await reader.readline()).decode().strip()
        if line:
            try:
                await proxy.order(line)
            except (ValueError, IndexError) as error:
                proxy.faults.log(f"bad order {line}: {error}")


async def main():
    listen, target, fifo, log = sys.argv[1:]
    with open(log, "a", encoding="utf-8") as log_file:
        proxy = Proxy(listen, target, Faults(log_file))
        await proxy.open()
        await take_orders(proxy, fifo)


if __name__ == "__main__":
    asyncio.run(main())
