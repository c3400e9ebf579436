"""What it costs to run a command under a lock that is free: rlock beside a bare C program that does
the least (bare.c), flock(1), and etcdctl(1) where etcd is installed. In turn, again and again.
"""
import contextlib
import os
import shutil
import subprocess
import tempfile

import learn
from machine import free_ports, wait_for
from server import Server, end, start

FEW = 20  # rounds for etcd: its locks take their time


@contextlib.contextmanager
def etcd():
    """The command that takes a lock of it, of a server of our own; None where there is none."""
    if not (shutil.which("etcd") and shutil.which("etcdctl")):
        yield None
        return
    client, peer = (f"http://127.0.0.1:{port}" for port in free_ports(2))
    folder = tempfile.mkdtemp(dir=os.environ["TMPDIR"])
    process = start(
        ["etcd", "--data-dir", f"{folder}/data", "--listen-client-urls", client,
         "--advertise-client-urls", client, "--listen-peer-urls", peer,
         "--initial-advertise-peer-urls", peer, "--initial-cluster", f"default={peer}"],
        stderr=subprocess.DEVNULL)
    try:
        command = ["etcdctl", f"--endpoints={client}"]
        wait_for("etcd", lambda: subprocess.run([*command, "endpoint", "health"], check=False,
                                                capture_output=True).returncode == 0)
        yield [*command, "lock", learn.NAME]
    finally:
        end(process)


def compare(tools, rounds, commands):
    """{name: (wall us, CPU us) of one, medians}"""
    return dict(zip(commands, tools.side_by_side(rounds, *([*each, tools.true] for each in commands.values()))))


def measure(tools, size):
    released = tools.released()
    with Server() as server, etcd() as etcdctl:
        bare = tools.bare(learn.of_rlock(tools.rlock, server, "run"))
        result = compare(tools, size.starts, {
            "bare C": [bare, server.socket],
            "bare C with a guardian": [bare, "--guardian", server.socket],
            "rlock run": [tools.rlock, "run", "-n", learn.NAME, "--"],
            **({"rlock run, static": [released, "run", "-n", learn.NAME, "--"]} if released else {}),
            "rlock fair": [tools.rlock, "fair", "-n", learn.NAME, "--"],
            "flock": ["flock", f"{server.folder}/lock"],
            "no lock": [],
        })
        if etcdctl:
            result |= compare(tools, FEW, {"etcdctl lock": etcdctl})
        return result
