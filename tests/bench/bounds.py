"""How many commands the dearest script runs, whatever waits, holds or has died.

With a crowd (crowd.c) in place others come, wait, give up, enter and leave, and the crowd is let in
for a moment; MONITOR shows each script's commands.
"""
import hashlib
import subprocess
import time

import learn
from server import Monitor
from waiters import Waiters

DEAD_LEASE_S = 8  # of readers that die: all must be there before the first of them is gone
MOMENT_S = 1


def names(build):
    """{hash: script}"""
    return {hashlib.sha1(file.read_bytes()).hexdigest(): file.stem
            for file in (build / "lib" / "lua").glob("*.lua")}


def visit(scene, kind, *more):
    """One that comes, and goes again, with or without having had it. Returns how long that took."""
    began = time.monotonic()
    subprocess.run([*learn.command(scene.tools.rlock, kind), *more, "--", "true"], check=False)
    return time.monotonic() - began


def dearest(scene, act):
    """(commands, script) of the dearest that is run during act(), and the seconds it returns."""
    with Monitor(scene.server) as monitor:
        waited = act()
        cost, script = max((cost, script) for script, cost in monitor.costs())
    return cost, scene.tools.names.get(script, script), waited or 0


def living(tools, kind, count):
    """Many wait."""
    def act():
        visit(scene, kind, "-x")
        visit(scene, kind, "-w", "200ms")
        scene.let_go()
        time.sleep(MOMENT_S)
    with Waiters(tools, kind) as scene:
        scene.hold()
        scene.crowd("wait", kind, count)
        scene.in_line(count)
        return dearest(scene, act)


def dead(tools, kind, count):
    """Many waited, and have died. And how long one that comes then waits for the lock, in s."""
    def act():
        visit(scene, kind, "-w", "200ms")
        scene.let_go()
        return visit(scene, kind)
    with Waiters(tools, kind) as scene:
        scene.hold()
        scene.crowd("wait", kind, count)
        scene.in_line(count)
        scene.kill_crowd()
        return dearest(scene, act)


def readers(tools, count):
    with Waiters(tools, "read") as scene:
        scene.crowd("hold", "read", count)
        return dearest(scene, lambda: come_and_go(scene))


def dead_readers(tools, count):
    """Behind one that lives."""
    with Waiters(tools, "read") as scene:
        scene.hold()
        scene.crowd("hold", "read", count, DEAD_LEASE_S * 1000)
        scene.kill_crowd()
        time.sleep(DEAD_LEASE_S)
        return dearest(scene, lambda: come_and_go(scene))


def come_and_go(scene):
    visit(scene, "read")
    visit(scene, "write", "-w", "200ms")
    visit(scene, "write", "-x")
    visit(scene, "read", "-x")
