"""The rlocks of a round: what they are asked to do, and each until its end."""
import contextlib
import os
import pathlib
import random
import shlex
import signal
import subprocess
import sys
import threading
import time

import handles
from machine import descendants

KINDS = ("run", "fair", "rw", "sem", "multi", "nested", "handle", "latch", "priority", "pool", "plain")
NAME, PERMITS = "x", 3
LONGEST = 3  # leases that a command takes
LAST_S = 20  # for one that was killed


def signal_all(pids, number):
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


class Run:
    """One rlock, and what became of it."""

    def __init__(self, number, asked, log):
        self.number, self.log = number, log
        self.command, self.limit, self.is_short, self.exit = asked
        self.begun_ns, self.ended_ns, self.status = time.monotonic_ns(), None, None
        self.enters = "--" in self.command  # a section of its own
        self.faults = []  # those that struck one of its own processes

    def __str__(self):
        return f"rlock {self.number} (pid {self.process.pid})"


class Crew:
    """Workers that come again and again until over is set, or all together, and then all again when
    the last has ended. folder: where all is written."""

    EXITS = (0, 0, 0, 3)  # of the commands

    def __init__(self, combo, rlock, section, folder, url):
        self.combo, self.rlock, self.section, self.folder = combo, rlock, section, folder
        self.env = {**os.environ, "RLOCK_SERVER": url, "RLOCK_CONFIG": "/dev/null",
                    "CAMPAIGN_FOLDER": folder}
        self.history, self.beats = os.path.join(folder, "history"), os.path.join(folder, "beats")
        os.makedirs(self.beats)
        open(self.history, "wb").close()
        self.runs, self.lock, self.over = [], threading.Lock(), threading.Event()
        self.given_up = threading.Event()  # of those that should have ended by now
        self.gathered = threading.Barrier(combo.workers)
        self.workers = [threading.Thread(target=self.work, args=(n,), daemon=True)
                        for n in range(combo.workers)]

    def start(self):
        for worker in self.workers:
            worker.start()

    def join(self, seconds):
        """Returns those that have not ended by then, and ends them. over is set."""
        until = time.monotonic() + seconds
        for worker in filter(threading.Thread.is_alive, self.workers):
            worker.join(max(0, until - time.monotonic()))
        self.given_up.set()
        self.gathered.abort()
        with self.lock:
            late = [run for run in self.runs if run.status is None]
            for run in late:
                self.kill(run)
        for worker in filter(threading.Thread.is_alive, self.workers):
            worker.join(LAST_S)
        return late

    def kill(self, run):
        """A script's rlock does not end with it."""
        below = descendants(run.process.pid) if self.combo.kind == "handle" else ()
        run.process.kill()
        signal_all(below, signal.SIGKILL)

    def note(self, line):
        with open(self.history, "a", encoding="utf-8") as file:
            file.write(line + "\n")  # one write(2): lines of different writers do not mix

    def note_queued(self, owner):
        """Redisson's are not sure of their places: it drops those who were silent for long."""
        if "@" in owner:
            self.note(f"queued={time.monotonic_ns()} owner={owner}")

    # --- a worker --------------------------------------------------------------------------------

    def work(self, number):
        rng = random.Random(f"{self.combo.seed} worker {number}")
        while not self.over.is_set():
            asked = self.command(rng, self.combo.long_share * (6 if number == 0 else 1))
            self.run(asked)
            if self.combo.pace == "together":
                self.gather()
            else:
                time.sleep(rng.uniform(0, 0.05))
        self.gathered.abort()

    def gather(self):
        with contextlib.suppress(threading.BrokenBarrierError):
            self.gathered.wait()

    def run(self, asked):
        with self.lock:
            number = len(self.runs) + 1
            log = os.path.join(self.folder, f"rlock{number}.log")
            run = Run(number, asked, log)
            with open(log, "wb") as stderr:
                run.process = subprocess.Popen(run.command, stdin=subprocess.DEVNULL, stdout=stderr,
                                               stderr=stderr, env=self.env)
            self.runs.append(run)
        os.waitid(os.P_PID, run.process.pid, os.WEXITED | os.WNOWAIT)
        with self.lock:  # reaped only where nobody is about to strike it
            run.ended_ns, run.status = time.monotonic_ns(), run.process.wait()
        return run

    def command(self, rng, long_share):
        """What a worker calls next, the limit of its wait in ms or None, whether it is short, and how its
        command ends."""
        lease_ms = int(self.combo.lease_s * 1000)
        kind, permits = self.combo.kind, 1
        options = ["-l", f"{lease_ms}ms", "-n", NAME, "--io-timeout", f"{self.combo.io_ms}ms"]
        if kind == "rw":
            kind = "write" if rng.random() < 0.35 else "read"
        elif kind in ("sem", "plain"):
            permits = rng.choice((1, 1, 2, PERMITS))
            options += ["--permits", str(PERMITS), "--take", str(permits)]
            kind, options = "sem", options if kind == "sem" else ["--plain", *options[2:]]  # which has no lease
        elif kind == "multi":
            kind = "run" if self.combo.topology.startswith("quorum") else rng.choice(("run", "fair"))
            options += ["-n", "y"]
        elif kind == "pool":  # any two of three have one in common, so they exclude each other
            kind, options = "run", [*options, "-n", "y", "-n", "z", "--any", "2"]
        elif kind == "priority":
            kind, options = "fair", [*options, "--priority", str(rng.choice((-5, 0, 0, 0, 7, 7)))]
        stay_ms = rng.choice((1, 1, 5, 5, 20, 80)) if rng.random() > long_share \
            else int(lease_ms * rng.choice((1.5, 1.5, LONGEST)))
        status = rng.choice(self.EXITS)
        command = self.tree(rng, stay_ms, permits, status)
        if kind == "nested":
            kind, inner = "run", "run" if self.combo.topology.startswith("quorum") else "fair"
            command = [self.rlock, inner, *options, "--log", "json", "--", *command]
        limit = rng.randint(50, 3000) if rng.random() < 0.2 else None
        wait = ["-w", f"{limit}ms"] if limit else []
        if kind == "handle":
            kind = "run" if self.combo.topology.startswith("quorum") else rng.choice(("run", "fair"))
            script = [sys.executable, "-ISB", handles.__file__, self.rlock, str(lease_ms), str(stay_ms),
                      str(self.combo.io_ms), self.history]
            return [*script, "--", kind, *options[:4], *wait], limit, stay_ms < lease_ms, 0
        return [self.rlock, kind, *options, *wait, "--log", "json", "--", *command], limit, \
            stay_ms < lease_ms, status

    def tree(self, rng, stay_ms, permits, status):
        """One process, or one that ignores SIGTERM, or three: one of them in a session of its own."""
        note = f"arrival={time.monotonic_ns()} permits="
        section = [self.section, "--log", self.history, "--beat-dir", self.beats,
                   "--ms", str(stay_ms), "--exit", str(status), "--note"]
        shape = rng.random()
        if shape < 0.5:
            return [*section, f"{note}{permits}"]
        if shape < 0.7:
            return [*section, f"{note}{permits} patient=1", "--ignore-term"]
        first, other = shlex.join([*section, f"{note}{permits}"]), shlex.join([*section, f"{note}0"])
        return ["sh", "-c", f"trap : TERM; {first} & setsid {other} --ignore-term & {other} & "
                            f"wait; wait; wait; exit {status}"]

    # --- whom a fault strikes --------------------------------------------------------------------

    def find(self, whom, fault):
        """(run, pidfd, pid) of one that no other fault has struck yet, or None. Those first that
        hold for longer than a lease: there it matters."""
        with self.lock:
            live = [run for run in self.runs if run.status is None and not run.faults]
            start = int(fault.choice * len(live))
            for run in sorted(live[start:] + live[:start], key=lambda run: run.is_short):
                if pid := self.process_of(run, whom):
                    try:
                        pidfd = os.pidfd_open(pid)
                    except ProcessLookupError:
                        continue
                    run.faults.append(fault)
                    return run, pidfd, pid
        return None

    def process_of(self, run, whom):
        below = descendants(run.process.pid)
        if self.combo.kind == "handle":
            return self.process_of_script(run, whom, below)
        sections = [pid for pid in below if self.name(pid) == os.path.basename(self.section)]
        if whom == "waiter":
            return None if sections else run.process.pid
        if whom in ("holder", "runner"):
            return run.process.pid if sections else None
        if whom == "guardian":
            return next((pid for pid in below if sections and self.name(pid) == "lock-guardian"), None)
        return next(iter(sections), None)

    def process_of_script(self, run, whom, below):
        """What waits is its rlock acquire. Nobody ends what it does when it is dead, or stopped."""
        holds = self.name(run.process.pid) == handles.HOLDING
        if whom == "holder" and holds:
            return run.process.pid
        return next(iter(below), None) if whom == "waiter" and not holds else None

    @staticmethod
    def name(pid):
        with contextlib.suppress(OSError):
            return pathlib.Path(f"/proc/{pid}/comm").read_text(encoding="utf-8").strip()
        return None

    def resume(self, run, pidfd):
        """Continues it, and whoever stopped because of it."""
        with self.lock:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(pidfd, signal.SIGCONT)
            if run.status is None:
                signal_all((run.process.pid, *descendants(run.process.pid)), signal.SIGCONT)

    # --- afterwards ------------------------------------------------------------------------------

    def left_behind(self):
        """The processes that one of these commands has started and that still live."""
        mark = f"CAMPAIGN_FOLDER={self.folder}\0".encode()
        found = []
        for entry in filter(str.isdigit, os.listdir("/proc")):
            with contextlib.suppress(OSError):
                if mark in pathlib.Path(f"/proc/{entry}/environ").read_bytes() + b"\0":
                    found.append(int(entry))
        return found

    def kill_left_behind(self):
        """A guardian that is stopped when its rlock is killed is nobody's descendant."""
        signal_all(self.left_behind(), signal.SIGKILL)
