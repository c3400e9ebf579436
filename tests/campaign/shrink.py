"""The fewest faults and workers with which a round still fails: what the others did does not matter."""
import copy

import rounds

TRIES = 8  # of a round that may fail, for it depends on who is faster


def ddmin(items, fails):
    """A part of items that fails and does not without any one of them. fails(items) is known. By halves, then by
    quarters, and so on (Zeller's ddmin)."""
    parts = 2
    while len(items) > 1:
        size = -(-len(items) // parts)
        pieces = [items[at:at + size] for at in range(0, len(items), size)]
        rests = [[item for item in items if item not in piece] for piece in pieces] if len(pieces) > 2 else []
        found = next((some for some in (*pieces, *rests) if fails(some)), None)
        if found is not None:
            parts = 2 if found in pieces else max(parts - 1, 2)
            items = found
        elif size == 1:
            break
        else:
            parts = min(parts * 2, len(items))
    return items


class Shrinker:
    def __init__(self, combo, jobs, rlock, section):
        self.combo, self.jobs, self.rlock, self.section = combo, jobs, rlock, section
        self.outcome = None  # of the smallest that has failed so far

    def fails(self, only=None, workers=None):
        """Whether it fails as the whole did, by one of the same judges."""
        combo = copy.copy(self.combo)
        combo.only = self.combo.only if only is None else only
        combo.workers = workers or self.combo.workers
        played = rounds.play_all([combo] * TRIES, self.jobs, self.rlock, self.section)
        wanted = {*self.outcome.judges} if self.outcome else None
        for outcome in played:
            if outcome and outcome.judges and (wanted is None or wanted & {*outcome.judges}):
                played.close()
                print(f"fails: {combo}", flush=True)
                self.combo, self.outcome = combo, outcome
                return True
        print(f"does not, in {TRIES} tries: {combo}", flush=True)
        return False

    def shrink(self):
        """Returns the Outcome, or None if it never failed."""
        if not self.fails():
            return None
        if not self.outcome.numbers or not self.fails([]):
            ddmin(self.outcome.numbers, self.fails)
        while self.combo.workers > 1 and self.fails(workers=self.combo.workers - 1):
            continue
        return self.outcome
