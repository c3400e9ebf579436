"""A script that holds a lock by its handle: it acquires, renews, checks and releases.

usage: handles.py RLOCK LEASE-MS STAY-MS IO-MS HISTORY -- KIND OPTION...

Nobody ends a script whose lease is over, so what it writes into HISTORY is not how long it went on,
but for how long it may say that it holds the lock: until it asks to give it back, and no longer than
a lease after the moment at which it sent the last request that was granted, or than what `check
--min-ttl` has confirmed. Its exit status is that of the call of rlock that decided: 0, or 76 where
the lock was lost; CONTRADICTED where an answer denies what one before it granted."""
import base64
import os
import signal
import subprocess
import sys
import time

LOST, CONTRADICTED, MS = 76, 98, 1000000
HOLDING = "holding"  # its name then


class Handle:
    def __init__(self, rlock, lease_ms, io_ms, history, arrival_ns):
        self.rlock, self.lease_ns, self.history, self.arrival_ns = rlock, lease_ms * MS, history, arrival_ns
        self.options = ["--log", "json", "--io-timeout", f"{io_ms}ms"]
        self.until_ns = 0

    def acquire(self, words):
        done = subprocess.run([self.rlock, "acquire", *words, *self.options], stdout=subprocess.PIPE, text=True,
                              check=False)
        if done.returncode < 0:
            signal.raise_signal(-done.returncode)
        if done.returncode:
            sys.exit(done.returncode)
        self.text, self.enter_ns = done.stdout.strip(), time.monotonic_ns()
        inside = base64.urlsafe_b64decode(self.text.split(".")[1] + "===")[:-4].decode().splitlines()
        self.kind, self.owner = inside[0].split()[0], inside[0].split()[3]
        self.token = next(line.split()[0] for line in inside[1:] if self.owner in line)
        self.tell(self.enter_ns)

    def tell(self, exit_ns):
        with open(self.history, "a", encoding="utf-8") as file:
            file.write(f"enter={self.enter_ns} exit={exit_ns} owner={self.owner} token={self.token} kind={self.kind} "
                       f"pid={os.getpid()} arrival={self.arrival_ns} script={os.getpid()}\n")

    def call(self, verb, *options):
        return subprocess.run([self.rlock, verb, *self.options, *options, self.text], check=False).returncode

    def ask(self, verb, for_ns, *options):
        """Makes sure of the lock for so long; returns the status."""
        sent_ns = time.monotonic_ns()
        status = self.call(verb, *options)
        if status == 0:
            self.until_ns = max(self.until_ns, sent_ns + for_ns)
            self.tell(min(time.monotonic_ns(), self.until_ns))
        return status

    def lost(self):
        """Somebody says so: while it was granted, or after that."""
        sys.exit(CONTRADICTED if time.monotonic_ns() < self.until_ns else LOST)

    def hold(self, stay_ns):
        end_ns, half_ns = self.enter_ns + stay_ns, self.lease_ns // 2
        self.ask("check", half_ns, "--min-ttl", f"{half_ns // MS}ms")  # there may be less left
        while (now_ns := time.monotonic_ns()) < end_ns:
            time.sleep(min(end_ns - now_ns, max(0, self.until_ns - now_ns) // 2) / 1e9)
            if self.ask("renew", self.lease_ns) == LOST:
                self.lost()

    def release(self):
        self.tell(min(time.monotonic_ns(), max(self.until_ns, self.enter_ns)))
        if self.call("release") == LOST:
            self.lost()


def main():
    border = sys.argv.index("--")
    rlock, lease_ms, stay_ms, io_ms, history = sys.argv[1:border]
    handle = Handle(rlock, int(lease_ms), io_ms, history, time.monotonic_ns())
    handle.acquire(sys.argv[border + 1:])
    with open("/proc/self/comm", "w", encoding="ascii") as file:
        file.write(HOLDING)
    handle.hold(int(stay_ms) * MS)
    handle.release()


if __name__ == "__main__":
    main()
