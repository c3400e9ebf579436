"""The campaign: see README.md."""
import argparse
import itertools
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
PROJECT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent / "tools"))

import controls  # noqa: E402
import nemesis  # noqa: E402
import report  # noqa: E402
from crew import KINDS  # noqa: E402
from play import Combo, Played  # noqa: E402
from servers import Topology  # noqa: E402
from story import tell  # noqa: E402

QUORUM_KINDS = ("run", "rw", "nested")
CRASHED = []  # threads of ours


def names(allowed):
    def parse(text):
        chosen = [] if text == "none" else text.split(",")
        if unknown := set(chosen) - set(allowed):
            raise argparse.ArgumentTypeError(f"{', '.join(unknown)}: not of {', '.join(allowed)}")
        return chosen
    return parse


def options():
    parser = argparse.ArgumentParser(prog="run")
    parser.add_argument("--minutes", type=float, default=1)
    parser.add_argument("--seed", default=str(random.SystemRandom().randrange(10**6)))
    parser.add_argument("--topology", type=names(Topology.NAMES), default=Topology.NAMES)
    parser.add_argument("--kind", type=names(KINDS), default=KINDS)
    parser.add_argument("--faults", type=names(nemesis.FAULTS), default=nemesis.FAULTS)
    parser.add_argument("--seconds", type=float, default=8, help="of faults, in each round")
    parser.add_argument("--round", help="this one round, as a failure printed it")
    parser.add_argument("--controls", nargs="?", const=controls.FAKES, type=names(controls.FAKES),
                        help="are the judges any good? With these of the fakes, or all")
    parser.add_argument("--report", action="store_true", help="write REPORT.md")
    return parser.parse_args()


def possible(topology, kind):
    return kind in QUORUM_KINDS or not topology.startswith("quorum")


def rounds(args):
    """Each kind in turn, so that a short run sees all; and each in turn on its topologies."""
    rng = random.Random(args.seed)
    turns = itertools.cycle(rng.sample(args.kind, len(args.kind)))
    where = {}
    for number, kind in enumerate(turns, 1):
        topologies = [each for each in args.topology if possible(each, kind)]
        if not where.get(kind):
            where[kind] = rng.sample(topologies, len(topologies))
        topology = where[kind].pop()
        wanted = [fault for fault in args.faults if nemesis.possible(fault, topology)]
        chosen = [fault for fault in wanted if args.round or len(wanted) < 4 or rng.random() < 0.5]
        yield Combo(args.round or f"{args.seed}.{number}", topology, kind, chosen, args.seconds)
        if args.round:
            return


def compile_section(folder):
    program = os.path.join(folder, "section")
    subprocess.run(["cc", "-O1", "-o", program, str(HERE.parent / "tools/section.c")], check=True)
    return program


def campaign(args, rlock, section):
    """Plays until the time is over; returns whether all is well."""
    until, total = time.monotonic() + args.minutes * 60, report.Total(args.seed, rlock)
    for combo in rounds(args):
        played = Played(combo, rlock, section)
        total.add(played)
        print(report.line(played), flush=True)
        if played.anomalies:
            print(*played.anomalies[:5], *tell(played, played.anomalies[0]), f"again: {HERE}/run {combo}",
                  f"evidence: {played.folder}", sep="\n", flush=True)
        else:
            played.forget()
        if time.monotonic() > until:
            break
        if CRASHED:
            sys.exit("the campaign itself has failed")
    print(*total.table(), sep="\n")
    if args.report:
        total.write(HERE / "REPORT.md")
    asked = args.faults if args.faults != nemesis.FAULTS else ()
    if never := total.never_bit(asked):
        print(f"never bit: {', '.join(never)}")
    return not never and not total.anomalies


def crash(failure):
    CRASHED.append(failure.thread)
    threading.__excepthook__(failure)


def main():
    args = options()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended"))  # and all servers with it
    threading.excepthook = crash
    rlock = os.environ.get("RLOCK_BIN", str(PROJECT / "build/cmd/rlock"))
    with tempfile.TemporaryDirectory() as folder:
        section = compile_section(folder)
        if args.controls:
            return 0 if controls.all_caught(args.controls, rlock, section) else 1
        return 0 if campaign(args, rlock, section) else 1


if __name__ == "__main__":
    sys.exit(main())
