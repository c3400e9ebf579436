"""A Java service with Redisson on the same locks, as tests/interop has it: its threads take them again
and again beside the rlocks of the round, and write the same history."""
import os
import pathlib
import shutil
import sys
import threading
import time

import network
from crew import NAME, PERMITS
from servers import Topology

INTEROP = pathlib.Path(__file__).resolve().parent.parent / "interop"
sys.path.append(str(INTEROP))
from mixed import Service  # noqa: E402

VERSION = "4.7.0"
# By kind: what each of its threads takes. RLock has no token, RFencedLock shares rlock's.
THREADS = {"run": ("lock", "fenced", "fenced"), "rw": ("rw", "rw"), "sem": ("permits", "permits")}


def made(rlock):
    """The folder of its jars and classes, in the build of this rlock; None: it is not there."""
    folder = pathlib.Path(rlock).resolve().parent.parent / "interop" / VERSION
    return folder if (folder / "classes").is_dir() and shutil.which("java") else None


class Mixed(Topology):
    """A server that both come to by TCP. Nothing but processes of rlocks is struck: whoever waits for
    Redisson's watchdog, or its own patience, has no promise of ours."""

    def __init__(self, place, kind):
        port = network.Loopback().ports[0]
        super().__init__("socket", place, "--port", str(port), "--bind", "127.0.0.1")
        self.url, self.kind, self.seed = f"redis://127.0.0.1:{port}", kind, place.seed
        self.lease_ms, self.folder = int(place.lease_s * 1000), place.folder
        self.threads, self.failures = [], []
        with open(os.path.join(place.folder, "java.err"), "wb") as stderr:
            self.service = Service(self.command(made(place.rlock), port), stderr)
        self.service.wait_ready()

    def command(self, folder, port):
        return ["java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx256m", "-cp",
                f"{folder}/classes:{folder}/jars/*", "Interop", f"servers=redis://127.0.0.1:{port}",
                f"watchdog={self.lease_ms}"]

    def begin(self):
        for number, kind in enumerate(THREADS[self.kind]):
            lease_ms = 2 * self.lease_ms if kind == "permits" else -1  # nobody renews a permit
            order = f"rounds {kind} {NAME} seed={number} permits={PERMITS} lease={lease_ms}"
            self.threads.append(threading.Thread(target=self.go, args=(order,), daemon=True))
            self.threads[-1].start()

    def go(self, order):
        """An error: its lock was lost, say, be it to an rlock or to a machine too busy for the watchdog."""
        try:
            self.service.ask(self.folder, order)
        except RuntimeError as error:
            self.failures.append((str(error), time.monotonic_ns()))

    def end(self):
        with open(os.path.join(self.folder, "over"), "wb"):
            pass
        for thread in self.threads:
            thread.join()

    def close(self):
        self.service.process.kill()
        self.service.process.wait()
        super().close()
