"""The rlocks of a round: what they are asked to do, and each until its end."""
import contextlib
import os
import random
import shlex
import signal
import subprocess
import threading
import time

from victims import descendants

KINDS = ("run", "fair", "rw", "sem", "multi", "nested")
NAME, PERMITS, WORKERS = "x", 3, 4


class Run:
    """One rlock, and what became of it."""

    def __init__(self, number, command, limit, is_short, log):
        self.number, self.command, self.limit, self.log = number, command, limit, log
        self.is_short = is_short
        self.begun_ns, self.ended_ns, self.status = time.monotonic_ns(), None, None
        self.faults = []  # those that struck one of its own processes

    def __str__(self):
        return f"rlock {self.number} (pid {self.process.pid})"


class Crew:
    """WORKERS that come again and again until over is set. folder: where all is written."""

    def __init__(self, combo, rlock, section, folder, url):
        self.combo, self.rlock, self.section, self.folder = combo, rlock, section, folder
        self.env = {**os.environ, "RLOCK_SERVER": url, "RLOCK_CONFIG": "/dev/null",
                    "CAMPAIGN_FOLDER": folder}
        self.history, self.beats = os.path.join(folder, "history"), os.path.join(folder, "beats")
        os.makedirs(self.beats)
        open(self.history, "wb").close()
        self.runs, self.lock, self.over = [], threading.Lock(), threading.Event()
        self.workers = [threading.Thread(target=self.work, args=(n,), daemon=True)
                        for n in range(WORKERS)]

    def start(self):
        for worker in self.workers:
            worker.start()

    def join(self, seconds):
        """Returns those that have not ended by then, and ends them."""
        until = time.monotonic() + seconds
        for worker in filter(threading.Thread.is_alive, self.workers):
            worker.join(max(0, until - time.monotonic()))
        with self.lock:
            late = [run for run in self.runs if run.status is None]
            for run in late:
                run.process.kill()
        for worker in filter(threading.Thread.is_alive, self.workers):
            worker.join()
        return late

    def note(self, line):
        with open(self.history, "a", encoding="utf-8") as file:
            file.write(line + "\n")  # one write(2): lines of different writers do not mix

    def note_queued(self, owner):
        self.note(f"queued={time.monotonic_ns()} owner={owner}")

    # --- a worker --------------------------------------------------------------------------------

    def work(self, number):
        rng = random.Random(f"{self.combo.seed} worker {number}")
        while not self.over.is_set():
            command, limit, is_short = self.command(rng, self.combo.long_share * (6 if number == 0 else 1))
            self.run(command, limit, is_short)
            time.sleep(rng.uniform(0, 0.05))

    def run(self, command, limit, is_short):
        with self.lock:
            number = len(self.runs) + 1
            log = os.path.join(self.folder, f"rlock{number}.log")
            run = Run(number, command, limit, is_short, log)
            with open(log, "wb") as stderr:
                run.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=stderr,
                                               stderr=stderr, env=self.env)
            self.runs.append(run)
        os.waitid(os.P_PID, run.process.pid, os.WEXITED | os.WNOWAIT)
        with self.lock:  # reaped only where nobody is about to strike it
            run.ended_ns, run.status = time.monotonic_ns(), run.process.wait()

    def command(self, rng, long_share):
        """What a worker calls next, the limit of its wait in ms or None, and whether it is short."""
        lease_ms = int(self.combo.lease_s * 1000)
        kind, options, permits = self.combo.kind, ["-l", f"{lease_ms}ms", "-n", NAME], 1
        if kind == "rw":
            kind = "write" if rng.random() < 0.35 else "read"
        elif kind == "sem":
            permits = rng.choice((1, 1, 2, PERMITS))
            options += ["--permits", str(PERMITS), "--take", str(permits)]
        elif kind == "multi":
            kind, options = "run", [*options, "-n", "y"]
        stay_ms = rng.choice((1, 5, 20, 80)) if rng.random() > long_share else lease_ms * 3 // 2
        command = self.tree(rng, stay_ms, permits)
        if kind == "nested":
            kind, inner = "run", "run" if self.combo.topology.startswith("quorum") else "fair"
            command = [self.rlock, inner, *options, "--log", "json", "--", *command]
        limit = rng.randint(50, 3000) if rng.random() < 0.2 else None
        wait = ["-w", f"{limit}ms"] if limit else []
        return [self.rlock, kind, *options, *wait, "--log", "json", "--", *command], limit, stay_ms < lease_ms

    def tree(self, rng, stay_ms, permits):
        """One process, or one that ignores SIGTERM, or three: one of them in a session of its own."""
        note = f"arrival={time.monotonic_ns()} permits="
        section = [self.section, "--log", self.history, "--beat-dir", self.beats,
                   "--ms", str(stay_ms), "--note"]
        shape = rng.random()
        if shape < 0.5:
            return [*section, f"{note}{permits}"]
        if shape < 0.7:
            return [*section, f"{note}{permits}", "--ignore-term"]
        first, other = shlex.join([*section, f"{note}{permits}"]), shlex.join([*section, f"{note}0"])
        return ["sh", "-c", f"trap : TERM; {first} & setsid {other} --ignore-term & {other} & "
                            "wait; wait; wait; exit 0"]

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
        sections = [pid for pid in below if self.link(pid) == self.section]
        if whom == "waiter":
            return None if sections else run.process.pid
        if whom == "holder":
            return run.process.pid if sections else None
        if whom == "guardian":
            return next((pid for pid in below if sections and self.name(pid) == "lock-guardian"), None)
        return next(iter(sections), None)

    @staticmethod
    def link(pid):
        try:
            return os.readlink(f"/proc/{pid}/exe")
        except OSError:
            return None

    @staticmethod
    def name(pid):
        try:
            with open(f"/proc/{pid}/comm", encoding="utf-8") as file:
                return file.read().strip()
        except OSError:
            return None

    def resume(self, run, pidfd):
        """Continues it, and whoever stopped because of it."""
        with self.lock:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(pidfd, signal.SIGCONT)
            os.close(pidfd)
            if run.status is None:
                for pid in (run.process.pid, *descendants(run.process.pid)):
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGCONT)

    # --- afterwards ------------------------------------------------------------------------------

    def left_behind(self):
        """The processes that one of these commands has started and that still live."""
        mark = f"CAMPAIGN_FOLDER={self.folder}\0".encode()
        found = []
        for entry in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{entry}/environ", "rb") as file:
                    if mark in file.read() + b"\0":
                        found.append(int(entry))
            except OSError:
                continue
        return found
