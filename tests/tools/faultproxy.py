#!/usr/bin/env python3
"""A proxy between rlock and redis-server that loses, delays and drops on command.

usage: faultproxy.py LISTEN TARGET FIFO LOG

LISTEN, TARGET: paths of Unix sockets. Orders are lines written to FIFO; each is answered in LOG by
"ok ORDER" once it is in force. LOG also has a line for each request, "request N WORDS...", and for
each fault that bit, "lost-reply N", "lost-request N", "delayed N", "lagged" and so on: a test without such a
line has tested nothing.

orders (MATCH: part of a request's words, without regard to case, or several of them joined by +; NTH: from 1, of the requests that
match from now on; COUNT of them, 1 by default):
  lose-request MATCH NTH [COUNT]   never reaches the server; the connection is closed
  mute-request MATCH NTH [COUNT]   the same, but the connection stays open and silent
  lose-reply MATCH NTH [COUNT]     the server does it; the reply is lost, the connection is closed
  mute-reply MATCH NTH [COUNT]     the same, but the connection stays open and silent
  hold-request MATCH NTH [COUNT]   the same, until "deliver"
  refuse-request MATCH NTH COUNT ERROR...  never reaches the server; the answer is -ERROR
  deliver                          what was held reaches the server now, whoever has gone, in its order
  delay-reply MATCH NTH MS         the reply comes MS later
  lag MS                           what the client sends in one piece takes MS longer
  hang                             nothing passes in either direction; new connections are taken
  refuse                           connections are closed, new ones refused
  pass                             no fault any more

The campaign's proxies (campaign/wires.py) and the strict one (strictproxy.py) are these too, with others to say
what a request and its reply are to meet.
"""
import asyncio
import contextlib
import os
import socket
import struct
import sys
from collections import deque

from resp import words_of


def frame_end(buf, pos=0):
    """The end of the RESP value that starts at pos, or -1 when it is not complete yet."""
    line_end = buf.find(b"\r\n", pos)
    if line_end < 0:
        return -1
    kind, rest, pos = buf[pos:pos + 1], buf[pos + 1:line_end], line_end + 2
    if kind in b"$=!":
        size = int(rest)
        end = pos if size < 0 else pos + size + 2
        return end if len(buf) >= end else -1
    if kind in b"*~>%|":
        count = max(0, int(rest)) * (2 if kind in b"%|" else 1)
        for _ in range(count):
            pos = frame_end(buf, pos)
            if pos < 0:
                return -1
        return frame_end(buf, pos) if kind == b"|" else pos
    return pos


async def frames(reader, lag=None):
    """Whole values, as they come, each piece of the stream after what is awaited for it."""
    buf = b""
    while True:
        end = frame_end(buf) if buf else -1
        if end > 0:
            yield buf[:end]
            buf = buf[end:]
            continue
        piece = await reader.read(65536)
        if not piece:
            return
        if lag:
            await lag()
        buf += piece


class Fate:
    """What a request and its answer meet. action: as in the orders, or reset, late-request, cut-reply, trickle-reply;
    "": nothing. param: s of a delay, or the error of a refusal. frame: what goes to the server, if anything does."""

    def __init__(self, frame, action="", param=0, number=0):
        self.frame, self.action, self.param, self.number = frame, action, param, number


class Link:
    """One client's connection and its twin to the server."""

    def __init__(self, proxy, client, client_writer, server, server_writer):
        self.proxy, self.faults = proxy, proxy.faults
        self.client, self.client_writer = client, client_writer
        self.server, self.server_writer = server, server_writer
        self.pending, self.muted = deque(), False  # the fates of the requests under way

    async def run(self):
        """Until one of the two ends."""
        tasks = [asyncio.ensure_future(self.requests()), asyncio.ensure_future(self.replies())]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            self.abort()

    def abort(self):
        self.client_writer.transport.abort()
        self.server_writer.transport.abort()

    def reset(self):
        """By RST, where there is one."""
        sock = self.client_writer.get_extra_info("socket")
        with contextlib.suppress(OSError):  # it may be closed already
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.abort()

    async def requests(self):
        async for frame in frames(self.client, self.proxy.lag):
            await self.proxy.flowing.wait()
            fate = self.faults.request(frame, self.muted)
            if fate.action == "reset":
                self.reset()
            if fate.action in ("reset", "lose-request"):
                return
            if fate.action == "hold-request":
                self.proxy.held.append(fate)
            if fate.action == "late-request":
                asyncio.ensure_future(self.proxy.deliver(fate, fate.param))
            self.muted = self.muted or fate.action in ("mute-request", "hold-request", "late-request")
            if not self.muted:
                self.pending.append(fate)
                # In its place goes something else, for answers come in the order of requests.
                self.server_writer.write(b"PING\r\n" if fate.action == "refuse-request" else fate.frame)
                await self.server_writer.drain()

    async def replies(self):
        async for frame in frames(self.server):
            await self.proxy.flowing.wait()
            # Messages on a subscribed connection are answers to nothing.
            fate = self.faults.reply(self.pending.popleft() if self.pending else Fate(b""), self.muted)
            if fate.action == "lose-reply":
                return
            self.muted = self.muted or fate.action == "mute-reply"
            if fate.action == "delay-reply":
                await asyncio.sleep(fate.param)
            if fate.action == "refuse-request":
                frame = f"-{fate.param}\r\n".encode()
            if self.muted:
                continue
            size = {"trickle-reply": 1, "cut-reply": len(frame) // 2}.get(fate.action, len(frame))
            for i in range(0, len(frame), size):
                self.client_writer.write(frame[i:i + size])
                await self.client_writer.drain()
                if fate.action == "trickle-reply":
                    await asyncio.sleep(0.01)
                if fate.action == "cut-reply":
                    return


class Proxy:
    """listening: makes the socket at which clients come in. faults: who says what a request(frame, whether its connection
    is mute) and then its reply(fate, whether it is) meet."""

    def __init__(self, listening, target, faults):
        self.listening, self.target, self.faults = listening, target, faults
        self.flowing, self.server, self.links, self.held, self.lag_s = asyncio.Event(), None, set(), [], 0
        self.flowing.set()

    async def open(self):
        if self.server is None:
            self.server = await asyncio.start_server(self.serve, sock=self.listening())

    def reset(self):
        for link in list(self.links):
            link.reset()

    def refuse(self):
        if self.server is not None:
            self.server.close()
            self.server = None
        self.reset()

    async def serve(self, client, client_writer):
        try:
            ends = await asyncio.open_unix_connection(self.target)
        except OSError:
            client_writer.transport.abort()
            return
        link = Link(self, client, client_writer, *ends)
        self.links.add(link)
        try:
            await link.run()
        finally:
            self.links.discard(link)

    async def lag(self):
        if self.lag_s:
            self.faults.log("lagged")
            await asyncio.sleep(self.lag_s)

    async def deliver(self, fate, later_s=0):
        """Past the connection that it came by. Returns the answer; a server that is down loses it for good."""
        await asyncio.sleep(later_s)
        with contextlib.suppress(OSError):
            server, writer = await asyncio.open_unix_connection(self.target)
            writer.write(fate.frame)
            reply = await asyncio.wait_for(server.readline(), 5)
            writer.close()
            return reply.decode().strip()


class Rule:
    def __init__(self, action, match, nth, count=1, *error):
        self.action, self.match, self.param, self.seen = action, match.lower().split("+"), " ".join(error), 0
        if action == "delay-reply":
            self.param, count = int(count) / 1000, 1
        self.first, self.last = int(nth), int(nth) + int(count) - 1

    def applies(self, text):
        if not all(part in text for part in self.match):
            return False
        self.seen += 1
        return self.first <= self.seen <= self.last


class Orders:
    """What is to go wrong, and the log of what did."""

    LOSING = ("lose-request", "mute-request", "hold-request")
    ANSWERING = {"lose-reply": "lost-reply", "mute-reply": "lost-reply", "refuse-request": "refused",
                 "delay-reply": "delayed"}

    def __init__(self, log_file):
        self.log_file, self.requests, self.rules = log_file, 0, []

    def log(self, text):
        self.log_file.write(text + "\n")
        self.log_file.flush()

    def request(self, frame, _):
        self.requests += 1
        words = words_of(frame)
        text, action, param = " ".join(words).lower(), "", 0
        self.log(f"request {self.requests} " + " ".join(word[:200] for word in words).replace("\n", " "))
        for rule in self.rules:
            if rule.applies(text):
                action, param = rule.action, rule.param
        if action in self.LOSING:
            self.log(f"lost-request {self.requests}")
        return Fate(frame, action, param, self.requests)

    def reply(self, fate, _):
        if fate.action in self.ANSWERING:
            self.log(f"{self.ANSWERING[fate.action]} {fate.number}")
        return fate


async def obey(proxy, action, *args):
    faults = proxy.faults
    if action == "pass":
        faults.rules, proxy.held, proxy.lag_s = [], [], 0
        proxy.flowing.set()
        await proxy.open()
    elif action == "hang":
        proxy.flowing.clear()
    elif action == "refuse":
        proxy.refuse()
    elif action == "lag":
        proxy.lag_s = int(args[0]) / 1000
    elif action == "deliver":
        for fate in proxy.held:
            faults.log(f"delivered {fate.number} {await proxy.deliver(fate)}")
        proxy.held = []
    elif action in (*faults.LOSING, *faults.ANSWERING):
        faults.rules.append(Rule(action, *args))
    else:
        raise ValueError("unknown")


async def take_orders(proxy, fifo):
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    # Opened for writing as well: the FIFO never ends when a test's echo closes it.
    pipe = os.fdopen(os.open(fifo, os.O_RDWR | os.O_NONBLOCK), "rb", buffering=0)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), pipe)
    while True:
        line = (await reader.readline()).decode().strip()
        try:
            await obey(proxy, *line.split())
            proxy.faults.log(f"ok {line}")
        except (TypeError, ValueError, IndexError) as error:
            proxy.faults.log(f"bad order {line}: {error}")


def unix(path):
    """A socket there, and again in its place."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
    sock = socket.socket(socket.AF_UNIX)
    sock.bind(path)
    sock.listen(512)
    return sock


async def main():
    listen, target, fifo, log = sys.argv[1:]
    with open(log, "a", encoding="latin-1") as log_file:
        proxy = Proxy(lambda: unix(listen), target, Orders(log_file))
        await proxy.open()
        await take_orders(proxy, fifo)


if __name__ == "__main__":
    asyncio.run(main())
