"""What was played, in figures: REPORT.md is written here, not by hand."""
import collections
import platform
import subprocess
import time

import play

MARKS = "<!-- figures: written by run --report -->\n", "<!-- end of the figures -->\n"


def line(played):
    status = ", ".join(f"{status}: {count}" for status, count in sorted(play.statuses(played).items()))
    return (f"{played.combo.seed} {played.combo.topology} {played.combo.kind}: "
            f"{played.sections} sections, {sum(play.bites(played).values())} bites of "
            f"{len(played.faults)} faults, statuses {status}, {played.lasted_s:.0f} s, {len(played.anomalies)} anomalies")


def version(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("\n")[0]


class Total:
    def __init__(self, seed, rlock):
        self.seed, self.rlock, self.begun = seed, rlock, time.monotonic()
        self.rows = collections.defaultdict(collections.Counter)
        self.fired, self.bites = collections.Counter(), collections.Counter()
        self.statuses, self.anomalies = collections.Counter(), collections.Counter()

    def add(self, played):
        row = self.rows[played.combo.topology, played.combo.kind]
        row.update(rounds=1, rlocks=len(played.crew.runs), sections=played.sections,
                   checked=played.checked, anomalies=len(played.anomalies),
                   bites=sum(play.bites(played).values()))
        self.fired.update(fault.name for fault in played.faults)
        self.bites.update(play.bites(played))
        self.statuses.update(play.statuses(played))
        self.anomalies.update(anomaly.judge for anomaly in played.anomalies)

    def never_bit(self, asked=()):
        """Of those that fired, or were asked for."""
        return [fault for fault in {*self.fired, *asked} if not self.bites[fault]]

    def table(self):
        columns = ("rounds", "rlocks", "sections", "checked", "bites", "anomalies")
        yield f"| topology | kind | {' | '.join(columns)} |"
        yield "| --- " * 2 + "| --: " * len(columns) + "|"
        whole = collections.Counter()
        for (topology, kind), row in sorted(self.rows.items()):
            whole.update(row)
            yield f"| {topology} | {kind} | {' | '.join(str(row[each]) for each in columns)} |"
        yield f"| all | | {' | '.join(str(whole[each]) for each in columns)} |"

    def figures(self):
        minutes = (time.monotonic() - self.begun) / 60
        yield (f"{time.strftime('%Y-%m-%d')}: {version(self.rlock, '--version')}, "
               f"{version('redis-server', '--version').split(' sha')[0]}, Linux {platform.release()}, "
               f"seed {self.seed}, {minutes:.0f} minutes.")
        yield ""
        yield from self.table()
        yield ""
        yield "| fault | fired | bit |"
        yield "| --- | --: | --: |"
        yield from (f"| {fault} | {self.fired[fault]} | {self.bites[fault]} |"
                    for fault in sorted(self.fired))
        yield ""
        yield "| status | rlocks |"
        yield "| --: | --: |"
        yield from (f"| {status} | {count} |" for status, count in sorted(self.statuses.items()))
        if self.anomalies:
            yield ""
            yield "Anomalies by judge: " + ", ".join(
                f"{judge} {count}" for judge, count in sorted(self.anomalies.items())) + "."

    def write(self, path):
        before, _, rest = path.read_text(encoding="utf-8").partition(MARKS[0])
        after = rest.partition(MARKS[1])[2]
        path.write_text(before + MARKS[0] + "\n".join(self.figures()) + "\n" + MARKS[1] + after,
                        encoding="utf-8")
