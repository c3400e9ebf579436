#!/usr/bin/env python3
"""Judges what sections (section.c) recorded: did two of them ever overlap, do tokens grow?

usage: check_history.py [--min-sections N] [--beat-dir DIR] [--journal FILE] [LOG]

LOG lines are key=value words: enter=NS exit=NS|- owner=OWNER token=N pid=P.
A section that was killed has only its first line; it counts up to the beat found in DIR/PID, or,
without a beat, as the single instant of its entry.
Sections of one owner are one hold (re-entry) and may overlap.
Exit status: 0 sound, 1 violated (each violation on a line of its own), 2 nothing to judge.
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
        self.owner = words["owner"]
        self.token = words["token"]
        self.pid = words["pid"]

    def __str__(self):
        return f"pid {self.pid} token {self.token} [{self.enter}, {self.exit}]"


def read_sections(lines, beat_dir):
    """Joins each section's two lines; the later line of a pair knows the exit."""
    sections = {}
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        try:
            section = Section(dict(word.split("=", 1) for word in line.split()))
        except (KeyError, ValueError) as error:
            sys.exit(f"line {number}: not a section: {line.strip()} ({error})")
        known = sections.get((section.pid, section.enter))
        if known is None or section.exit is not None:
            sections[(section.pid, section.enter)] = section
    for section in sections.values():
        if section.exit is None:
            section.exit = last_beat(beat_dir, section)
    return sorted(sections.values(), key=lambda section: section.enter)


def last_beat(beat_dir, section):
    path = os.path.join(beat_dir, section.pid) if beat_dir else None
    if path and os.path.exists(path):
        with open(path, "rb") as file:
            return max(section.enter, struct.unpack("q", file.read(8))[0])
    return section.enter


def overlaps(sections):
    running = []  # heap of (exit, index) of the sections entered so far
    for index, section in enumerate(sections):
        while running and running[0][0] <= section.enter:
            heapq.heappop(running)
        for _, other in running:
            if sections[other].owner != section.owner or section.owner == "-":
                yield f"overlap: {sections[other]} and {section}"
        heapq.heappush(running, (section.exit, index))


def bad_tokens(sections):
    """Strictly growing in the order of entry; one owner's re-entries share theirs."""
    last = None
    for section in sections:
        if not section.token.isdigit():
            yield f"no token: {section}"
            continue
        if last is not None and section.owner != last.owner \
                and int(section.token) <= int(last.token):
            yield f"token does not grow: {last} then {section}"
        last = section


def bad_journal(path):
    """Lines 1, 2, 3...: a number twice is an addition lost; tokens never go back."""
    last_token = 0
    with open(path, encoding="utf-8") as file:
        for expected, line in enumerate(file, 1):
            number, *words = line.split()
            token = int(dict(word.split("=", 1) for word in words)["token"])
            if int(number) != expected:
                yield f"journal line {expected} says {number}"
            if token <= last_token:
                yield f"journal line {expected}: token {token} after {last_token}"
            last_token = token


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--min-sections", type=int, default=1)
    parser.add_argument("--beat-dir")
    parser.add_argument("--journal")
    parser.add_argument("log", nargs="?")
    args = parser.parse_args()
    violations, seen = [], 0
    if args.log:
        with open(args.log, encoding="utf-8") as file:
            sections = read_sections(file, args.beat_dir)
        seen = len(sections)
        violations += [*overlaps(sections), *bad_tokens(sections)]
    if args.journal:
        with open(args.journal, encoding="utf-8") as file:
            seen = max(seen, sum(1 for _ in file))
        violations += bad_journal(args.journal)
    for violation in violations:
        print(violation)
    print(f"{seen} sections, {len(violations)} violations")
    if violations:
        return 1
    return 0 if seen >= args.min_sections else 2


if __name__ == "__main__":
    sys.exit(main())
