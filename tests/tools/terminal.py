#!/usr/bin/env python3
"""Runs a command on a terminal, under a parent that does job control as a shell does.

usage: terminal.py [--timeout SECONDS] [--columns N] [--background | --leader] [STEP...]
                   -- CMD [ARG...]

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
import errno
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import threading
import time

SHELL_IGNORES = (signal.SIGINT, signal.SIGQUIT, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU)
KEYS = {"^C": "\x03", "^Z": "\x1a", "^\\": "\x1c"}


def start_job(argv, background):
    """In the shell: the command in a process group of its own, which gets the terminal."""
    job = os.fork()
    if job == 0:
        os.setpgid(0, 0)
        if not background:
            os.tcsetpgrp(0, os.getpid())
        for number in (*SHELL_IGNORES, signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        os.execvp(argv[0], argv)
    try:
        os.setpgid(job, job)
    except OSError:
        pass  # it was quicker
    return job


def resize(terminal, columns):
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))


def obey(job, order):
    if order == b"fg\n":
        os.tcsetpgrp(0, job)
    os.killpg(job, signal.SIGCONT)


def describe_end(status):
    if os.WIFEXITED(status):
        return f"exit {os.WEXITSTATUS(status)}"
    return f"signal {os.WTERMSIG(status)}" + (" core" if os.WCOREDUMP(status) else "")


def note(line):
    if "TERMINAL_REPORTS" in os.environ:
        with open(os.environ["TERMINAL_REPORTS"], "a", encoding="ascii") as file:
            file.write(line + "\n")


def tell(status, reports):
    """Tells the driver that the job has stopped, or ended. Returns whether it has ended."""
    if os.WIFSTOPPED(status):
        note(f"stopped {os.WSTOPSIG(status)}")
        os.write(reports, f"stopped {os.WSTOPSIG(status)}\n".encode())
        return False
    note(describe_end(status))
    code = os.waitstatus_to_exitcode(status)
    os.write(reports, f"exit {code if code >= 0 else 128 - code}\n".encode())
    return True


def shell(argv, columns, background, orders, reports):
    """The job-control parent: leader of the terminal's session."""
    resize(0, columns)
    for number in SHELL_IGNORES:
        signal.signal(number, signal.SIG_IGN)
    job = start_job(argv, background)
    os.write(reports, f"job {job}\n".encode())
    while True:
        pid, status = os.waitpid(job, os.WUNTRACED | os.WNOHANG)
        if pid == 0:
            if select.select([orders], [], [], 0.01)[0]:
                order = os.read(orders, 3)
                if not order:
                    os._exit(0)
                obey(job, order)
            continue
        if os.WIFSTOPPED(status):
            os.tcsetpgrp(0, os.getpgrp())
        if tell(status, reports):
            os._exit(0)


def lead(argv, columns):
    """The job leads its session, and its parent is not in it."""
    job, master = pty.fork()
    if job == 0:
        for number in (signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        os.execvp(argv[0], argv)
    resize(master, columns)
    return job, master


def await_end(job, reports):
    while not tell(os.waitpid(job, os.WUNTRACED)[1], reports):
        pass


class Driver:
    def __init__(self, argv, limit, columns, option):
        self.deadline = time.monotonic() + limit
        orders, self.orders = os.pipe()
        self.reports, reports = os.pipe()
        self.shown, self.found, self.said = b"", 0, b""
        if option == "--leader":
            self.shell = None
            job, self.master = lead(argv, columns)
            os.write(reports, f"job {job}\n".encode())
            threading.Thread(target=await_end, args=(job, reports), daemon=True).start()
            return
        self.shell, self.master = pty.fork()
        if self.shell == 0:
            os.close(self.orders)
            shell(argv, columns, option == "--background", orders, reports)
        os.close(orders)
        os.close(reports)

    def turn(self):
        """Takes in what the terminal shows and the shell reports, for 10 ms at most."""
        sources = [fd for fd in (self.master, self.reports) if fd >= 0]
        ready, _, _ = select.select(sources, [], [], 0.01)
        if self.master in ready:
            try:
                self.shown += os.read(self.master, 65536)
            except OSError as error:
                if error.errno != errno.EIO:
                    raise
        if self.reports in ready:
            self.said += os.read(self.reports, 4096)

    def until(self, what, condition):
        while not condition():
            if time.monotonic() > self.deadline:
                self.give_up(what)
            self.turn()

    def take(self, word):
        """The value of the shell's report WORD, taken out when it has come."""
        line = re.compile(rb"^%b (.*)\n" % word.encode(), re.MULTILINE)
        self.until(f"report of {word}", lambda: line.search(self.said))
        value = line.search(self.said)[1].decode()
        self.said = line.sub(b"", self.said, count=1)
        return value

    def give_up(self, what):
        sys.stdout.buffer.write(self.shown)
        sys.stdout.flush()
        print(f"terminal.py: not in time: {what}", file=sys.stderr)
        try:
            os.killpg(int(self.job), signal.SIGKILL)
        except ProcessLookupError:
            pass
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
            env = {**os.environ, "JOB": self.job}
            self.until(step, lambda: subprocess.call(["sh", "-c", value], env=env) == 0)
        elif name == "columns":
            resize(self.master, int(value))
        elif name == "stopped":
            self.take("stopped")
        elif name == "hangup":
            os.close(self.master)
            self.master = -1
        elif name in ("fg", "bg"):
            os.write(self.orders, f"{name}\n".encode())
        else:
            sys.exit(f"terminal.py: unknown step {step}")

    def run(self, steps):
        self.job = self.take("job")
        for step in steps:
            self.step(step)
        status = int(self.take("exit"))
        for _ in range(5):
            self.turn()
        if self.shell is not None:
            os.waitpid(self.shell, 0)
        sys.stdout.buffer.write(self.shown)
        return status


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
