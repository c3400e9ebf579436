"""What rlock promises, asked of one round when it is over. Each judge yields Anomalies."""
import collections
import itertools
import signal
import time

import linear
import nemesis
import redisson
from check_history import History, Rule, bad_tokens, ordered, out_of_order
from crew import NAME, PERMITS
from handles import CONTRADICTED
from latches import REPLACED
from observer import lease_ends
from story import holders, renewals, was_unconfirmed

RULES = {"rw": "rw", "sem": f"permits={PERMITS}", "plain": f"permits={PERMITS}"}  # the others exclude each other
PERMITS_TAKEN = f"{{{NAME}}}:timeout"  # stands for as long as one is taken
KEPT = (f"redisson_lock_token:{{{NAME}}}", "redisson_lock_token:{y}", "redisson_lock_token:{z}")
OF_ONE_NAME = ("linear", "tokens", "order", "lease", "held", "handed", "forgotten", "late")  # say nothing of a pool, nor of a number
TOMBSTONES = ("rlock_tombstone:", "rlock_hold:")  # for as long as a late request is believed in

CRASHES = (signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT, signal.SIGILL, signal.SIGFPE)
UNHARMED = {"command-killed", "runner-ended"}  # rlock itself lives to give it back
KILLED = ("holder-killed", "waiter-killed")  # nobody is left to give anything back
UNREACHABLE, NOT_IN_TIME, LOST = 69, 75, 76
CONNECT_S = 5   # --connect-timeout: so long a server that cannot be reached at first is tried
NO_TIME_MS = 20  # with less left nothing is tried any more
ORPHANED_S = 0.5  # a busy machine may take so long
OVERTIME_S = 3  # a reply's time-out and what is to be given back, when a limit is over
LATE_S = 0.03   # a guardian that may not run before others, on a busy machine: README.md
HANDED_S = 1    # from a release to the next one's command; who was not woken comes after a lease, or 2.2 s
NOTICED_S = 0.2  # beside what rlock(7) says
HARMLESS = (*nemesis.PROCESS, "lock-deleted")  # servers answer all others as ever
# requests arrive
HEARD = (*nemesis.PROCESS, "scripts-flushed", "reply-lost", "reply-late", "reply-cut", "reply-trickles")
A_FEW = 0.3     # of the rlocks of a round
SLOW = 0.1      # of its time an rlock that never got an answer may have met a machine that stood still
PRESENT_S = 2   # so long a waiter may be out of reach, and keeps its place
RETRY_S = 1.1   # the longest pause before a request that failed is repeated
STANDSTILL_S = 0.25  # of the whole machine: enough to keep an rlock from what it has seconds for
TOLD_S = 0.3    # what rlock does last, and what is seen of it


class Anomaly(collections.namedtuple("Anomaly", "judge text at_ns")):
    """at_ns: where in the story to look."""

    def __str__(self):
        return f"{self.judge}: {self.text}"


def latest(violation):
    """The last instant that a violation names: its sections are printed with their times."""
    digits = [word.strip("[],.") for word in violation.split()]
    times = [int(word) for word in digits if word.isdigit() and len(word) > 10]
    return max(times, default=time.monotonic_ns())


def wanted_by(run):
    """How many permits, or the one lock; all, where that is not known."""
    if run is None:
        return PERMITS
    return int(run.command[run.command.index("--take") + 1]) if "--take" in run.command else 1


def seconds(ns):
    return f"{ns / 1e9:.3f} s"


class Judged:
    """A round's evidence. round: its crew, observers, faults, what did not end."""

    JUDGES = ("exclusion", "linear", "tokens", "order", "lease", "held", "noticed", "warned", "orphans", "crashed",
              "statuses", "waits", "itself", "handed", "forgotten", "late", "remains", "processes")

    def __init__(self, played):
        self.played, self.combo = played, played.combo
        self.faults = [fault for fault in played.faults if fault.begun_ns]
        self.is_mixed = played.combo.topology in redisson.SERVERS
        with open(played.crew.history, encoding="utf-8") as file:
            self.history = History(file, played.crew.beats)
        self.rule = Rule(RULES.get(self.combo.kind, "mutex"))
        self.runs = {run.process.pid: run for run in played.crew.runs}
        self.sections = collections.defaultdict(list)  # by owner
        for section in self.history.sections:
            self.sections[section.owner].append(section)
        self.scripts = {each.owner: each.script for each in self.history.sections if each.script}
        self.outlived = []  # (section, until when, when its lock was deleted)
        for server in played.topology.servers if len(played.observers) == 1 else ():
            for deleted_ns, owners in server.deletions:
                self.cut_short(deleted_ns, owners)
        self.checked = 0  # sections whose end was compared with their lease's
        self.linear_checks = collections.Counter()  # by verdict

    def cut_short(self, deleted_ns, owners):
        """Somebody deleted the lock: what they do until they notice it breaks no promise but `noticed`."""
        for section in [section for owner in owners for section in self.sections[owner]]:
            self.outlived.append((section, section.exit, deleted_ns))
            if section.enter < deleted_ns:
                section.exit = min(section.exit, deleted_ns)
            else:
                self.history.sections = [each for each in self.history.sections if each is not section]

    def anomalies(self):
        for name in self.JUDGES:
            if self.combo.kind in ("pool", "plain") and name in OF_ONE_NAME:
                continue
            for text, at_ns in getattr(self, name)():
                yield Anomaly(name, text, at_ns or latest(text))

    def run_of(self, owner):
        return self.runs.get(self.pid_of(owner))

    def pid_of(self, owner):
        """Of the script that calls it, where there is one."""
        return self.scripts.get(owner) or pid_of(owner)

    def ended_with(self, run):
        """A script whose lock was deleted is told so against what it was granted."""
        robbed = {self.pid_of(section.owner) for section, *_ in self.outlived}
        return LOST if run.status == CONTRADICTED and run.process.pid in robbed else run.status

    def is_outer(self, section):
        """Redisson has no guardian. Of several servers some may let the inner rlock in as one of its own: none of the
        two has them all."""
        return not (self.combo.kind == "nested" or self.is_mixed) or self.run_of(section.owner) is not None

    def calm(self, begin_ns, end_ns, but=()):
        """Between these no fault, other than those, of which it might have come, nor a machine that was
        too busy."""
        return not self.played.pulse.stalled(begin_ns, end_ns, STANDSTILL_S) and \
            not any(fault.begun_ns < end_ns and fault.name not in but
                    and (fault.ended_ns > begin_ns or fault.name in nemesis.LASTING) for fault in self.faults)

    def could_answer(self, until_ns):
        """Until then all servers could be reached for so long that a request that was lost, or waited
        for in vain, has been repeated."""
        before_s = self.combo.io_ms / 1000 + RETRY_S
        return self.calm(until_ns - int(before_s * 1e9), until_ns, HARMLESS)

    # --- sections --------------------------------------------------------------------------------

    def exclusion(self):
        """Nobody within who may not be: exclusive holders, readers and writers, permits, with every process of a
        command, to its last instant; nobody past a latch that is not open."""
        latches = self.combo.kind == "latch"
        violations = self.played.crew.violations() if latches else self.rule.violations(self.history)
        yield from ((text, 0) for text in violations)

    def linear(self):
        """Porcupine's word on acquisitions, releases and tokens: they could have come one after another, each between
        when it was asked for and when it was answered."""
        if not linear.program or self.combo.kind == "latch" or self.is_mixed:  # which have no tokens
            return
        sections = collections.defaultdict(list)
        for section in self.history.sections:
            sections[section.owner].append(section)
        verdict = linear.check(self.rule.text, linear.operations(sections, self.run_of))
        self.linear_checks[verdict] += 1
        if verdict == linear.UNSOUND:
            yield f"no order of the {len(sections)} acquisitions and their releases is one that {self.rule.text} " \
                  "allows", self.history.sections[-1].exit

    def tokens(self):
        """Each holder's is its own, and larger than those before it."""
        if self.combo.kind == "latch":  # gives out none
            return
        yield from ((text, 0) for text in bad_tokens(self.history.sections, self.rule))

    def order(self):
        """Of fair: whoever was seen in the queue enters before those who came later, unless a
        fault struck it: one that was stopped may have lost its place. A token that nobody has
        may be of a lock that was granted to it too late, and given back: that costs a turn.
        Of rw: a reader that came when a writer had waited for a while does not enter before it."""
        if self.combo.kind not in ("fair", "rw") or self.combo.topology.startswith("quorum") \
                or self.is_replaced() or (self.is_mixed and self.combo.kind == "rw"):
            return
        struck = {pid for pid, run in self.runs.items() if run.faults}
        sections = [each for each in self.history.sections if self.pid_of(each.owner) not in struck]
        numbered = [each for each in self.history.sections if each.token != "none"]
        tokens = {int(each.token) for each in numbered}
        overtakers = collections.defaultdict(dict)
        for first, then in ordered(sections, self.rule, 0):
            if then.enter < first.enter and self.could_stand(first):
                overtakers[first].setdefault(then.owner, then)
        for first, later in overtakers.items():
            before = max((int(each.token) for each in numbered if each.enter < first.queued), default=0)
            if len(later) > len({*range(before + 1, int(first.token))} - tokens):
                yield from ((text, 0) for text in out_of_order((first, then) for then in later.values()))

    def could_stand(self, section):
        """The servers were in reach for nearly all the time that it waited: who is not heard of for four
        seconds may be passed over."""
        if self.combo.kind == "rw":
            return self.calm(section.arrival, section.enter)
        after_ns = int(2 * self.combo.lease_s * 1e9)  # an answer may be so late
        spans = ((max(fault.begun_ns, section.arrival), min(fault.ended_ns + after_ns, section.enter))
                 for fault in self.faults if fault.name not in HARMLESS)
        gone_ns = sum(end_ns - begin_ns for begin_ns, end_ns in spans if begin_ns < end_ns)
        return gone_ns + self.played.pulse.stood_still_ns(section.arrival, section.enter) < PRESENT_S * 1e9

    def is_replaced(self):
        """A place in a line, other than a hold, is not waited for until the replicas have it."""
        return self.combo.topology in REPLACED and any(fault.name in nemesis.REPLACING for fault in self.faults)

    def lease(self):
        """No process of a command is alive when its lease is over by the server's own count: a majority's, of several; in
        a cluster the last master's."""
        ends = lease_ends(self.played.observers, self.played.topology.believed)
        for section in filter(self.is_outer, self.history.sections):
            end_ns, seen_ns = ends.get(section.owner, (0, 0))
            if seen_ns > section.enter:  # not of an earlier hold, which it gave back
                self.checked += 1
                late_ns = section.exit - end_ns
                if late_ns > LATE_S * 1e9 and not self.renewed_since(section, seen_ns):
                    yield f"alive {late_ns / 1e6:.1f} ms after the lease of its owner {section.owner}: {section}", section.exit

    def renewed_since(self, section, seen_ns):
        """What we know of its lease is too old: the server went out of sight just then."""
        run = self.run_of(section.owner)
        return run and any(at_ns > seen_ns - int(0.05e9) for at_ns in renewals(run))

    def held(self):
        """As long as a process of a command is alive, the server, or a majority, says that its owner
        holds the lock."""
        if self.combo.kind == "latch":  # is held by nobody
            return
        majority = len(self.played.observers) // 2 + 1
        if majority > 1 and any(fault.name in nemesis.LASTING for fault in self.faults):
            return  # one of them has ended a lease early, and another may be out of reach
        for section in filter(self.is_outer, self.history.sections):
            end_ns = section.exit - int(LATE_S * 1e9)
            without = [self.without(observer, section, end_ns) for observer in self.played.observers]
            without = [at_ns for at_ns in without if at_ns]
            if len(without) >= majority:
                yield f"{section.owner} is not a holder while its command runs: {section}", min(without)

    def without(self, observer, section, end_ns):
        """Of several servers: for good, for one that has lost it may be given it again."""
        samples = [*observer.samples_between(section.enter, end_ns)]
        if len(self.played.observers) > 1:
            samples = [*itertools.takewhile(lambda sample: section.owner not in sample.held, reversed(samples))][-1:]
        return next((sample.told_ns for sample in samples if section.owner not in sample.held), None)

    def noticed(self):
        """Whose lock is deleted ends within the time to a renewal and from SIGTERM to SIGKILL, with 76."""
        enough_ns = int((self.combo.lease_s * 2 / 3 + NOTICED_S) * 1e9)
        for section, until_ns, deleted_ns in self.outlived:
            run = self.run_of(section.owner)
            if self.combo.kind == "pool" and section.enter > deleted_ns:
                continue  # one of too few names, which it gave back, and took the names anew
            if run.faults or not self.could_answer(deleted_ns) or \
                    not self.calm(deleted_ns, deleted_ns + enough_ns, HARMLESS):
                continue  # nobody could tell it
            if until_ns > deleted_ns + enough_ns:
                yield f"alive {seconds(until_ns - deleted_ns)} after its lock was deleted: {section}", until_ns
            elif self.ended_with(run) != LOST and not was_unconfirmed(run):
                yield f"{run} ended with {run.status}, and its lock had been deleted", run.ended_ns

    def warned(self):
        """Who is killed because the lock is lost has been sent SIGTERM before, and could note it."""
        starved = [(fault.begun_ns, fault.ended_ns + int(1e9)) for fault in self.faults if fault.name == nemesis.STARVED]
        for section in self.history.sections:
            run = self.run_of(section.owner)
            if section.is_patient and not section.has_ended and not section.was_warned and run and not run.faults \
                    and run.status == LOST and not any(begin < section.exit < end for begin, end in starved) \
                    and not self.played.pulse.stalled(section.exit - int(ORPHANED_S * 1e9), section.exit):
                yield f"killed without SIGTERM before: {section}", section.exit

    def orphans(self):
        """What an rlock has started ends with it, when it is killed."""
        killed = {pid: run.ended_ns for pid, run in self.runs.items()
                  if any(fault.name == "holder-killed" for fault in run.faults)}
        for section in self.history.sections:
            late_ns = section.exit - killed.get(self.pid_of(section.owner), section.exit)
            if late_ns > ORPHANED_S * 1e9:
                yield f"alive {late_ns / 1e6:.1f} ms after its rlock was killed: {section}", section.exit

    # --- rlocks ----------------------------------------------------------------------------------

    def crashed(self):
        """No rlock ends by a fault of its own, however busy the machine is."""
        for run in self.runs.values():
            number = 0 if run.status is None else -run.status if run.status < 0 else run.status - 128  # told by a script
            if number in CRASHES:
                yield f"{run} ended by {signal.Signals(number).name}", run.ended_ns

    def statuses(self):
        """The command's own, when it came to its end; else only those that are explained: 76 and 69 by a fault of their
        time, 75 by a limit, a signal by the fault that sent it. Where fewer than half of the servers are struck, they
        explain nothing."""
        for why, at_ns in self.played.topology.failures:
            if not self.played.pulse.stalled(at_ns - int(self.combo.lease_s * 1e9), at_ns):
                yield why, at_ns
        cut_short = {self.pid_of(owner) for owner, own in self.sections.items()
                     if not all(each.has_ended for each in own)}
        entered = {*map(self.pid_of, self.sections)}
        for pid, run in self.runs.items():
            if not self.explained(run):
                yield f"{run} ended with {run.status}, which nothing explains", run.ended_ns
            elif run.enters and run.status == run.exit and not run.faults and (pid in cut_short or pid not in entered) \
                    and self.combo.kind != "nested":  # of several servers the inner one may own it
                yield f"{run} ended with {run.status}, and its command had not come to its end", run.ended_ns

    def explained(self, run):
        lasted_ms = (run.ended_ns - run.begun_ns) / 1e6
        if run.status == UNREACHABLE:
            enough_ms = CONNECT_S * 1000 if run.limit is None else run.limit
            return self.is_hit(run) and lasted_ms >= enough_ms - NO_TIME_MS
        if self.ended_with(run) == LOST:
            return self.is_hit(run)
        if run.status == NOT_IN_TIME:
            return run.limit is not None and lasted_ms >= run.limit
        return run.status == run.exit or any(run.status == -nemesis.SIGNALS[fault.name.split("-")[1]] for fault in run.faults)

    def is_hit(self, run):
        """There was a fault, or what it left for two leases and a second, while it ran: its own, or one
        of more servers than can be spared."""
        after_ns = int((self.combo.lease_s * 2 + 1) * 1e9)
        spared = self.combo.few and len(self.played.observers) > 1
        still_ns = self.played.pulse.stood_still_ns(run.begun_ns, run.ended_ns)
        return still_ns > (SLOW * (run.ended_ns - run.begun_ns) if run.status == UNREACHABLE else 0) or any(
            fault.begun_ns < run.ended_ns and fault.ended_ns + after_ns > run.begun_ns and
            (not spared or fault.name in (*nemesis.PROCESS, nemesis.STARVED)) for fault in self.faults)

    def waits(self):
        """Whoever waits gets in, or gives up at its limit, when all is well again."""
        for run in self.played.late:
            yield f"{run} had not ended {self.combo.settle_s} s after the last fault", run.ended_ns
        for run in self.played.crew.runs:
            lasted_s = (run.ended_ns - run.begun_ns) / 1e9
            if run.status in (UNREACHABLE, NOT_IN_TIME) and run.limit and not run.faults \
                    and lasted_s > run.limit / 1000 + OVERTIME_S:
                yield f"{run} was to wait {run.limit} ms, and waited {lasted_s:.1f} s", run.ended_ns

    def itself(self):
        """Nobody waits for itself: what was granted, and not heard of, is known when it is asked for again."""
        if self.combo.kind == "nested":  # the inner one says so as well, of an outer one that has lost it
            return
        for pid, run in self.runs.items():
            if any(pid_of(holder) == pid for holder in holders(run)):
                yield f"{run} waits for what it holds", run.ended_ns

    def handed(self):
        """Without faults: where one waits, a free lock is taken at once, and a latch that opens is passed."""
        if self.combo.faults or len(self.played.observers) > 1 or self.is_mixed:
            return
        for run, latch, open_ns in self.played.crew.passing() if self.combo.kind == "latch" else ():
            if run.ended_ns - open_ns > HANDED_S * 1e9:
                yield f"{run} passes {latch} {seconds(run.ended_ns - open_ns)} after it was opened", run.ended_ns
        if self.combo.kind == "latch":
            return
        in_all = PERMITS if self.combo.kind == "sem" else 1
        for wanted in sorted({wanted_by(run) for run in self.played.crew.runs}):
            def is_free(held, most=in_all - wanted):
                return sum(wanted_by(self.run_of(owner)) for owner in held) <= most

            for begin_ns, end_ns, owners in self.played.observers[0].free(is_free):
                holding = [self.run_of(owner) for owner in owners]
                waiting = [run for run in self.played.crew.runs if wanted_by(run) == wanted and run not in holding
                           and run.begun_ns + 0.2e9 < begin_ns and run.ended_ns > end_ns]
                if waiting and end_ns - begin_ns > HANDED_S * 1e9:
                    yield f"free for {seconds(end_ns - begin_ns)} while {waiting[0]} waits for it", end_ns

    # --- holds -----------------------------------------------------------------------------------

    def forgotten(self):
        """Without a fault in the way: no hold is left to its lease by an rlock that lives, nor a hold
        or a place in a line by one that has ended; and a dead one's hold ends with its lease. Where servers
        replace each other one that is not the master any more keeps what it had; of several independent ones
        not all that was given in vain can be given back, but most."""
        if self.combo.topology in ("sentinel", "cluster"):
            return
        left = [(text, hold.last_ns) for observer in self.played.observers for hold in observer.holds()
                if (run := self.run_of(hold.owner)) and (text := self.abandoned(hold, run))]
        if len(self.played.observers) == 1 or len(left) > max(2, len(self.runs) * A_FEW):
            yield from left
        for observer in self.played.observers:
            yield from self.places_left(observer)

    def abandoned(self, hold, run):
        past_s = (hold.last_ns - run.ended_ns) / 1e9
        if past_s > self.combo.lease_s + TOLD_S and self.could_answer(run.ended_ns) and \
                self.calm(run.ended_ns, hold.last_ns, HEARD):
            return f"{hold.owner} holds it {past_s:.3f} s after {run} has ended"
        until_ns = min(hold.end_ns, run.ended_ns)
        if {fault.name for fault in run.faults} - UNHARMED or run.status in (LOST, UNREACHABLE) \
                or not self.could_answer(until_ns) or was_unconfirmed(run):
            return None
        if past_s > TOLD_S:
            return f"{hold.owner} holds it {past_s:.3f} s after {run} has ended with {run.status}"
        ran_out = self.combo.kind != "handle" and hold.gone_ns and hold.last_ns > hold.end_ns - int(0.1e9)
        return f"{run} lives, and lets the lease of {hold.owner} run out" if ran_out else None

    def places_left(self, observer):
        seen = {}
        for sample in observer.samples:
            for owner in sample.places:
                run = self.run_of(owner)
                if run and sample.asked_ns > run.ended_ns + int(TOLD_S * 1e9):
                    seen[owner] = sample.asked_ns
        for owner, at_ns in seen.items():
            run = self.run_of(owner)
            if {fault.name for fault in run.faults} <= {"waiter-ended"} and self.could_answer(run.ended_ns):
                yield f"{owner} stands in line {seconds(at_ns - run.ended_ns)} after {run} has ended", at_ns

    def late(self):
        """What was asked for does not come about when its rlock has ended, and knew that it had given it back, nor
        when its command has lost it. Of several servers fewer than half may have such a hold: it is nobody's lock."""
        if self.combo.topology in ("sentinel", "cluster"):
            return  # a replica that catches up has seen less than its master
        several = len(self.played.observers) > 1
        after_end = collections.defaultdict(list)
        for observer in self.played.observers:
            for hold in observer.holds():
                run, sections = self.run_of(hold.owner), self.sections[hold.owner]
                if run is None or any(fault.name in KILLED for fault in run.faults) or run.status == UNREACHABLE \
                        or was_unconfirmed(run):
                    continue
                if hold.after_ns > run.ended_ns:
                    after_end[hold.owner].append(hold)
                elif not several and sections and hold.after_ns > sections[0].enter:
                    yield f"{hold.owner} has lost it, and gets it again, without a word", hold.first_ns
        for owner, holds in after_end.items():
            if len(holds) > len(self.played.observers) // 2:
                run, hold = self.run_of(owner), holds[-1]
                yield (f"{owner} gets it {seconds(hold.after_ns - run.ended_ns)} after {run} has "
                       f"ended with {run.status}", hold.first_ns)

    # --- what remains ----------------------------------------------------------------------------

    def remains(self):
        """Of the lock, tokens and a semaphore's count, and permits of the dead whose lease is over, which come back when
        somebody looks; no permit is missing, and nothing is ever without an end."""
        for observer in self.played.observers:
            for key, at_ns in observer.without_end.items():
                if not is_kept(key, self.combo.kind) and not self.is_redissons(key) and key != PERMITS_TAKEN and not self.is_latch(key):
                    yield f"{key} has no TTL", at_ns
        set_back = any(fault.name in nemesis.LASTING for fault in self.faults)
        for server, key, ttl_ms in self.played.remains:
            if set_back and ttl_ms > 0 or self.is_redissons(key):
                continue  # what the dead held lasts for as much longer
            if self.is_mixed and ttl_ms > 0 and key.startswith("rlock_queue"):
                continue  # places of the dead, whom none of Redisson's threads, which entered last, looks for
            if self.is_replaced() and self.is_latch(key):
                continue  # a count-down may have found it open on a master that nobody follows any more, and said so
            if self.is_latch(key) and key in self.played.crew.left:
                continue  # nobody counted it down: another one was set in its stead
            yield f"{key} is left on {server}, with a TTL of {ttl_ms} ms", time.monotonic_ns()

    def is_redissons(self, key):
        """Its queue has no end, and those of its threads that are dead stay there."""
        return self.is_mixed and self.combo.kind == "fair" and key.startswith("redisson_lock_")

    def is_latch(self, key):
        return self.combo.kind == "latch" and key in self.played.crew.counts

    def processes(self):
        """None of any command or rlock is left."""
        for pid in self.played.left_behind:
            yield f"process {pid} is left", time.monotonic_ns()


def pid_of(owner):
    """UUID:PID@HOST"""
    return int(owner.rpartition(":")[2].partition("@")[0]) if "@" in owner else 0


def is_kept(key, kind):
    return key in KEPT or (kind in ("sem", "plain") and key == NAME)


def lease_left_ms(server):
    """Of all permits that are taken; -2: what is left is the dead's, and comes back as soon as somebody looks."""
    last = server.call("ZRANGE", PERMITS_TAKEN, "-1", "-1", "WITHSCORES")
    seconds, micros = map(int, server.call("TIME"))
    left_ms = int(last[1]) - (seconds * 1000 + micros // 1000) if last else 0
    return left_ms if left_ms > 0 else -2


def remains_of(server, kind):
    """(server, key, TTL) of what should not be there, or not without a TTL."""
    keys = server.call("KEYS", "*")
    for key in keys:
        ttl_ms = server.call("PTTL", key)
        if kind == "sem" and key == PERMITS_TAKEN:
            ttl_ms = lease_left_ms(server)
        if ttl_ms != -2 and not is_kept(key, kind) and not (key.startswith(TOMBSTONES) and ttl_ms > 0):
            yield server.socket, key, ttl_ms
    if kind not in ("sem", "plain") or NAME not in keys:
        return
    count, taken = server.call("GET", NAME), server.call("ZCARD", PERMITS_TAKEN)
    if count and int(count) + taken != PERMITS:
        yield server.socket, f"{NAME}, {count} of {PERMITS} permits and {taken} taken,", 0
