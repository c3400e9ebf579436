"""What was played, in figures: REPORT.md is written here, not by hand. The figures of one run after the other add up in
figures.json, for as long as the scripts are the same."""
import collections
import hashlib
import json
import pathlib
import platform
import re
import subprocess
import time

import linear

MANUAL_MARKS = '.\\" figures: written by tests/campaign/run --report\n', '.\\" end of the figures\n'
NAMES = {"socket": "one, on a socket", "tcp": "one, by TCP", "quorum3": "three, a majority",
         "quorum5": "five, a majority", "sentinel": "Sentinel", "cluster": "a cluster"}  # in rlock(7)
COUNTERS = "fired", "bites", "statuses", "anomalies", "linear_checks"
HERE = pathlib.Path(__file__).resolve().parent
PROJECT = HERE.parent.parent
REPORT, FIGURES = HERE / "REPORT.md", HERE / "figures.json"
OFTEN = 20  # times that a fault fires by chance, and one bite at least is to be expected
README = re.compile(r"(more than )\S+( commands that ran under locks while\s)\S+( faults hit them)")
MARKS = "<!-- figures: written by run --report -->\n", "<!-- end of the figures -->\n"


def line(outcome):
    status = ", ".join(f"{status}: {count}" for status, count in sorted(outcome.statuses.items()))
    return (f"{outcome.combo.seed} {outcome.combo.topology} {outcome.combo.kind}: "
            f"{outcome.sections} sections, {sum(outcome.bites.values())} bites of "
            f"{len(outcome.fired)} faults, statuses {status}, {outcome.lasted_s:.0f} s, "
            f"{len(outcome.judges)} anomalies")


def version(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("\n")[0]


def scripts():
    """What runs in Redis, comments aside, as a hash."""
    lines = [line.strip() for path in sorted(PROJECT.glob("lua/**/*.lua"))
             for line in path.read_text(encoding="utf-8").splitlines()]
    return hashlib.sha1("\n".join(line for line in lines if line[:2] != "--").encode()).hexdigest()


def earlier():
    """The figures so far. None: there are none. ValueError: they are of other scripts, and do not add up with new ones."""
    if not FIGURES.exists():
        return None
    known = json.loads(FIGURES.read_text(encoding="utf-8"))
    if known["scripts"] != scripts():
        raise ValueError(f"the scripts have changed since {FIGURES} was written: remove it to begin anew")
    return known


class Total:
    def __init__(self, seed, rlock):
        self.seeds, self.rlock, self.begun = [seed], rlock, time.monotonic()
        self.rows = collections.defaultdict(collections.Counter)
        for name in COUNTERS:
            setattr(self, name, collections.Counter())

    def add(self, outcome):
        row = self.rows[outcome.combo.topology, outcome.combo.kind]
        row.update(rounds=1, rlocks=outcome.rlocks, grants=outcome.grants, sections=outcome.sections,
                   checked=outcome.checked, bites=sum(outcome.bites.values()), anomalies=len(outcome.judges))
        seen = outcome.fired, outcome.bites, outcome.statuses, outcome.judges, outcome.linear_checks
        for name, more in zip(COUNTERS, seen):
            getattr(self, name).update(more)

    def never_bit(self, asked=()):
        """Of those that fired often, or were asked for."""
        often = {fault for fault, fired in self.fired.items() if fired >= OFTEN}
        return [fault for fault in {*often, *asked} if not self.bites[fault]]

    def table(self):
        """What was played where; and how many sections of it were of which kind."""
        sums, kinds = sums_of(self.rows), sorted({kind for _, kind in self.rows})
        columns = ("rounds", "rlocks", "grants", "sections", "checked", "bites", "anomalies")
        yield from rows_of("topology", columns, {each: [sums[each][column] for column in columns] for each in sums})
        yield from ("", "Of these sections:", "")
        sections = {each: [self.rows.get((each, kind), {}).get("sections", "") for kind in kinds] for each in sums}
        sections["all"] = [sum(row["sections"] for (_, of), row in self.rows.items() if of == kind) for kind in kinds]
        yield from rows_of("topology", kinds, sections)

    def add_earlier(self, known):
        self.seeds = known["seeds"] + self.seeds
        self.begun -= known["seconds"]
        for topology, kind, row in known["rows"]:
            self.rows[topology, kind].update(row)
        for name in COUNTERS:
            getattr(self, name).update(dict(known[name]))

    def keep(self):
        known = {"scripts": scripts(), "seeds": self.seeds, "seconds": round(time.monotonic() - self.begun),
                 "rows": [[*where, row] for where, row in sorted(self.rows.items())]}
        known.update((name, sorted(getattr(self, name).items())) for name in COUNTERS)
        lines = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in known.items()]
        FIGURES.write_text("{" + ",\n".join(lines) + "}\n", encoding="utf-8")

    def figures(self):
        minutes = (time.monotonic() - self.begun) / 60
        yield (f"{time.strftime('%Y-%m-%d')}: {version(self.rlock, '--version')}, "
               f"{version('redis-server', '--version').split(' sha')[0]}, Linux {platform.release()}, "
               f"seeds {', '.join(self.seeds)}, {minutes:.0f} minutes.")
        yield from ("", *self.table(), "", "| fault | fired | bit " * 3 + "|", "| --- | --: | --: " * 3 + "|")
        faults = [f"| {fault} | {self.fired[fault]} | {self.bites[fault]} " for fault in sorted(self.fired)]
        yield from ("".join(faults[i:i + 3]) + "|" for i in range(0, len(faults), 3))
        yield from ("", "rlocks by status: " + ", ".join(f"{each} {n}" for each, n in sorted(self.statuses.items())) + ".")
        sound, unsound, undecided = (self.linear_checks[each] for each in (linear.SOUND, linear.UNSOUND, linear.UNDECIDED))
        yield from ("", f"Porcupine found {sound} rounds linearizable and {unsound} not; {undecided} it could not decide in 20 "
                    "seconds." if linear.program else "Porcupine was not asked: there is no Go here, or not its module.")
        if self.anomalies:
            judges = ", ".join(f"{judge} {count}" for judge, count in sorted(self.anomalies.items()))
            yield from ("", f"Anomalies by judge: {judges}.")

    def write(self):
        """Into REPORT.md, rlock(7) and README, together with the figures of earlier runs."""
        if known := earlier():
            self.add_earlier(known)
        self.keep()
        replace_between(REPORT, MARKS, self.figures())
        write_elsewhere(self.rows, PROJECT / "man/rlock.7", PROJECT / "README.md")


def replace_between(path, marks, lines):
    before, _, rest = path.read_text(encoding="utf-8").partition(marks[0])
    after = rest.partition(marks[1])[2]
    path.write_text(before + marks[0] + "\n".join(lines) + "\n" + marks[1] + after, encoding="utf-8")


def sums_of(rows):
    """By topology, and "all", which is the last."""
    sums = collections.defaultdict(collections.Counter)
    for (topology, _), row in sorted(rows.items()):
        sums[topology].update(row)
    sums["all"] = sum(sums.values(), collections.Counter())
    return sums


def rows_of(head, columns, rows):
    yield f"| {head} | {' | '.join(columns)} |"
    yield "| --- " + "| --: " * len(columns) + "|"
    yield from (f"| {name} | {' | '.join(map(str, row))} |" for name, row in rows.items())


def manual_rows(sums):
    yield '.Bl -column "three, a majority" "rounds" "sections" "faults that hit" -offset indent'
    yield ".It Em servers Ta Em rounds Ta Em sections Ta Em faults that hit"
    for name, words in NAMES.items():
        if name in sums:
            yield f".It {words} Ta {sums[name]['rounds']} Ta {sums[name]['sections']} Ta {sums[name]['bites']}"
    yield ".El"


def write_elsewhere(rows, manual, readme):
    sums = sums_of(rows)
    replace_between(manual, MANUAL_MARKS, manual_rows(sums))
    thousands = [f"{sums['all'][column] // 1000},000" for column in ("sections", "bites")]
    readme.write_text(README.sub(r"\g<1>{}\g<2>{}\g<3>".format(*thousands), readme.read_text(encoding="utf-8")),
                      encoding="utf-8")
