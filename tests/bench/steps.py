"""One measurement after the other, none of which may take for ever."""
import signal
import sys
import time

TOTAL_S, STEP_S = 570, 90


def too_long(*_):
    raise TimeoutError("it takes too long")


class Steps:
    def __init__(self):
        self.end, self.failed = time.monotonic() + TOTAL_S, False
        signal.signal(signal.SIGALRM, too_long)

    def step(self, what, function, *words):
        """What the function returns; None, and a word why, where it takes too long or fails."""
        began = time.monotonic()
        signal.alarm(max(1, int(min(STEP_S, self.end - began))))
        result = None
        try:
            result = function(*words)
            said = f"{time.monotonic() - began:.1f} s"
        except TimeoutError as error:
            said = f"left out: {error}"
        except Exception as error:  # pylint: disable=broad-except
            self.failed, said = True, f"failed: {error!r}"
        finally:
            signal.alarm(0)
        print(f"bench: {what}: {said}", file=sys.stderr, flush=True)
        return result
