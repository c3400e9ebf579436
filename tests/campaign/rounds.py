"""Rounds, several at a time, each in a process of its own; and what is known of one when it is over."""
import multiprocessing
import multiprocessing.connection
import os
import signal
import sys
import threading
from collections import Counter

import play
from crew import signal_all
from machine import descendants
from story import tell

FORK = multiprocessing.get_context("fork")
LOAD = 10 * os.cpu_count()
JOBS = 4   # for a processor
LAST_S = 30  # for a round that is to end at once
TOLD = 5  # anomalies of a round that are printed


class Outcome:
    """What is left of a Played when its process has ended."""

    def __init__(self, played):
        judged = played.judged
        self.combo, self.folder, self.lasted_s = played.combo, played.folder, played.lasted_s
        self.fired = [fault.name for fault in played.faults if fault.begun_ns]
        self.rlocks, self.sections, self.checked = len(played.crew.runs), len(judged.history.sections), judged.checked
        self.grants, self.linear_checks = len(judged.sections), judged.linear_checks
        self.statuses, self.bites = Counter(run.status for run in played.crew.runs), Counter()
        for fault in played.faults:
            self.bites[fault.name] += fault.bites
        self.judges = [anomaly.judge for anomaly in played.anomalies]
        self.story = [*tell(played, played.anomalies[0]), *map(str, played.anomalies[1:TOLD])] \
            if played.anomalies else []


def crashed(failure):
    """A thread of ours has failed, and with it the round."""
    threading.__excepthook__(failure)
    signal.raise_signal(signal.SIGTERM)


def perform(combo, rlock, section, sink):
    threading.excepthook = crashed
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # and all servers with it
    try:
        played = play.Played(combo, rlock, section)
        if not played.anomalies:
            played.forget()
        sink.send(Outcome(played))
    finally:
        signal_all(descendants(os.getpid()), signal.SIGKILL)  # ended while it started its servers


def outcome(source, process):
    """None: the campaign itself has failed, and said how."""
    try:
        return source.recv()
    except EOFError:
        return None
    finally:
        process.join()


def at_once(jobs):
    """None: as many as are good, fewer where others keep the machine busy."""
    return jobs or (JOBS if os.getloadavg()[0] < LOAD else JOBS // 3) * os.cpu_count()


def play_all(combos, jobs, rlock, section):
    """Yields outcomes as they come, None for a round that came to no end."""
    combos, playing = iter(combos), {}  # processes, by where each tells its outcome
    try:
        while True:
            while len(playing) < at_once(jobs) and (combo := next(combos, None)):
                source, sink = multiprocessing.Pipe(duplex=False)
                playing[source] = FORK.Process(target=perform, args=(combo, rlock, section, sink))
                playing[source].start()
                sink.close()
            if not playing:
                return
            for source in multiprocessing.connection.wait([*playing]):
                yield outcome(source, playing.pop(source))
    finally:
        for process in playing.values():
            process.terminate()
        for process in playing.values():
            process.join(LAST_S)
            process.kill()
