"""What rlock costs, measured side by side with others, and printed as Markdown: README.md here."""
import argparse
import itertools
import os
import pathlib
import signal
import sys
import tempfile
import time
import types

HERE = pathlib.Path(__file__).resolve().parent
PROJECT = HERE.parent.parent
sys.path.append(str(HERE.parent / "tools"))

import learn  # noqa: E402
import scripts  # noqa: E402
import starts  # noqa: E402
import waiters  # noqa: E402
from machine import free_ports  # noqa: E402
from server import Server  # noqa: E402
from tools import Tools  # noqa: E402

NONE = "–"  # not measured

FULL = types.SimpleNamespace(rounds=9, pairs=1000, starts=1000, counts=(1, 10, 100, 1000), turns=100, limit_s=30)
QUICK = types.SimpleNamespace(rounds=3, pairs=200, starts=100, counts=(1, 10), turns=10, limit_s=10)


def step(what, function, *words):
    """One measurement after the other: what the function returns."""
    began, result = time.monotonic(), function(*words)
    print(f"bench: {what}: {time.monotonic() - began:.1f} s", file=sys.stderr, flush=True)
    return result


def table(head, rows):
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def ratio(value, measure):
    return f"**{value / measure:.2f}**"


def of_scripts(tools, size):
    theirs, rows = {}, []
    with Server(*free_ports(1)) as server:
        if learn.has_redisson(tools.build):
            theirs = step("Redisson's scripts", learn.of_redisson, tools, server)
        for kind in learn.KINDS:
            (ours, inside), *other = step(f"scripts of {kind}", scripts.measure, tools, server, kind, theirs.get(kind), size)
            rows.append([f"`{kind}`", f"{ours:.1f} µs", *([NONE] * 3 if not other else (
                f"{other[0][0]:.1f} µs", ratio(ours, other[0][0]), ratio(inside, other[0][1])))])
    return ("Server CPU time of a take and a give-back, hot and pipelined:\n\n"
            + table(["kind", "rlock", "Redisson's own scripts", "ratio", "in the scripts alone"], rows))


def of_starts(tools, size):
    figures = step("a command under a free lock", starts.measure, tools, size)
    wall, cpu = figures["bare C"]
    rows = [[name, f"{one[0] / 1000:.2f} ms", ratio(one[0], wall), f"{one[1] / 1000:.2f} ms", ratio(one[1], cpu)]
            for name, one in figures.items()]
    return ("`true` under a lock that is free, beside the least that bare C needs for it:\n\n"
            + table(["", "wall time", "ratio", "CPU time", "ratio"], rows))


def of_waiters(tools, size):
    rows = []
    for kind, count in itertools.product(("run", "fair"), size.counts):
        one = step(f"{count} waiters of {kind}", waiters.measure, tools, kind, count, size)
        rows.append([f"`{kind}`", f"{count:,}", f"{one['median']:.2f} ms", f"{one['floor']:.2f} ms",
                     ratio(one["median"], one["floor"])])
    return ("A hand-off, from the end of one command to the start of the next, beside rlocks one by one, without "
            "waiting:\n\n" + table(["kind", "waiters", "hand-off", "one by one", "ratio"], rows)
            + f"\n\nEach has {one['private_kib']} KiB of memory of its own.")


SECTIONS = {"scripts": of_scripts, "starts": of_starts, "waiters": of_waiters}


def arguments():
    parser = argparse.ArgumentParser(prog="run", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small ones, within a minute")
    parser.add_argument("section", nargs="*", help=f"only these of {', '.join(SECTIONS)}")
    args = parser.parse_args()
    if unknown := set(args.section) - set(SECTIONS):
        parser.error(f"no such section: {', '.join(unknown)}")
    return args


def clean_environment(folder):
    for name in [name for name in os.environ if name.startswith("RLOCK_")]:
        if name != "RLOCK_NO_INTEROP":
            del os.environ[name]
    os.environ |= {"TMPDIR": folder, "RLOCK_CONFIG": "/dev/null"}


def main():
    args = arguments()
    rlock = pathlib.Path(os.environ.get("RLOCK_BIN", PROJECT / "build/cmd/rlock")).resolve()
    if not rlock.exists():
        sys.exit(f"bench: no {rlock}: build it, or set RLOCK_BIN")
    with tempfile.TemporaryDirectory(prefix="rlock-bench-") as folder:
        clean_environment(folder)
        tools = Tools(rlock, folder)
        texts = [SECTIONS[section](tools, QUICK if args.quick else FULL) for section in args.section or SECTIONS]
    print(", ".join(tools.versions) + ".", *texts, sep="\n\n")


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    main()
