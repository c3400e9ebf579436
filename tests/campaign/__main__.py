"""The campaign: see README.md."""
import argparse
import collections
import itertools
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
PROJECT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent / "tools"))

import controls  # noqa: E402
import linear  # noqa: E402
import machine  # noqa: E402
import nemesis  # noqa: E402
import notes  # noqa: E402
import redisson  # noqa: E402
import report  # noqa: E402
import rounds  # noqa: E402
from crew import KINDS  # noqa: E402
from play import TOPOLOGIES, Combo  # noqa: E402

BROKEN = 0.05  # of the rounds: servers may not find together in time on a busy machine
CALM, CROWDED, FEW = 0.04, 0.2, 3  # of the rounds, of the faults
QUIET = 6  # of so many rounds of a kind one has one server and no fault: only there the way from hand to hand is judged
TELLING = ("lock-deleted", "late-then-silent", "request-late", "reply-lost", "holder-stopped", "holder-killed",
           "guardian-stopped", "guardian-killed", "waiter-killed", "runner-ended")  # come twice as often as the others
QUICK = ("socket", "tcp")  # so do these
# A busy machine may break what these ask for. Seen once, it is told, and stands in the table; the run has failed when
# the same round, played alone when all others are over, shows an anomaly in each of so many looks.
LOOKS = 2
OF_TIME = {"statuses", "warned", "waits", "handed", "forgotten", "noticed", "remains", "late"}
QUORUM_KINDS = ("run", "rw", "nested", "handle")


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
    parser.add_argument("--topology", type=names(TOPOLOGIES), default=[*TOPOLOGIES])
    parser.add_argument("--kind", type=names(KINDS), default=KINDS)
    parser.add_argument("--faults", type=names(nemesis.FAULTS), default=nemesis.FAULTS)
    parser.add_argument("--seconds", type=float, default=8, help="of faults, in each round")
    parser.add_argument("--jobs", type=int, help="rounds at a time, however busy the machine is")
    parser.add_argument("--round", help="this one round, as a failure printed it; with")
    parser.add_argument("--workers", type=int, help="so many")
    parser.add_argument("--controls", action="store_true", help="are the judges any good?")
    parser.add_argument("--report", action="store_true", help="add the figures to those of REPORT.md")
    args = parser.parse_args()
    if args.report:
        try:
            report.earlier()
        except ValueError as error:
            parser.error(error)
    return args


def possible(topology, kind):
    if topology in redisson.SERVERS:
        return redisson.possible(topology, kind)
    return kind != "plain" and (kind in QUORUM_KINDS or not topology.startswith("quorum"))


class Deck:
    """Faults for one round after another: none, a few, that meet more often, or half of all. The few come in turn,
    so that each comes soon."""

    def __init__(self, rng, faults):
        self.rng, self.faults, self.rest = rng, faults, []

    def deal(self, topology, kind):
        fit = [fault for fault in self.faults if nemesis.possible(fault, topology, kind)]
        share = self.rng.random()
        if share < CALM or not fit:
            return []
        if share > 1 - CROWDED:
            return [fault for fault in fit if self.rng.random() < 0.5]
        if len([fault for fault in self.rest if fault in fit]) < FEW:
            deck = [*self.faults, *(fault for fault in self.faults if fault in TELLING)]
            self.rest += self.rng.sample(deck, len(deck))
        dealt = [*dict.fromkeys(fault for fault in self.rest if fault in fit)][:self.rng.randint(1, FEW)]
        for fault in dealt:
            self.rest.remove(fault)
        return dealt


def combos(args, until):
    """Each kind in turn, so that a short run sees all; and each in turn on its topologies, and soon without faults."""
    rng = random.Random(args.seed)
    kinds = [kind for kind in args.kind if any(possible(each, kind) for each in args.topology)]
    if not kinds:
        sys.exit("none of these kinds of locks can be on these servers")
    where, deck, turns = {}, Deck(rng, args.faults), collections.Counter()
    quick = [each for each in args.topology if each in QUICK]
    for number, kind in enumerate(itertools.cycle(rng.sample(kinds, len(kinds))), 1):
        if not where.get(kind):
            where[kind] = [each for each in args.topology if possible(each, kind) for _ in range(1 + (each in QUICK))]
            rng.shuffle(where[kind])
        if args.round:
            topology = where[kind].pop()
            faults = [fault for fault in args.faults if nemesis.possible(fault, topology, kind)]
            yield Combo(args.round, topology, kind, faults, args.seconds, workers=args.workers)
            return
        turns[kind] += 1
        is_quiet = turns[kind] % QUIET == 2 and quick
        topology = rng.choice(quick) if is_quiet else where[kind].pop()
        faults = [] if is_quiet else deck.deal(topology, kind)
        yield Combo(f"{args.seed}.{number}", topology, kind, faults, args.seconds)
        if time.monotonic() > until:
            return


def compile_section(folder):
    """And the clock, which lies beside it."""
    program = os.path.join(folder, "section")
    subprocess.run(["cc", "-O1", "-o", program, machine.TOOLS / "section.c"], check=True)
    machine.library("clock", folder)
    return program


def tell(outcome):
    print(f"seen by {', '.join(sorted(set(outcome.judges)))}", *outcome.story, f"again: {HERE}/run {outcome.combo}",
          f"evidence: {outcome.folder}", sep="\n", flush=True)


def comes_again(outcome, rlock, section):
    """Whether it is seen twice more when nothing else is played."""
    for again in rounds.play_all([outcome.combo] * LOOKS, 1, rlock, section):
        print(f"again, alone: {report.line(again)}" if again else "again: the campaign itself has failed", flush=True)
        if again and not again.judges:
            return False
    return True


def campaign(args, rlock, section):
    """Plays until the time is over; returns whether all is well."""
    until, total = time.monotonic() + args.minutes * 60, report.Total(args.seed, rlock)
    failed, real = 0, 0  # rounds of our own doing; with an anomaly that is no matter of load
    unsure = []  # that may be one of load
    forgiven = collections.Counter()  # by judge: seen once, and not again when the round was played alone
    print(f"seed {args.seed}", flush=True)
    for outcome in rounds.play_all(combos(args, until), args.jobs, rlock, section):
        if outcome is None:
            failed += 1
            continue
        total.add(outcome)
        print(report.line(outcome), flush=True)
        if outcome.judges:
            tell(outcome)
            if broken := sorted(set(outcome.judges) - OF_TIME):
                print(f"broken promise: seen by {', '.join(broken)}", flush=True)
                real += 1
            else:
                unsure.append(outcome)
    for outcome in unsure:
        if comes_again(outcome, rlock, section):
            real += 1
        else:
            forgiven.update(set(outcome.judges))
            notes.note("second", "tests/campaign", "a round, alone")
    print(*total.table(), sep="\n")
    asked = args.faults if args.faults != nemesis.FAULTS else ()
    if never := total.never_bit(asked):
        print(f"never bit: {', '.join(never)}")
    if forgiven:
        print("seen once, and not again alone:", ", ".join(f"{judge} {times}" for judge, times in sorted(forgiven.items())))
    if failed:
        print(f"the campaign itself has failed in {failed} rounds")
    is_well = not never and failed <= report.sums_of(total.rows)["all"]["rounds"] * BROKEN and not real
    if args.report:
        total.write()  # with the figures of earlier runs
    return is_well


def main():
    args = options()
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit("ended"))  # and all servers with it
    rlock = os.environ.get("RLOCK_BIN", str(PROJECT / "build/cmd/rlock"))
    if {*args.topology} & {*redisson.SERVERS} and not redisson.made(rlock):
        notes.left_out("tests/campaign on redisson", "no Redisson beside this build: tests/interop/run --fetch BUILD "
                       "brings it", "RLOCK_NO_INTEROP")
        args.topology = [each for each in args.topology if each not in redisson.SERVERS]
    with tempfile.TemporaryDirectory() as folder:
        section = compile_section(folder)
        if why_not := linear.build(folder):
            # Debian has Go, but not Porcupine, which comes from elsewhere: not every machine can reach that.
            notes.left_out("tests/campaign by linear", f"Porcupine cannot be built: {why_not}")
        if args.controls:
            return 0 if controls.all_caught(rlock, section) else 1
        return 0 if campaign(args, rlock, section) else 1


if __name__ == "__main__":
    sys.exit(main())
