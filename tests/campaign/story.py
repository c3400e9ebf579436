"""The story of an anomaly: what happened around it, in the order of time."""
import datetime
import json
import os

from observer import clocks_apart_ns

VERBS = ("run", "fair", "read", "write", "sem", "latch")
BEFORE_S, AFTER_S, WIDTH = 2.5, 0.3, 110


def said(run):
    """(event, line) of its log; the event of a line that is none is empty."""
    with open(run.log, encoding="utf-8", errors="replace") as file:
        for line in file:
            try:
                yield json.loads(line), line
            except ValueError:
                yield {}, line


def logged(run, apart_ns):
    """(ns, text) of what this rlock said."""
    for event, line in said(run):
        try:
            when = datetime.datetime.fromisoformat(event["time"].replace("Z", "+00:00"))
        except (ValueError, KeyError):
            yield run.ended_ns, f"rlock {run.number} printed: {line.strip()}"
            continue
        yield int(when.timestamp() * 1e9) - apart_ns, \
            f"rlock {run.number}: {event['event']}: {event['message'][:WIDTH]}"


def renewals(run):
    """When it said that it had renewed its lock."""
    return [at_ns for at_ns, text in logged(run, clocks_apart_ns()) if ": renewed: " in text]


def holders(run):
    """Whom it said that it waits for: their owners."""
    return [event.get("holder") or "" for event, _ in said(run)]


def was_unconfirmed(run):
    """Nobody told it whether its lock had been there to be given back."""
    return any(": release_unconfirmed: " in text for _, text in logged(run, 0))


def events(played):
    apart_ns = clocks_apart_ns()
    for fault in played.faults:
        if fault.begun_ns:
            yield fault.begun_ns, f"FAULT {fault}"
            yield fault.ended_ns, f"fault over: {fault.name} {fault.target}, bit {fault.bites} times"
    for run in played.crew.runs:
        at = next(at for at, word in enumerate(run.command) if word in VERBS)
        kind = " ".join(run.command[at:at + 4]) + (f" -w {run.limit}ms" if run.limit else "")
        yield run.begun_ns, f"{run} starts: {kind}"
        yield run.ended_ns, f"{run} ends with {run.status}"
        yield from logged(run, apart_ns)
    with open(played.crew.history, encoding="utf-8") as file:
        for line in file:
            words = dict(word.split("=", 1) for word in line.split())
            if "queued" in words:
                yield int(words["queued"]), f"in the queue: {words['owner']}"
            elif "down" in words:
                yield int(words["down"]), f"a count-down by {words['by']} of {words['latch']} begins"
            elif "term" in words:
                yield int(words["term"]), f"section pid {words['pid']} gets SIGTERM"
            elif words["exit"] == "-":
                yield int(words["enter"]), \
                    f"section pid {words['pid']} begins, token {words['token']} of {words['owner']}"
            else:
                yield int(words["exit"]), f"section pid {words['pid']} ends, token {words['token']}"


def tell(played, anomaly):
    """What happened around it; all that happened is written to the file `story` beside the evidence."""
    start_ns = played.crew.runs[0].begun_ns
    yield f"{anomaly}"
    with open(os.path.join(played.folder, "story"), "w", encoding="utf-8") as whole:
        for at_ns, text in sorted(events(played)):
            line = f"  {(at_ns - start_ns) / 1e9:9.4f} {text}"
            print(line, file=whole)
            if -BEFORE_S < (at_ns - anomaly.at_ns) / 1e9 < AFTER_S:
                yield line
