"""TCP proxies before the servers, each with the faults of its own wire. All run in one thread."""
import asyncio
import collections
import random
import socket
import threading

from faultproxy import Fate, Proxy

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
REPLIES = {"reply-lost": "lose-reply", "reply-cut": "cut-reply", "reply-trickles": "trickle-reply"}


class Wires:
    """The thread."""

    def __init__(self):
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()

    def do(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(10)

    def proxy(self, target, seed, lease_s):
        wire = Wire(target, random.Random(seed), lease_s)
        self.do(wire.open())
        return wire

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


class Wire(Proxy):
    """At a port, which stays ours while nobody listens there. It says itself what its requests meet."""

    def __init__(self, target, rng, lease_s):
        self.port, self.rng, self.lease_s = 0, rng, lease_s
        self.place = self.bound()
        self.port = self.place.getsockname()[1]
        super().__init__(self.heard, target, self)
        self.active, self.bites, self.deaf = set(), collections.Counter(), False

    def bound(self):
        sock = socket.socket()
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind(("127.0.0.1", self.port))
        return sock

    def heard(self):
        listener = self.bound()
        listener.listen(128)
        return listener

    # --- what the nemesis orders; in the proxies' thread -----------------------------------------

    async def begin(self, fault):
        self.active.add(fault)
        if fault in ("reset", "refused"):
            self.bites[fault] += len(self.links)
            self.refuse() if fault == "refused" else self.reset()

    async def end(self, fault):
        self.active.discard(fault)
        self.deaf = self.deaf and fault != "late-then-silent"
        await self.open()

    async def close(self):
        self.refuse()
        self.place.close()

    # ---------------------------------------------------------------------------------------------

    def strikes(self, fault):
        bites = fault in self.active and self.rng.random() < FAULTS[fault]
        self.bites[fault] += bites
        return bites

    def delay_s(self):
        return self.rng.uniform(0.2, 2) * self.lease_s

    def request(self, frame, muted):
        if not muted and b"EVALSHA" in frame and self.strikes("request-late"):
            return Fate(frame, "late-request", self.delay_s())
        if not muted and self.strikes("reset"):
            return Fate(frame, "reset")
        return Fate(frame, "mute-request" if not muted and (self.deaf or self.strikes("silent")) else "")

    def reply(self, fate, muted):
        if muted:
            return fate
        if self.deaf or self.strikes("silent"):
            return Fate(b"", "mute-reply")
        if self.strikes("late-then-silent"):
            asyncio.get_running_loop().call_later(0.45 * self.lease_s, self.grow_deaf)
            return Fate(b"", "delay-reply", 0.45 * self.lease_s)
        if self.strikes("reply-late"):
            return Fate(b"", "delay-reply", self.delay_s())
        return Fate(b"", next((action for fault, action in REPLIES.items() if self.strikes(fault)), ""))

    def grow_deaf(self):
        self.deaf = "late-then-silent" in self.active
