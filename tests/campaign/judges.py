"""What rlock promises, asked of one round when it is over. Each judge yields Anomalies."""
import collections
import signal
import time

from check_history import History, Rule, bad_tokens, ordered, out_of_order
from crew import NAME, PERMITS
from observer import lease_ends

RULES = {"rw": "rw", "sem": f"permits={PERMITS}"}  # the others exclude each other
PERMITS_TAKEN = f"{{{NAME}}}:timeout"  # stands for as long as one is taken
KEPT = (f"redisson_lock_token:{{{NAME}}}", "redisson_lock_token:{y}")
TOMBSTONES = ("rlock_tombstone:", "rlock_hold:")  # for as long as a late request is believed in

# By status: what explains it. 0 needs no explanation, and no other status is ever right.
ENDED_BY = {-signal.SIGTERM: ("waiter-ended",),
            -signal.SIGKILL: ("holder-killed", "waiter-killed", "command-killed",
                            "guardian-killed")}
UNREACHABLE, NOT_IN_TIME, LOST = 69, 75, 76
CONNECT_S = 5   # --connect-timeout: so long a server that cannot be reached at first is tried
ORPHANED_S = 0.5  # a busy machine may take so long
OVERTIME_S = 3  # a reply's time-out and what is to be given back, when a limit is over


class Anomaly:
    """at_ns: where in the story to look."""

    def __init__(self, judge, text, at_ns):
        self.judge, self.text, self.at_ns = judge, text, at_ns

    def __str__(self):
        return f"{self.judge}: {self.text}"


def latest(violation):
    """The last instant that a violation names: its sections are printed with their times."""
    digits = [word.strip("[],.") for word in violation.split()]
    times = [int(word) for word in digits if word.isdigit() and len(word) > 10]
    return max(times, default=time.monotonic_ns())


class Judged:
    """A round's evidence. round: its crew, observers, faults, what did not end."""

    def __init__(self, played):
        self.played, self.combo = played, played.combo
        with open(played.crew.history, encoding="utf-8") as file:
            self.history = History(file, played.crew.beats)
        self.rule = Rule(RULES.get(self.combo.kind, "mutex"))
        self.checked = 0  # sections whose end was compared with their lease's

    def anomalies(self):
        for judge in (self.exclusion, self.tokens, self.order, self.lease, self.orphans, self.statuses,
                      self.waits, self.remains, self.processes):
            for text, at_ns in judge():
                yield Anomaly(judge.__name__, text, at_ns or latest(text))

    # --- sections --------------------------------------------------------------------------------

    def exclusion(self):
        """Nobody within who may not be: exclusive holders, readers and writers, permits."""
        yield from ((text, 0) for text in self.rule.violations(self.history))

    def tokens(self):
        yield from ((text, 0) for text in bad_tokens(self.history.sections, self.rule))

    def order(self):
        """Of fair: whoever was seen in the queue enters before those who came later, unless a
        fault struck it: one that was stopped may have lost its place. A token that nobody has
        may be of a lock that was granted to it too late, and given back: that costs a turn."""
        if self.combo.kind != "fair":
            return
        struck = {run.process.pid for run in self.played.crew.runs if run.faults}
        sections = [each for each in self.history.sections if pid_of(each.owner) not in struck]
        tokens = {int(each.token) for each in self.history.sections}
        overtakers = collections.defaultdict(dict)
        for first, then in ordered(sections, self.rule, 0):
            if then.enter < first.enter:
                overtakers[first].setdefault(then.owner, then)
        for first, later in overtakers.items():
            before = max((int(each.token) for each in self.history.sections
                          if each.enter < first.queued), default=0)
            if len(later) > len({*range(before + 1, int(first.token))} - tokens):
                yield from ((text, 0) for text in out_of_order((first, then) for then in later.values()))

    def lease(self):
        """No process of a command is alive when the server's count of its lease is over."""
        ends = lease_ends(self.played.observers)
        for section in self.history.sections:
            end_ns, seen_ns = ends.get(section.owner, (0, 0))
            if seen_ns > section.enter:  # not of an earlier hold, which it gave back
                self.checked += 1
                if section.exit > end_ns:
                    yield (f"alive {(section.exit - end_ns) / 1e6:.1f} ms after the lease of its "
                           f"owner {section.owner}: {section}", section.exit)

    def orphans(self):
        """What an rlock has started ends with it, when it is killed."""
        killed = {run.process.pid: run.ended_ns for run in self.played.crew.runs
                  if any(fault.name == "holder-killed" for fault in run.faults)}
        for section in self.history.sections:
            late_ns = section.exit - killed.get(pid_of(section.owner), section.exit)
            if late_ns > ORPHANED_S * 1e9:
                yield (f"alive {late_ns / 1e6:.1f} ms after its rlock was killed: {section}",
                       section.exit)

    # --- rlocks ----------------------------------------------------------------------------------

    def statuses(self):
        for run in self.played.crew.runs:
            if not self.explained(run):
                yield f"{run} ended with {run.status}, which nothing explains", run.ended_ns

    def explained(self, run):
        own = [fault.name for fault in run.faults]
        lasted_ms = (run.ended_ns - run.begun_ns) / 1e6
        if run.status == UNREACHABLE:
            enough_ms = CONNECT_S * 1000 if run.limit is None else run.limit
            return self.is_hit(run) and lasted_ms >= enough_ms
        if run.status == LOST:
            return self.is_hit(run)
        if run.status == NOT_IN_TIME:
            return run.limit is not None and lasted_ms >= run.limit
        return run.status == 0 or any(name in own for name in ENDED_BY.get(run.status, ()))

    def is_hit(self, run):
        """There was a fault, or what it left for two leases and a second, while it ran."""
        after_ns = int((self.combo.lease_s * 2 + 1) * 1e9)
        return any(fault.begun_ns and fault.begun_ns < run.ended_ns and
                   fault.ended_ns + after_ns > run.begun_ns for fault in self.played.faults)

    def waits(self):
        """Whoever waits gets in, or gives up at its limit, when all is well again."""
        for run in self.played.late:
            yield f"{run} had not ended {self.combo.settle_s} s after the last fault", run.ended_ns
        for run in self.played.crew.runs:
            lasted_s = (run.ended_ns - run.begun_ns) / 1e9
            if run.status in (UNREACHABLE, NOT_IN_TIME) and run.limit and not run.faults \
                    and lasted_s > run.limit / 1000 + OVERTIME_S:
                yield f"{run} was to wait {run.limit} ms, and waited {lasted_s:.1f} s", run.ended_ns

    # --- what remains ----------------------------------------------------------------------------

    def remains(self):
        """Of the lock, tokens and a semaphore's count; and nothing is ever without an end."""
        for observer in self.played.observers:
            for key, at_ns in observer.without_end.items():
                if not is_kept(key, self.combo.kind) and key != PERMITS_TAKEN:
                    yield f"{key} has no TTL", at_ns
        for server, key, ttl_ms in self.played.remains:
            yield f"{key} is left on {server}, with a TTL of {ttl_ms} ms", time.monotonic_ns()

    def processes(self):
        for pid in self.played.left_behind:
            yield f"process {pid} is left", time.monotonic_ns()


def pid_of(owner):
    """UUID:PID@HOST"""
    return int(owner.rpartition(":")[2].partition("@")[0]) if "@" in owner else 0


def is_kept(key, kind):
    return key in KEPT or (kind == "sem" and key == NAME)


def remains_of(server, kind):
    """(server, key, TTL) of what should not be there, or not without a TTL."""
    for key in server.admin.call("KEYS", "*"):
        ttl_ms = server.admin.call("PTTL", key)
        if ttl_ms != -2 and not is_kept(key, kind) and not (key.startswith(TOMBSTONES) and ttl_ms > 0):
            yield server.socket, key, ttl_ms
