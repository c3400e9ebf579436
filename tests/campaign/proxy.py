"""TCP proxies before the servers, each with the faults of its own wire. All run in one thread."""
import asyncio
import collections
import random
import socket
import struct
import threading

from faultproxy import frame_end

FAULTS = {  # by name: the probability for each request or reply that passes while the fault lasts
    "reply-lost": 0.4,      # the server has done it; the connection ends
    "reply-late": 0.4,      # by up to two leases
    "reply-cut": 0.4,       # half of it comes, then the connection ends
    "reply-trickles": 0.6,  # byte by byte
    "request-late": 0.4,    # reaches the server when its sender has long given up
    "silent": 1,            # connections stay open, and nothing passes on them any more
    "reset": 0.5,           # by RST, and all that there are at first
    "refused": 1,           # nobody listens
}


def bound(port=0):
    sock = socket.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.bind(("127.0.0.1", port))
    return sock


async def frames(reader):
    buf = b""
    while True:
        end = frame_end(buf) if buf else -1
        if end > 0:
            yield buf[:end]
            buf = buf[end:]
            continue
        chunk = await reader.read(65536)
        if not chunk:
            return
        buf += chunk


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
        self.server = None

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
            for link in list(self.links):
                link.reset()

    async def end(self, fault):
        self.active.discard(fault)
        if fault == "refused":
            await self.open()

    async def close(self):
        self.server.close()
        self.place.close()
        for link in list(self.links):
            link.reset()

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
        link = Link(self, client, client_writer, server, server_writer)
        self.links.add(link)
        try:
            await link.run()
        finally:
            self.links.discard(link)

    async def deliver(self, request):
        await asyncio.sleep(self.delay())
        try:
            reader, writer = await asyncio.open_unix_connection(self.target)
            writer.write(request)
            await asyncio.wait_for(reader.read(1), 5)
            writer.close()
        except (OSError, asyncio.TimeoutError):
            pass  # a server that is down loses it for good


class Link:
    """One client's connection and its twin to the server."""

    def __init__(self, proxy, client, client_writer, server, server_writer):
        self.proxy, self.client, self.client_writer = proxy, client, client_writer
        self.server, self.server_writer, self.silent = server, server_writer, False

    def reset(self):
        sock = self.client_writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.abort()

    def abort(self):
        self.client_writer.transport.abort()
        self.server_writer.transport.abort()

    async def run(self):
        tasks = [asyncio.ensure_future(self.requests()), asyncio.ensure_future(self.replies())]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            self.abort()

    async def requests(self):
        async for frame in frames(self.client):
            if b"EVALSHA" in frame and self.proxy.strikes("request-late"):
                asyncio.ensure_future(self.proxy.deliver(frame))
                self.silent = True
            if self.proxy.strikes("reset"):
                self.reset()
                return
            self.silent = self.silent or self.proxy.strikes("silent")
            if not self.silent:
                self.server_writer.write(frame)
                await self.server_writer.drain()

    async def replies(self):
        async for frame in frames(self.server):
            self.silent = self.silent or self.proxy.strikes("silent")
            if self.silent:
                continue
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
