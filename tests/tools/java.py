"""A JVM with Redisson, as interop/java has it, and what its threads are told to do."""
import os
import pathlib
import shutil
import subprocess
import threading

from machine import wait_for


def made(build):
    """The folders of jars and classes that tests/interop/run has put into this build, the newest first."""
    found = sorted((pathlib.Path(build) / "interop").glob("[0-9]*"), reverse=True)
    return [folder for folder in found if (folder / "classes").is_dir() and shutil.which("java")]


class Service:
    """And the next one in its place when it was killed. It ends when nobody can give orders any more."""

    def __init__(self, folder, log, *options):
        """folder: one of made(); options: Interop.java's."""
        self.command = ["java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx256m", "-cp",
                        f"{folder}/classes:{folder}/jars/*", "Interop", *options]
        self.log, self.orders, self.lock = log, 0, threading.Lock()
        self.start()
        self.wait_ready()

    def start(self):
        with open(self.log, "ab") as stderr:
            self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr,
                                            text=True)

    def wait_ready(self):
        ready, _, self.uuid = self.process.stdout.readline().strip().partition(" ")
        if ready != "ready":
            raise RuntimeError("a JVM has not become ready: see tests/interop")

    def kill(self):
        with self.lock:
            self.close()
            self.start()
        self.wait_ready()

    def close(self):
        self.process.kill()
        self.process.communicate()

    def ask(self, directory, order, who=None):
        """A thread's answer, of a new one unless it has a name; None when it was killed meanwhile."""
        with self.lock:
            process = self.process
            self.orders += 1
            who = who or f"{process.pid}-{self.orders}"
            try:
                process.stdin.write(f"{os.path.abspath(directory)} {who} {order}\n")
                process.stdin.flush()
            except (BrokenPipeError, ValueError):  # it is dead, or closed
                return None
        path = os.path.join(directory, f"answer-{who}")
        wait_for(order, lambda: os.path.exists(path) or process.poll() is not None, float("inf"))
        if not os.path.exists(path):
            return None
        with open(path, encoding="utf-8") as file:
            answer = file.read().strip()
        os.remove(path)
        if answer.startswith("error"):
            raise RuntimeError(f"{order}: {answer}")
        return answer
