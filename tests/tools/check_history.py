#!/usr/bin/env python3
"""Judges what sections (section.c) recorded: did they keep to the lock's rule, do tokens grow?

usage: check_history.py [--rule RULE] [--fifo-slack MS] [--min-sections N] LOG...

RULE    what the lock promises:
  mutex      no two sections overlap (the default)
  rw         those with kind=read may overlap each other, but nothing overlaps one with kind=write
  permits=N  at no instant do the sections within hold more than N: each has permits=K, or one
  latch=N    each was entered after N count-downs had begun

Each LOG is the history of one lock. Its lines are key=value words; times are ns on CLOCK_MONOTONIC.
  enter=NS exit=NS|- owner=OWNER token=N pid=P [kind=K] [permits=K] [arrival=NS] [script=P] [term=NS] [patient=1]
             a section; arrival: before its rlock was started; script: who says so, if its owner does not; term: it got
             SIGTERM; patient: and does not end for it
  queued=NS owner=OWNER
             it was seen in the queue by then
  down=NS [by=N]
             a count-down was about to begin

A section that was killed has only its first line; it counts up to the beat found in LOG.beats/PID-ENTER, or, without a
beat, as the single instant of its entry. Sections of one owner are one hold (re-entry) and may overlap.

Tokens: later sections have larger ones, where it is certain that their holds were later: they
could not have been held together, or one's rlock was started after the other's section had ended.
token=none is of a lock that gives out none.

--fifo-slack MS  who was queued MS before another arrived enters first. Under `rw` that is claimed
for writers before readers only. Of those who never entered nothing is known.

Exit status: 0 sound, 1 violated (each violation on a line of its own), 2 too little to judge.
"""
import argparse
import heapq
import os
import struct
import sys


class Section:
    def __init__(self, words):
        self.enter = int(words["enter"])
        self.exit = None if words["exit"] == "-" else int(words["exit"])
        self.owner, self.token, self.pid = words["owner"], words["token"], words["pid"]
        self.kind = words.get("kind", "-")
        self.permits = int(words.get("permits", 1))
        self.arrival = int(words["arrival"]) if "arrival" in words else None
        self.script = int(words.get("script", 0))
        self.queued, self.has_ended = None, self.exit is not None
        self.is_patient, self.was_warned = "patient" in words, "term" in words

    def __str__(self):
        return f"{self.kind} pid {self.pid} token {self.token} [{self.enter}, {self.exit}]"

    def within(self, other):
        """Of one owner: one hold."""
        return self.owner == other.owner and self.owner != "-"


class History:
    """Sections in the order of entry, and count-downs as (NS, by how much) in the order of time."""

    def __init__(self, lines, beat_dir):
        self.downs, self.known, self.beat_dir = [], {}, beat_dir
        queued = {}
        for number, line in enumerate(lines, 1):
            if not line.strip() or line.startswith("#"):
                continue
            try:
                self.take(dict(word.split("=", 1) for word in line.split()), queued)
            except (KeyError, ValueError) as error:
                sys.exit(f"line {number}: can't be read: {line.strip()} ({error})")
        self.sections = sorted(self.known.values(), key=lambda section: section.enter)
        self.downs.sort()
        for section in self.sections:
            section.queued = queued.pop(section.owner, None)  # a re-entry did not queue
            if section.exit is None:
                section.exit = self.last_beat(section)

    def take(self, words, queued):
        if "down" in words:
            self.downs.append((int(words["down"]), int(words.get("by", 1))))
        elif "queued" in words:
            queued.setdefault(words["owner"], int(words["queued"]))
        else:  # of a section's lines the last knows the exit
            section = Section(words)
            self.known[section.pid, section.enter] = section

    def last_beat(self, section):
        path = os.path.join(self.beat_dir, f"{section.pid}-{section.enter}")
        if os.path.exists(path):
            with open(path, "rb") as file:
                return max(section.enter, struct.unpack("q", file.read(8))[0])
        return section.enter


class Rule:
    """What of a rule concerns two sections by their kinds."""

    def __init__(self, text):
        self.text = text
        self.name, _, number = text.partition("=")
        if self.name not in (("permits", "latch") if number.isdigit() else ("mutex", "rw")):
            raise argparse.ArgumentTypeError(f"no such rule: {text}")
        self.number = int(number or 0)

    def excludes(self, kind, other):
        return self.name == "mutex" or (self.name == "rw" and "write" in (kind, other))

    def orders(self, first, then):
        return self.name != "rw" or (first.kind == "write" and then.kind == "read")

    def violations(self, history):
        if self.name == "latch":
            return too_early(history, self.number)
        return overlaps(history.sections, self)


def overlaps(sections, rule):
    running = []  # heap of (exit, index) of the sections entered so far
    for index, section in enumerate(sections):
        while running and running[0][0] <= section.enter:
            heapq.heappop(running)
        within = [sections[other] for _, other in running]
        for other in within:
            if rule.excludes(section.kind, other.kind) and not section.within(other):
                yield f"overlap: {other} and {section}"
        taken = section.permits + sum(other.permits for other in within)
        if rule.name == "permits" and taken > rule.number:
            yield f"{taken} permits of {rule.number} taken: {section}"
        heapq.heappush(running, (section.exit, index))


def too_early(history, count):
    for section in history.sections:
        begun = sum(by for begin, by in history.downs if begin < section.enter)
        if begun < count:
            yield f"entered after {begun} of {count} count-downs: {section}"


def bad_tokens(sections, rule):
    sections = [section for section in sections if section.token != "none"]
    yield from (f"no token: {section}" for section in sections if not section.token.isdigit())
    numbered = [section for section in sections if section.token.isdigit()]
    yield from shared_tokens(numbered)
    yield from not_grown_where_excluded(numbered, rule)
    yield from not_grown_where_ended(numbered)


def shared_tokens(sections):
    known = {}
    for section in sections:
        other = known.setdefault(section.token, section)
        if other is not section and not section.within(other):
            yield f"token of another: {other} and {section}"


def not_grown(first, then):
    if int(then.token) <= int(first.token) and not then.within(first):
        yield f"token does not grow: {first} then {then}"


def higher(one, other):
    return other if one is None or int(other.token) > int(one.token) else one


def not_grown_where_excluded(sections, rule):
    highest = {}  # by kind, of those that have entered so far
    for section in sections:
        for kind, other in highest.items():
            if rule.excludes(kind, section.kind):
                yield from not_grown(other, section)
        highest[section.kind] = higher(highest.get(section.kind), section)


def not_grown_where_ended(sections):
    by_exit = sorted(sections, key=lambda section: section.exit)
    arrived = [section for section in sections if section.arrival is not None]
    highest, ended = None, 0
    for section in sorted(arrived, key=lambda section: section.arrival):
        while ended < len(by_exit) and by_exit[ended].exit < section.arrival:
            highest = higher(highest, by_exit[ended])
            ended += 1
        if highest is not None:
            yield from not_grown(highest, section)


def ordered(sections, rule, slack_ns):
    """The pairs of which the first was surely queued before the second arrived."""
    queued = [section for section in sections if section.queued is not None]
    arrived = [section for section in sections if section.arrival is not None]
    for then in arrived:
        for first in queued:
            if first.queued + slack_ns < then.arrival and rule.orders(first, then):
                yield first, then


def out_of_order(pairs):
    return [f"out of order: {first} was queued before the arrival of {then}"
            for first, then in pairs if then.enter < first.enter]


def judge(log, args):
    with open(log, encoding="utf-8") as file:
        history = History(file, f"{log}.beats")
    sections, violations = history.sections, [*args.rule.violations(history)]
    if args.rule.name != "latch":  # which has no tokens
        violations += bad_tokens(sections, args.rule)
    if args.fifo_slack is not None:
        violations += out_of_order(ordered(sections, args.rule, args.fifo_slack * 1e6))
    print(*violations, f"{log}: {len(sections)} sections, {len(violations)} violations", sep="\n")
    if violations:
        return 1
    return 0 if len(sections) >= args.min_sections else 2


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rule", type=Rule, default=Rule("mutex"))
    parser.add_argument("--fifo-slack", type=float)
    parser.add_argument("--min-sections", type=int, default=1)
    parser.add_argument("logs", nargs="+", metavar="LOG")
    args = parser.parse_args()
    results = [judge(log, args) for log in args.logs]
    return 1 if 1 in results else max(results)


if __name__ == "__main__":
    sys.exit(main())
