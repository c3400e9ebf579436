#!/usr/bin/env python3
"""Runs a command on a terminal, under a parent that does job control as a shell does.

usage: terminal.py [--timeout SECONDS] [--columns N] [--background | --leader] [STEP...] -- CMD [ARG...]

The terminal has 200 columns, or N. With --background the job is started as by CMD &, with --leader
there is no shell: CMD is the session's leader, as under ssh -t.

Steps, one after the other:
  expect=TEXT   wait until the terminal shows TEXT (after what the last expect found)
  file=PATH     wait until PATH is there and not empty
  keys=TEXT     type TEXT; ^C, ^Z and ^\\ are those keys
  sh=COMMAND    run COMMAND by sh -c, with JOB=the job's process id, until it succeeds
  columns=N     give the terminal N columns
  stopped       wait until the job has stopped, and take the terminal back
  fg            give it the terminal, and continue it if it has stopped, as fg does
  bg            continue it in the background
  hangup        take the terminal away
Then it waits for the job's end. Standard output: all that the terminal showed. Exit status: as a
shell gives it; 99 when a step did not come to pass in time (said on standard error). What became
of the job is written to the file that TERMINAL_REPORTS names: "stopped N", "exit N", "signal N".
"""
import contextlib
import errno
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time

SHELL_IGNORES = (signal.SIGINT, signal.SIGQUIT, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU)
KEYS = {"^C": "\x03", "^Z": "\x1a", "^\\": "\x1c"}


def become_shell(terminal):
    """This process leads the session of that terminal."""
    if os.getpid() == os.getpgrp() and (child := os.fork()):  # who leads a group cannot lead a session
        sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    os.setsid()
    fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
    for number in SHELL_IGNORES:
        signal.signal(number, signal.SIG_IGN)


def become_job(argv):
    for number in (*SHELL_IGNORES, signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    os.execvp(argv[0], argv)


def start_job(argv, terminal, background):
    """In a process group of its own, which gets the terminal."""
    job = os.fork()
    if job == 0:
        os.setpgid(0, 0)
        if not background:
            os.tcsetpgrp(terminal, os.getpid())
        for stream in range(3):
            os.dup2(terminal, stream)
        become_job(argv)
    with contextlib.suppress(OSError):  # it was quicker
        os.setpgid(job, job)
    return job


def resize(terminal, columns):
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))


def note(line):
    if "TERMINAL_REPORTS" in os.environ:
        with open(os.environ["TERMINAL_REPORTS"], "a", encoding="ascii") as file:
            file.write(line + "\n")


class Driver:
    """The job's parent. terminal: its end of the shell's, None: there is no shell."""

    def __init__(self, argv, limit, columns, option):
        self.deadline = time.monotonic() + limit
        self.shown, self.found, self.stops, self.status = b"", 0, 0, None
        if option == "--leader":
            self.terminal = None
            self.job, self.master = pty.fork()
            if self.job == 0:
                become_job(argv)
            resize(self.master, columns)
            return
        self.master, self.terminal = pty.openpty()
        resize(self.master, columns)
        become_shell(self.terminal)
        self.job = start_job(argv, self.terminal, option == "--background")

    def turn(self):
        """Takes in what the terminal shows and what becomes of the job, for 10 ms at most."""
        if select.select([fd for fd in (self.master,) if fd >= 0], [], [], 0.01)[0]:
            try:
                self.shown += os.read(self.master, 65536)
            except OSError as error:
                if error.errno != errno.EIO:
                    raise
        if self.status is None:
            pid, status = os.waitpid(self.job, os.WUNTRACED | os.WNOHANG)
            if pid != 0:
                self.learn(status)

    def learn(self, status):
        """The job has stopped, and the shell takes the terminal back; or it has ended."""
        if not os.WIFSTOPPED(status):
            code = os.waitstatus_to_exitcode(status)
            note(f"exit {code}" if code >= 0 else f"signal {-code}" + (" core" if os.WCOREDUMP(status) else ""))
            self.status = code if code >= 0 else 128 - code
            return
        if self.terminal is not None:
            os.tcsetpgrp(self.terminal, os.getpgrp())
        note(f"stopped {os.WSTOPSIG(status)}")
        self.stops += 1

    def until(self, what, condition):
        while not condition():
            if time.monotonic() > self.deadline:
                self.give_up(what)
            self.turn()

    def give_up(self, what):
        sys.stdout.buffer.write(self.shown)
        sys.stdout.flush()
        print(f"terminal.py: not in time: {what}", file=sys.stderr)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.job, signal.SIGKILL)
        os._exit(99)

    def step(self, step):
        name, _, value = step.partition("=")
        if name == "expect":
            text = value.encode()
            self.until(step, lambda: text in self.shown[self.found:])
            self.found = self.shown.index(text, self.found) + len(text)
        elif name == "file":
            self.until(step, lambda: os.path.exists(value) and os.path.getsize(value) > 0)
        elif name == "keys":
            for sign, key in KEYS.items():
                value = value.replace(sign, key)
            os.write(self.master, value.encode())
        elif name == "sh":
            env = {**os.environ, "JOB": str(self.job)}
            self.until(step, lambda: subprocess.call(["sh", "-c", value], env=env) == 0)
        elif name == "columns":
            resize(self.master, int(value))
        elif name == "stopped":
            self.until(step, lambda: self.stops > 0)
            self.stops -= 1
        elif name == "hangup":
            os.close(self.master)
            self.master = -1
        elif name in ("fg", "bg"):
            if name == "fg":
                os.tcsetpgrp(self.terminal, self.job)
            os.killpg(self.job, signal.SIGCONT)
        else:
            sys.exit(f"terminal.py: unknown step {step}")

    def run(self, steps):
        for step in steps:
            self.step(step)
        self.until("the job's end", lambda: self.status is not None)
        for _ in range(5):
            self.turn()
        sys.stdout.buffer.write(self.shown)
        return self.status


def main():
    args, limit, columns = sys.argv[1:], 30.0, 200
    if args[:1] == ["--timeout"]:
        limit, args = float(args[1]), args[2:]
    if args[:1] == ["--columns"]:
        columns, args = int(args[1]), args[2:]
    option = args.pop(0) if args[0] in ("--background", "--leader") else None
    split = args.index("--")
    return Driver(args[split + 1:], limit, columns, option).run(args[:split])


if __name__ == "__main__":
    sys.exit(main())
