"""All states that can follow on the first, breadth first, each looked at once; and from each the end: all goes well
from there on, everybody who waits gets the lock and gives it back, and nothing is left."""
import time
from collections import deque
from itertools import islice

import promises
from promises import Broken, must
from stage import Unknown

FOR_ALL = 99  # steps that never end
AT_ONCE = 64  # states whose scripts are run in one go


class Found(Exception):
    """A promise is broken, and how it came to that."""


class Search:
    def __init__(self, model):
        self.model = model
        self.parents, self.best, self.ends = {}, {}, {}
        self.transitions, self.whole, self.found = 0, False, None

    def __str__(self):
        return ("{} states, {} transitions, {} runs of a script, at most {} commands, "
                "{:.0f} s{}").format(*self.figures, self.seconds, "" if self.whole else ", not all")

    def play(self, most, seconds):
        began = time.monotonic()
        try:
            self.whole = self.run(most, seconds)
        except Found as found:
            self.found = str(found)
        self.seconds = time.monotonic() - began
        self.figures = len(self.parents), self.transitions, len(self.model.answers), self.model.most
        del self.parents, self.best, self.ends, self.model  # which are large

    def is_new(self, state):
        """Not seen with as much in the purse, or more."""
        key, purse = state._replace(purse=None), state.purse
        seen = self.best.get(key, ())
        if any(each.faults >= purse.faults and each.times >= purse.times and each.mark == purse.mark for each in seen):
            return False
        self.best[key] = seen + (purse,)
        return True

    def run(self, most, seconds):
        """Looks at so many states at most, for so long at most. Returns whether these are all."""
        until = time.monotonic() + (seconds or 10 ** 9)
        first = self.model.first
        self.is_new(first)
        self.parents[first] = None
        waiting = deque([first])
        while waiting:
            if most and len(self.parents) > most or time.monotonic() > until:
                return False
            states = [waiting.popleft() for _ in range(min(AT_ONCE, len(waiting)))]
            fresh = []
            self.together(self.go_on(state, action, fresh) for state in states for action in self.model.actions(state))
            self.together(self.look_at(state) for state in fresh)
            waiting.extend(fresh)
        return True

    def together(self, tasks):
        """Tasks yield what the server is to be asked before they go on: all that many want is asked at once."""
        tasks = iter(tasks)
        while some := list(islice(tasks, 50 * AT_ONCE)):
            while some:
                questions, others = {}, []
                for task in some:
                    question = next(task, None)
                    if question is not None:
                        questions[question] = True
                        others.append(task)
                self.model.learn(list(questions))
                some = others

    def known(self, state, action):
        """The state after it, once the server has been asked."""
        while True:
            try:
                return self.model.follow(state, action)
            except Unknown as unknown:
                yield unknown.args

    def go_on(self, state, action, fresh):
        try:
            after = yield from self.known(state, action)
        except Broken as error:
            raise Found(self.story(state, action, error)) from error
        self.transitions += 1
        if self.is_new(after):
            self.parents[after] = state, action
            fresh.append(after)

    def look_at(self, state):
        try:
            yield from self.check(state)
        except Broken as error:
            raise Found(self.story(*self.parents[state], error)) from error

    def check(self, state):
        promises.check(self.model, state)
        yield from self.end(state)

    # --- the end -------------------------------------------------------------------------------------

    def end(self, state):
        model = self.model
        if model.roles[0].kind == "plain" and state.purse.mark & promises.TROUBLE:
            return
        known = [each._replace(steps=FOR_ALL) if each.phase != "dead" else each for each in model.known(state)]
        state = model.canonical(state.redis, known, state.purse._replace(faults=0, times=0))
        bound = promises.bound(model, state)
        path = []
        while state not in self.ends:
            must(len(path) < 500, "it goes on without end")
            action, ms = self.next(state)
            path.append((state, ms, action))
            if action is None:
                self.ends[state] = 0
                promises.check_end(model, state)
                break
            try:
                state = yield from self.known(state, action)
            except Broken as error:
                raise Broken(f"{error}; in the end: {[each[2] for each in path]}") from error
        total = self.ends[state]
        for state, ms, _ in reversed(path):
            total = self.ends[state] = max(total + ms, self.ends.get(state, 0))
        must(total <= bound, f"who waits gets it after {total} ms, not {bound}: {[each[2] for each in path]}")

    def next(self, state):
        """What happens when all goes well, and the ms that it takes."""
        known = self.model.known(state)
        awake = [(i, each) for i, each in enumerate(known) if not each.stopped]
        for i, each in awake:
            if each.phase == "ask":
                return ("sends", i, each.asked.what), 0
            if each.phase == "hold":
                return ("sends", i, "give"), 0
            if self.model.must_listen(each):
                return ("listens", i), 0
        for i, each in awake:
            if each.phase == "wait" and each.due <= 0:
                return ("sends", i, "take"), 0
        dues = [each.due for _, each in awake if each.phase == "wait"]
        if dues:
            return ("later", min(dues)), min(dues)
        for i, each in enumerate(known):
            if each.strays:
                return ("arrives", i, 0), 0
        return None, 0

    # --- the story -----------------------------------------------------------------------------------

    def story(self, state, action, error):
        steps = [(state, action)]
        while before := self.parents[steps[0][0]]:
            steps.insert(0, before)
        return "\n".join([str(error), *(self.line(*step) for step in steps), *self.describe(state)])

    def describe(self, state):
        lines = [f"  client {i}: {each}" for i, each in enumerate(self.model.known(state))]
        return lines + [f"  redis {i - 1}: {part}" for i, part in enumerate(self.model.redis(state)) if part]

    def line(self, state, action):
        who = ", ".join(f"{each.phase}{'!' if each.asked else ''}" for each in self.model.known(state))
        return f"[{who}] {' '.join(map(str, action))}"
