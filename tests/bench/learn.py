"""What rlock and Redisson say to take a lock and to give it back, learned by listening to them.

Nothing here knows what the words mean: of a request that was heard, those random numbers that tell
owners and attempts apart are made anew, and it is another client's.
"""
import contextlib
import os
import re
import secrets
import subprocess

import java
from machine import TOOLS
from resp import packed

NAME, PERMITS = "x", "5"
KINDS = {"run": "lock", "fair": "fair", "read": "read", "write": "write", "sem": "permits"}
# UUIDs and 16 random bytes as hexadecimal digits; not the 40 digits of a script's hash.
RANDOM = re.compile(r"(?<![0-9a-f])(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32})(?![0-9a-f])")


class Pair:
    """The two requests of one take and give-back."""

    def __init__(self, requests):
        cut_short = any(word.startswith("... (") or word.endswith(" more bytes)") for words in requests for word in words)
        if cut_short or [words[0].upper() for words in requests] != 2 * ["EVALSHA"]:
            raise ValueError(f"two scripts expected, heard {requests}")
        self.requests = requests

    def randoms(self):
        return sorted({number for words in self.requests for word in words for number in RANDOM.findall(word)})

    def another(self):
        """The same of another client: two requests as they are sent."""
        anew = {old: re.sub("[0-9a-f]", lambda _: secrets.choice("0123456789abcdef"), old) for old in self.randoms()}
        return [packed([RANDOM.sub(lambda at: anew[at[0]], word) for word in words]) for words in self.requests]


def command(rlock, kind, name=NAME):
    return [rlock, kind, "-q", "-n", name, *(["--permits", PERMITS] if kind == "sem" else [])]


def heard(server, take_and_give_back):
    """What it says the second time: the server knows the scripts by then."""
    take_and_give_back()
    pair = Pair(server.scripts(take_and_give_back))
    server.call("FLUSHDB")
    return pair


def of_rlock(rlock, server, kind):
    return heard(server, lambda: subprocess.run([*command(rlock, kind), "--", "true"], check=True))


def has_redisson(build):
    """Fetches it, once; that has time limits of its own."""
    if os.environ.get("RLOCK_NO_INTEROP") == "1":
        return False
    subprocess.run([TOOLS.parent / "interop" / "run", "--fetch", build], check=False, stdout=subprocess.DEVNULL)
    return bool(java.made(build))


def of_redisson(tools, server):
    """{kind: Pair}, of a thread of the program of tests/interop."""
    def do(*words):
        said = service.ask(folder, " ".join(words), "j")
        if said not in ("taken", "released", "true"):
            raise RuntimeError(f"Redisson: {words}: {said}")

    def take_and_give_back(kind):
        do("take", kind, NAME, *(["lease=30000"] if kind == "permits" else []))
        do("release", kind, NAME)

    def pair(kind):
        if kind == "permits":
            do("set", kind, NAME, f"permits={PERMITS}")
        return heard(server, lambda: take_and_give_back(kind))

    home, folder = java.made(tools.build)[0], os.environ["TMPDIR"]
    tools.versions.append(f"Redisson {home.name}")
    service = java.Service(home, f"{folder}/java.err", f"servers=redis://127.0.0.1:{server.port}")
    with contextlib.closing(service):
        return {kind: pair(theirs) for kind, theirs in KINDS.items()}
