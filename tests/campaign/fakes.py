"""Lock clients that break a promise each: usage: fakes.py FAKE RLOCK KIND OPTIONS... -- COMMAND..."""
import os
import random
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../tools"))

from crew import NAME  # noqa: E402
from resp import Connection  # noqa: E402


def run(command, **env):
    return subprocess.run(command, env={**os.environ, **env}, check=False).returncode


def server():
    return Connection(os.environ["RLOCK_SERVER"].removeprefix("unix://"))


def pretended(rlock):
    return {"RLOCK_KIND": rlock[1], "RLOCK_OWNER": f"U:{os.getpid()}@here",
            "RLOCK_TOKEN": str(server().call("INCR", f"redisson_lock_token:{{{NAME}}}"))}


def spin(lease_ms, pause_s=0.02):
    """As so many do it: SET NX, and a second one gets in when the first one's time is over."""
    while server().call("SET", NAME, "1", "NX", "PX", lease_ms) is None:
        time.sleep(random.uniform(0, pause_s))


def no_lock(rlock, command):
    return run(command, **pretended(rlock))


def no_renewal(rlock, command):
    spin(500)
    status = run(command, **pretended(rlock))
    server().call("DEL", NAME)
    return status


def no_queue(rlock, command):
    """Stands in the queue, but does not look at it: newcomers try at once."""
    queue, owner = f"redisson_lock_queue:{{{NAME}}}", f"U:{os.getpid()}@here"
    server().call("RPUSH", queue, owner)
    spin(60000, 0.2)
    server().call("LREM", queue, 0, owner)
    status = run(command, **pretended(rlock))
    server().call("DEL", NAME)
    return status


def become(command):
    os.execv(command[0], command)


def old_token(rlock, command):
    become([*rlock, "env", "RLOCK_TOKEN=7", *command])


def broken_script(rlock, command):
    """As of a script that gives back what another one holds."""
    server().call("DEL", NAME)
    become([*rlock, *command])


def holds(lease_ms):
    """Says in Redis that this process holds it."""
    server().call("HSET", NAME, f"00000000-0000-0000-0000-000000000000:{os.getpid()}@here", 1)
    server().call("PEXPIRE", NAME, lease_ms)


def forgetful(_, __):
    """Does not give it back."""
    holds(1000)
    return 0


def revenant(_, __):
    """Its request comes when it has ended."""
    me = os.getpid()
    if os.fork() == 0:
        time.sleep(0.2)
        os.getpid = lambda: me
        holds(100)
        os._exit(0)
    return 0


def deaf(rlock, command):
    """Is not woken, and looks again after a while."""
    while (status := run([rlock[0], rlock[1], "-x", *rlock[2:], *command])) == 75:
        time.sleep(6)
    return status


def puzzled(rlock, command):
    """Does not know again what was granted to it."""
    print(f'{{"event": "waiting", "holder": "U:{os.getpid()}@here"}}', file=sys.stderr, flush=True)
    become([*rlock, *command])


def sleeping_guardian(rlock, command):
    """Nothing stops a command that lost its lease."""
    become([rlock[0], rlock[1], "--on-lost", "warn", *rlock[2:], *command])


def unreplicated(rlock, command):
    """Holds what its server has told nobody."""
    return run([rlock[0], rlock[1], "--replicas", "0", *rlock[2:], *command])


def abrupt(_, command):
    """Kills at once what might have come to an end."""
    with subprocess.Popen(command, env={**os.environ, **pretended(["rlock", "run"])}) as child:
        time.sleep(0.3)
        child.kill()
    return 76


def careless_guardian(rlock, command):
    """Does not follow rlock into its death."""
    mine = pretended(rlock)
    child = os.fork()
    if child == 0:
        sys.exit(run(command, **mine))
    return os.waitpid(child, 0)[1]


def crashing(rlock, command):
    """Ends by a fault of its own."""
    run([*rlock, *command])
    os.kill(os.getpid(), signal.SIGSEGV)


def other_status(rlock, command):
    run([*rlock, *command])
    return 3


def endless(_, __):
    signal.pause()


def idle(_, __):
    return 0


def left_key(rlock, command):
    server().call("SET", "rlock_forgotten", "1")
    become([*rlock, *command])


def left_process(rlock, command):
    with open(os.devnull, "wb") as null:
        subprocess.Popen(["sleep", "60"], start_new_session=True, stdout=null, stderr=null)
    become([*rlock, *command])


def main():
    fake, *rest = sys.argv[1:]
    border = rest.index("--") + 1
    sys.exit(globals()[fake](rest[:border], rest[border:]))


if __name__ == "__main__":
    main()
