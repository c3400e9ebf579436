"""What goes wrong, when, and whether it bit. The plan comes from the seed alone."""
import heapq
import os
import random
import signal
import subprocess
import time

import network
import redisson
import replicated
import servers
import wires

# Whom it strikes, and how; SIGSTOP ends with SIGCONT. A runner is a holder that has a command.
PROCESS = ("runner-ended", "holder-stopped", "holder-killed", "guardian-stopped", "guardian-killed", "command-stopped",
           "command-killed", "waiter-stopped", "waiter-killed", "waiter-ended")
SIGNALS = {"ended": signal.SIGTERM, "stopped": signal.SIGSTOP, "killed": signal.SIGKILL}
STARVED = "processors-starved"
FAULTS = (*wires.FAULTS, *servers.FAULTS, *replicated.FAULTS, *replicated.CLUSTER_FAULTS, *redisson.FAULTS,
          *PROCESS, STARVED)
KEEPING = ("command-stopped", "command-killed", "waiter-stopped", "waiter-ended")  # what somebody lives to give back
REPLACING = ("paused", "restarted", "clients-full", "slow", "resharded", *replicated.FAULTS)  # of a master
LASTING = ("clock-stepped",)  # after their end
LIMIT_S = 40     # until it has ended: longer than any election
GLANCE_S = 0.05  # between looks at whether it has


def possible(fault, topology, kind):
    if kind == "plain":
        return fault in KEEPING
    if topology in redisson.SERVERS:
        return fault in (*PROCESS, *redisson.FAULTS, "scripts-flushed")
    if fault in (*servers.IMPOSSIBLE, *redisson.FAULTS) or (fault in network.FAULTS and not network.OWN):
        return False
    if fault in (*replicated.FAULTS, *replicated.CLUSTER_FAULTS):
        return topology == "cluster" or (topology == "sentinel" and fault in replicated.FAULTS)
    if fault in wires.FAULTS:
        return topology not in ("socket", "sentinel", "cluster")
    if fault == "lock-deleted":  # of several servers two at a time would be too many
        return topology in ("socket", "tcp")
    # One that takes over with another clock ends leases early: rlock-server(7).
    return fault != "clock-stepped" or topology not in ("sentinel", "cluster")


class Fault:
    """One of the plan: when it begins, what, for how long, and whom it chooses."""

    def __init__(self, at_s, name, lasts_s, choice):
        self.at_s, self.name, self.lasts_s, self.choice = at_s, name, lasts_s, choice
        self.begun_ns = self.ended_ns = self.bites = 0
        self.target, self.claims, self.course = "", None, None

    def __str__(self):
        return f"{self.name} {self.target} for {self.lasts_s:.2f} s"

    def __lt__(self, other):
        return self.at_s < other.at_s


def plan(seed, names, seconds, lease_s):
    """Each of them once in an order of chance, then again in another, until it is time."""
    rng, faults, at_s, order = random.Random(f"{seed} nemesis"), [], 0.3, []
    while names and at_s < seconds:
        order = order or rng.sample(names, len(names))
        faults.append(Fault(at_s, order.pop(), rng.choice((0.2, 0.7, 1.5, 2.5)) * lease_s, rng.random()))
        at_s += rng.uniform(0.05, 1)
    return faults


def spare_most(faults, servers):
    """Of several servers only the first ones are struck, fewer than half."""
    for fault in faults:
        if fault.name not in PROCESS and servers > 1:
            fault.choice *= (servers - 1) // 2 / servers


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
            now_s = time.monotonic() - start
            if begins:
                begun = self.begin(fault)
                if begun is None and now_s < fault.at_s + self.topology.patience_s:
                    heapq.heappush(due, (now_s + 0.01, True, fault))  # there may be no holder just now
                elif begun and self.goes_on(fault):
                    heapq.heappush(due, (time.monotonic() - start + fault.lasts_s, False, fault))
            elif self.goes_on(fault):
                heapq.heappush(due, (time.monotonic() - start + GLANCE_S, False, fault))

    def begin(self, fault):
        """Whether it has; None: it cannot yet."""
        if fault.name in PROCESS:
            return self.strike_process(fault)
        if fault.name == STARVED:
            return self.strike(fault, STARVED, self.starve(fault))
        if replicated.ANY in self.busy or not self.topology.ready():
            return None
        number = self.topology.choose(fault)
        if number is None:  # who is the master has just become unknown
            return None
        fault.target = f"of server {number + 1}"
        return self.strike(fault, self.topology.claims(fault, number), self.topology.strike(fault, number))

    def strike(self, fault, what, course):
        """Unless another one has it already."""
        if what in self.busy:
            return False
        self.busy.add(what)
        fault.claims, fault.course = what, course
        return True

    def goes_on(self, fault):
        """One step of it; returns whether there are more."""
        fault.begun_ns = fault.begun_ns or time.monotonic_ns()
        if time.monotonic_ns() > fault.begun_ns + (LIMIT_S + fault.lasts_s) * 1e9:
            raise TimeoutError(f"{fault} does not end")
        going = next(fault.course, self) is None
        fault.ended_ns = time.monotonic_ns()
        if not going:
            self.busy.discard(fault.claims)
        return going

    # --- processes -------------------------------------------------------------------------------

    def strike_process(self, fault):
        """None: there is none that fits."""
        whom, how = fault.name.split("-")
        found = self.crew.find(whom, fault)
        if found is None:
            return None
        run, pidfd, pid = found
        fault.begun_ns = time.monotonic_ns()
        try:
            signal.pidfd_send_signal(pidfd, SIGNALS[how])
        except ProcessLookupError:  # it has just ended
            os.close(pidfd)
            return None
        fault.bites += 1
        fault.target = f"of rlock {run.number}, pid {pid}"
        fault.course = self.signalled(run, pidfd, SIGNALS[how])
        return True

    def signalled(self, run, pidfd, number):
        if number == signal.SIGSTOP:
            yield
            self.crew.resume(run, pidfd)
        os.close(pidfd)

    @staticmethod
    def starve(fault):
        """As many spinners as would leave each processor's user a fourth of it."""
        spin = ["timeout", str(fault.lasts_s), "sh", "-c", "while :; do :; done"]
        spinners = [subprocess.Popen(spin) for _ in range(3 * os.cpu_count())]
        yield
        for spinner in spinners:
            spinner.wait()
        fault.bites += 1
