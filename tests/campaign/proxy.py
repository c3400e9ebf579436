"""TCP proxies before the servers, each with the faults of its own wire. All run in one thread."""
import asyncio
import collections
import contextlib
import random
import socket
import struct
import threading

import link

FAULTS = {  # by name: the probability for each request or reply that passes while the fault lasts
    "reply-lost": 0.4,      # the server has done it; the connection ends
    "reply-late": 0.4,      # by up to two leases
    "reply-cut": 0.4,       # half of it comes, then the connection ends
    "reply-trickles": 0.6,  # byte by byte
    "request-late": 0.4,    # reaches the server when its sender has long given up
    "late-then-silent": 0.5,  # by half a lease, and then nothing passes any more, whoever comes
    "silent": 1,            # connections stay open, and nothing passes on them any more
    "reset": 0.5,           # by RST, and all that there are at first
    "refused": 1,           # nobody listens
}


def bound(port=0):
    sock = socket.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.bind(("127.0.0.1", port))
    return sock


class Wires:
    """The thread."""

    def __init__(self):
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()

    def do(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(10)

    def proxy(self, target, seed, lease_s):
        proxy = Proxy(target, random.Random(seed), lease_s)
        self.do(proxy.open())
        return proxy

    def close(self):
        self.do(self.cancel())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        self.loop.close()

    @staticmethod
    async def cancel():
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


class Proxy:
    def __init__(self, target, rng, lease_s):
        self.target, self.rng, self.lease_s = target, rng, lease_s
        self.place = bound()  # keeps the port ours while nobody listens
        self.port = self.place.getsockname()[1]
        self.active, self.bites, self.links = set(), collections.Counter(), set()
        self.server, self.deaf = None, False

    # --- what the nemesis orders; in the proxies' thread -----------------------------------------

    async def open(self):
        listener = bound(self.port)
        listener.listen(128)
        self.server = await asyncio.start_server(self.serve, sock=listener)

    async def begin(self, fault):
        self.active.add(fault)
        if fault in ("reset", "refused"):
            if fault == "refused":
                self.server.close()
            self.bites[fault] += len(self.links)
            for twins in list(self.links):
                twins.reset()

    async def end(self, fault):
        self.active.discard(fault)
        self.deaf = self.deaf and fault != "late-then-silent"
        if fault == "refused":
            await self.open()

    async def close(self):
        self.server.close()
        self.place.close()
        for twins in list(self.links):
            twins.reset()

    # ---------------------------------------------------------------------------------------------

    def strikes(self, fault):
        bites = fault in self.active and self.rng.random() < FAULTS[fault]
        self.bites[fault] += bites
        return bites

    def delay(self):
        return self.rng.uniform(0.2, 2) * self.lease_s

    async def serve(self, client, client_writer):
        try:
            server, server_writer = await asyncio.open_unix_connection(self.target)
        except OSError:
            client_writer.transport.abort()
            return
        twins = Link(self, client, client_writer, server, server_writer)
        self.links.add(twins)
        try:
            await twins.run()
        finally:
            self.links.discard(twins)

    async def deliver(self, request):
        await asyncio.sleep(self.delay())
        try:
            reader, writer = await asyncio.open_unix_connection(self.target)
            writer.write(request)
            await asyncio.wait_for(reader.read(1), 5)
            writer.close()
        except (OSError, asyncio.TimeoutError):
            pass  # a server that is down loses it for good


class Link(link.Link):
    def __init__(self, proxy, *ends):
        super().__init__(*ends)
        self.proxy, self.silent = proxy, False

    def reset(self):
        sock = self.client_writer.get_extra_info("socket")
        with contextlib.suppress(OSError):  # it may be closed already
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.abort()

    async def requests(self):
        async for frame in link.frames(self.client):
            if b"EVALSHA" in frame and self.proxy.strikes("request-late"):
                asyncio.ensure_future(self.proxy.deliver(frame))
                self.silent = True
            if self.proxy.strikes("reset"):
                self.reset()
                return
            self.silent = self.silent or self.proxy.deaf or self.proxy.strikes("silent")
            if not self.silent:
                self.server_writer.write(frame)
                await self.server_writer.drain()

    async def replies(self):
        async for frame in link.frames(self.server):
            self.silent = self.silent or self.proxy.deaf or self.proxy.strikes("silent")
            if self.silent:
                continue
            if self.proxy.strikes("late-then-silent"):
                await asyncio.sleep(0.45 * self.proxy.lease_s)
                self.proxy.deaf = "late-then-silent" in self.proxy.active
            if self.proxy.strikes("reply-lost"):
                return
            if self.proxy.strikes("reply-late"):
                await asyncio.sleep(self.proxy.delay())
            if self.proxy.strikes("reply-cut"):
                self.client_writer.write(frame[:len(frame) // 2])
                await self.client_writer.drain()
                return
            await self.write(frame)

    async def write(self, frame):
        pieces = [frame]
        if self.proxy.strikes("reply-trickles"):
            pieces = [frame[i:i + 1] for i in range(len(frame))]
        for piece in pieces:
            self.client_writer.write(piece)
            await self.client_writer.drain()
            if len(pieces) > 1:
                await asyncio.sleep(0.01)
