"""What was left out, for the last line of tests/run: the same file that tests/lib/notes.bash writes to."""
import os


def note(kind, what, why):
    path = os.environ.get("RLOCK_TEST_NOTES")
    if path:
        with open(path, "a", encoding="utf-8") as file:
            file.write(f"{kind}\t{what}\t\t{why}\n")


def left_out(what, why, switch=None):
    """Says so; it is a failure of tests/run unless the environment variable SWITCH is 1, or there is none."""
    print(f"NOT RUN: {what}: {why}", flush=True)
    note("excused" if switch is None or os.environ.get(switch) == "1" else "left", what, why)
