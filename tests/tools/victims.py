"""Processes that are run to their end, and within reach of faults meanwhile."""
import collections
import os
import signal
import subprocess
import threading


def descendants(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            children = file.read().split()
    except OSError:
        return []
    return [each for child in children for each in (int(child), *descendants(child))]


class Victims:
    """section: the program of a section; an rlock that has none among its descendants waits."""

    FAULTS = ("kill section", "kill holder", "kill waiter", "end waiter")

    def __init__(self, section, stderr):
        self.section, self.stderr = section, stderr
        self.live, self.lock, self.last_struck = {}, threading.Lock(), None
        self.statuses = collections.Counter()

    def start(self, command, env=None):
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=self.stderr,
                                env={**os.environ, **(env or {})})

    def run(self, command, env=None):
        """Returns its status."""
        process = self.start(command, env)
        with self.lock:
            self.live[process.pid] = process
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        with self.lock:  # reaped only when it is out of reach: until then the pid is its own
            del self.live[process.pid]
            status = process.wait()
            self.statuses[status] += 1
        return status

    def kill_all(self):
        """Returns their commands."""
        with self.lock:
            for process in self.live.values():
                process.kill()
            return [" ".join(process.args) for process in self.live.values()]

    def strike(self, fault, rng):
        """One of them, any; returns whether there was one for this fault."""
        with self.lock:
            processes = list(self.live)
            rng.shuffle(processes)
            return any(self.strike_one(fault, pid) for pid in processes)

    def strike_one(self, fault, pid):
        section = self.section_of(pid)
        fits = (section is None) == fault.endswith("waiter")
        try:
            if fits and fault == "kill section":
                signal.pidfd_send_signal(section, signal.SIGKILL)
            elif fits:
                os.kill(pid, signal.SIGTERM if fault == "end waiter" else signal.SIGKILL)
        except ProcessLookupError:  # the section has just ended
            fits = False
        if section is not None:
            os.close(section)
        if fits:
            self.last_struck = pid
        return fits

    def section_of(self, pid):
        """A descriptor of its section, or None."""
        for each in descendants(pid):
            try:
                fd = os.pidfd_open(each)
            except ProcessLookupError:
                continue
            if self.is_section(each):
                return fd
            os.close(fd)
        return None

    def is_section(self, pid):
        try:
            return os.readlink(f"/proc/{pid}/exe") == self.section
        except OSError:
            return False
