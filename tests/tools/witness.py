#!/usr/bin/env python3
"""Sees, on several servers at once, who has which lock, and whether the sections knew it.

usage: witness.py watch LOG NAME=SOCKET... -- KEY...
       witness.py judge LOG NEW OLD [--min-masters MS] KEY=HISTORY...

watch  until SIGTERM: about a hundred times a second, of each server, a line in LOG:
         from=NS to=NS server=NAME role=ROLE KEY=OWNER,OWNER... KEY=-...
       Times are ns on CLOCK_MONOTONIC, before the question and after the answer. A server that does
       not answer has no line.
judge  OLD was the master, NEW took over. From NEW's first line as a master on, whoever was within a
       section all the time from a question to its answer must have had KEY on NEW: a section that goes
       on without it is alone with its belief, be there a second one or not. HISTORY and HISTORY.beats
       are what sections (section.c) wrote.
       --min-masters  for how long OLD must have been a master beside it at least, for as long as that
                      a client that asks nobody was told "OK": less, and the test has shown nothing

Exit status: 0 sound, 1 violated (each violation on a line of its own), 2 nothing shown.
"""
import argparse
import sys
import threading
import time

from check_history import History
from resp import Connection

PAUSE_S = 0.008


def look(name, server, keys):
    begin = time.monotonic_ns()
    holders = [f"{key}={','.join(server.call('HKEYS', key)) or '-'}" for key in keys]
    role = server.call("ROLE")[0]  # the last: without an answer to it there is no line
    return f"from={begin} to={time.monotonic_ns()} server={name} role={role} {' '.join(holders)}\n"


def watch_one(name, path, keys, log):
    while True:
        try:
            server = Connection(path)
            while True:
                log.write(look(name, server, keys))
                time.sleep(PAUSE_S)
        except (OSError, IndexError):  # it is gone, for now or for good
            time.sleep(PAUSE_S)


def watch(args):
    servers, keys = args[1:args.index("--")], args[args.index("--") + 1:]
    with open(args[0], "a", encoding="utf-8", buffering=1) as log:
        threads = [threading.Thread(target=watch_one, args=(*each.split("=", 1), keys, log), daemon=True)
                   for each in servers]
        for thread in threads:
            thread.start()
        threads[0].join()


class Line:
    def __init__(self, text):
        words = dict(word.split("=", 1) for word in text.split())
        self.begin, self.end = int(words.pop("from")), int(words.pop("to"))
        self.server, self.role = words.pop("server"), words.pop("role")
        self.owners = {key: set(owners.split(",")) for key, owners in words.items()}


def alone(lines, key, history):
    """The sections that went on without the lock, each with the first proof of it."""
    for section in history.sections:
        for line in lines:
            if section.enter <= line.begin and line.end <= section.exit and section.owner not in line.owners[key]:
                yield f"{key}: within, without a hold on {line.server} at {line.begin}: {section}"
                break


def both_masters_ms(lines, new, old):
    first = next((line.begin for line in lines if line.server == new and line.role == "master"), None)
    last = max((line.end for line in lines if line.server == old and line.role == "master"), default=0)
    return first, max(0, (last - first) // 1_000_000) if first is not None else 0


def judge(args):
    parser = argparse.ArgumentParser()
    for name in ("log", "new", "old"):
        parser.add_argument(name)
    parser.add_argument("--min-masters", type=int, default=0)
    parser.add_argument("keys", nargs="+")
    args = parser.parse_args(args)
    with open(args.log, encoding="utf-8") as file:
        lines = [Line(text) for text in file if text.endswith("\n")]
    first, both_ms = both_masters_ms(lines, args.new, args.old)
    if first is None:
        print(f"{args.new} never was a master")
        return 2
    after, seen, violations = [line for line in lines if line.server == args.new and line.begin >= first], 0, []
    for key, path in (each.split("=", 1) for each in args.keys):
        with open(path, encoding="utf-8") as file:
            history = History(file, path + ".beats")
        seen += len(history.sections)
        violations += alone(after, key, history)
    print(*violations, f"{both_ms} ms of two masters, {len(after)} looks at {args.new}, {seen} sections, "
          f"{len(violations)} violations", sep="\n")
    if violations:
        return 1
    return 0 if both_ms >= args.min_masters and seen and after else 2


def main():
    if sys.argv[1] == "watch":
        watch(sys.argv[2:])
        return 0
    return judge(sys.argv[2:])


if __name__ == "__main__":
    sys.exit(main())
