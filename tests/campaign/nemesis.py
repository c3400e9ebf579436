"""What goes wrong, when, and whether it bit. The plan comes from the seed alone."""
import heapq
import os
import random
import signal
import subprocess
import sys
import time

import proxy
import servers

PROCESS = {  # whom it strikes, and how; SIGSTOP ends with SIGCONT
    "holder-stopped": ("holder", signal.SIGSTOP),
    "holder-killed": ("holder", signal.SIGKILL),
    "guardian-stopped": ("guardian", signal.SIGSTOP),
    "guardian-killed": ("guardian", signal.SIGKILL),
    "command-stopped": ("command", signal.SIGSTOP),
    "command-killed": ("command", signal.SIGKILL),
    "waiter-stopped": ("waiter", signal.SIGSTOP),
    "waiter-killed": ("waiter", signal.SIGKILL),
    "waiter-ended": ("waiter", signal.SIGTERM),
}
STARVED = "processors-starved"
FAULTS = (*proxy.FAULTS, *servers.FAULTS, *PROCESS, STARVED)
PATIENCE_S = 1
SPIN = "import time\nend = time.monotonic() + {seconds}\nwhile time.monotonic() < end: pass"


def possible(fault, topology):
    return fault not in proxy.FAULTS or topology != "socket"


class Fault:
    """One of the plan: when it begins, what, for how long, and whom it chooses."""

    def __init__(self, at_s, name, lasts_s, choice):
        self.at_s, self.name, self.lasts_s, self.choice = at_s, name, lasts_s, choice
        self.begun_ns = self.ended_ns = self.bites = 0
        self.target, self.claims, self.undo = "", None, None

    def __str__(self):
        return f"{self.name} {self.target} for {self.lasts_s:.2f} s"

    def __lt__(self, other):
        return self.at_s < other.at_s


def plan(seed, names, seconds, lease_s):
    """Each of them once in an order of chance, then again in another, until it is time."""
    rng, faults, at_s, order = random.Random(f"{seed} nemesis"), [], 0.3, []
    while names and at_s < seconds:
        order = order or rng.sample(names, len(names))
        faults.append(Fault(at_s, order.pop(), rng.choice((0.2, 0.7, 1.5)) * lease_s, rng.random()))
        at_s += rng.uniform(0.05, 1)
    return faults


class Nemesis:
    """servers and proxies: what can be struck, beside the rlocks of the crew."""

    def __init__(self, topology, crew, faults):
        self.topology, self.crew, self.faults = topology, crew, faults
        self.busy = set()  # what a fault has broken that has not ended yet

    def play(self):
        """Until the last fault of the plan has ended."""
        start, due = time.monotonic(), [(fault.at_s, True, fault) for fault in self.faults]
        heapq.heapify(due)
        while due:
            at_s, begins, fault = heapq.heappop(due)
            time.sleep(max(0, start + at_s - time.monotonic()))
            if not begins:
                self.end(fault)
                continue
            begun = self.begin(fault)
            if begun is None and time.monotonic() < start + fault.at_s + PATIENCE_S:
                heapq.heappush(due, (at_s + 0.01, True, fault))  # there may be no holder just now
            elif begun:
                heapq.heappush(due, (time.monotonic() - start + fault.lasts_s, False, fault))

    def begin(self, fault):
        """Whether it is to end; None: not yet possible."""
        fault.begun_ns = time.monotonic_ns()
        if fault.name in PROCESS:
            begun = self.strike_process(fault)
        elif fault.name == STARVED:
            begun = self.starve(fault)
        else:
            begun = self.strike_server(fault)
        fault.ended_ns = time.monotonic_ns()
        return begun

    def end(self, fault):
        bites = fault.undo()
        fault.bites += bites or 0
        fault.ended_ns = time.monotonic_ns()
        self.busy.discard(fault.claims)

    # --- the servers and the wires before them ---------------------------------------------------

    def strike_server(self, fault):
        """One of them, unless it, or its wire, is broken already."""
        number = int(fault.choice * len(self.topology.servers))
        on_wire = fault.name in proxy.FAULTS
        if not self.claim(fault, ("wire" if on_wire else "server", number)):
            return False
        fault.target = f"of server {number + 1}"
        if not on_wire:
            server = self.topology.servers[number]
            server.begin(fault.name)
            fault.undo = lambda: server.end(fault.name)
            return True
        wire, do = self.topology.proxies[number], self.topology.wires.do
        before = wire.bites[fault.name]
        do(wire.begin(fault.name))

        def undo():
            do(wire.end(fault.name))
            return wire.bites[fault.name] - before
        fault.undo = undo
        return True

    def claim(self, fault, what):
        if what in self.busy:
            return False
        self.busy.add(what)
        fault.claims = what
        return True

    # --- processes -------------------------------------------------------------------------------

    def strike_process(self, fault):
        """None: there is none that fits."""
        whom, number = PROCESS[fault.name]
        found = self.crew.find(whom, fault)
        if found is None:
            return None
        run, pidfd, pid = found
        fault.target = f"of rlock {run.number}, pid {pid}"
        fault.bites = 1
        signal.pidfd_send_signal(pidfd, number)
        if number != signal.SIGSTOP:
            os.close(pidfd)
            return False
        fault.undo = lambda: self.crew.resume(run, pidfd)
        return True

    def starve(self, fault):
        """As many spinners as would leave each processor's user a fourth of it."""
        if not self.claim(fault, STARVED):
            return False
        code = SPIN.format(seconds=fault.lasts_s)
        spinners = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(3 * os.cpu_count())]

        def undo():
            for spinner in spinners:
                spinner.wait()
            return 1
        fault.undo = undo
        return True
