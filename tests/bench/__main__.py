"""What rlock costs, measured side by side with others, and printed as Markdown: README.md here."""
import argparse
import os
import pathlib
import signal
import sys
import tempfile
import time
import types

HERE = pathlib.Path(__file__).resolve().parent
PROJECT = HERE.parent.parent
sys.path.append(str(HERE.parent / "tools"))

import learn  # noqa: E402
import report  # noqa: E402
import scripts  # noqa: E402
import starts  # noqa: E402
import waiters  # noqa: E402
from machine import free_ports  # noqa: E402
from server import Server  # noqa: E402
from tools import Tools  # noqa: E402

MARKS = "<!-- tests/bench/run --readme -->\n", "<!-- end -->\n"

FULL = types.SimpleNamespace(rounds=9, pairs=1000, starts=1000, counts=(1, 10, 100, 1000), turns=100, limit_s=30)
QUICK = types.SimpleNamespace(rounds=3, pairs=200, starts=100, counts=(1, 10), turns=10, limit_s=10)


class Steps:
    """One measurement after the other."""

    failed = False

    def step(self, what, function, *words):
        """What the function returns; None, and a word why, where it fails."""
        began, result = time.monotonic(), None
        try:
            result = function(*words)
            said = f"{time.monotonic() - began:.1f} s"
        except Exception as error:  # pylint: disable=broad-except
            self.failed, said = True, f"failed: {error!r}"
        print(f"bench: {what}: {said}", file=sys.stderr, flush=True)
        return result


def of_scripts(tools, size, step):
    theirs = {}
    with Server(*free_ports(1)) as server:
        if learn.has_redisson(tools.build):
            theirs = step("Redisson's scripts", learn.of_redisson, tools, server) or {}
        figures = {kind: step(f"scripts of {kind}", scripts.measure, tools, server, kind,
                              theirs.get(kind), size) for kind in learn.KINDS}
    yield report.scripts({kind: found for kind, found in figures.items() if found})


def of_starts(tools, size, step):
    if figures := step("a command under a free lock", starts.measure, tools, size):
        yield report.starts(figures)


def of_waiters(tools, size, step):
    figures = {(kind, count): step(f"{count} waiters of {kind}", waiters.measure, tools, kind,
                                   count, size)
               for kind in ("run", "fair") for count in size.counts}
    yield report.waiters({what: found for what, found in figures.items() if found})


SECTIONS = {"scripts": of_scripts, "starts": of_starts, "waiters": of_waiters}


def write_readme(text):
    """Between the two marks."""
    file = HERE / "README.md"
    before, mark, rest = file.read_text(encoding="utf-8").partition(MARKS[0])
    after = rest[rest.index(MARKS[1]):]
    file.write_text(before + mark + text + after, encoding="utf-8")


def arguments():
    parser = argparse.ArgumentParser(prog="run", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small ones, within a minute")
    parser.add_argument("--readme", action="store_true", help="put them into README.md here")
    parser.add_argument("section", nargs="*", help=f"only these of {', '.join(SECTIONS)}")
    args = parser.parse_args()
    if unknown := set(args.section) - set(SECTIONS):
        parser.error(f"no such section: {', '.join(unknown)}")
    return args


def clean_environment(folder):
    for name in [name for name in os.environ if name.startswith("RLOCK_")]:
        if name != "RLOCK_NO_INTEROP":
            del os.environ[name]
    os.environ |= {"TMPDIR": folder, "RLOCK_CONFIG": "/dev/null"}


def main():
    args, steps = arguments(), Steps()
    rlock = pathlib.Path(os.environ.get("RLOCK_BIN", PROJECT / "build/cmd/rlock")).resolve()
    if not rlock.exists():
        sys.exit(f"bench: no {rlock}: build it, or set RLOCK_BIN")
    with tempfile.TemporaryDirectory(prefix="rlock-bench-") as folder:
        clean_environment(folder)
        tools = Tools(rlock, folder)
        texts = []
        for section in args.section or SECTIONS:
            texts += SECTIONS[section](tools, QUICK if args.quick else FULL, steps.step)
    text = "\n\n".join([", ".join(tools.versions) + ".", *texts]) + "\n"
    print(text)
    if args.readme:
        write_readme(text)
    return steps.failed


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    sys.exit(main())
