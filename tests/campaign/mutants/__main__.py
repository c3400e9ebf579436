"""The hunt: see run."""
import collections
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

from mutants import MUTANTS

PROJECT = pathlib.Path(__file__).resolve().parent.parent.parent.parent
MINUTES = os.environ.get("MINUTES", "3")
JOBS = str(4 * os.cpu_count())
NERVOUS, OFTEN = ("forgotten", "statuses", "warned"), 3
SOURCES = ("CMakeLists.txt", "cmake", "cmd", "completions", "lib", "lua", "man", "tests", "LICENSE", "README.md")


def copy_sources(tree):
    """Of the project as it stands here."""
    subprocess.run(["cp", "-R", *(PROJECT / source for source in SOURCES), tree], check=True)


def build(tree):
    """Returns the program."""
    made = os.path.join(tree, "build")
    if not os.path.exists(made):
        subprocess.run(["cmake", "-S", tree, "-B", made, "-G", "Ninja", "-DRLOCK_TESTS=OFF"], check=True,
                       stdout=subprocess.DEVNULL)
    subprocess.run(["ninja", "--quiet", "-C", made, "rlock_cmd"], check=True, stdout=subprocess.DEVNULL)
    return os.path.join(made, "cmd/rlock")


def replace(tree, edits):
    """Returns what undoes it."""
    before = {}
    for name, old, new in edits:
        path = pathlib.Path(tree, name)
        text = path.read_text(encoding="utf-8")
        before.setdefault(path, text)
        if text.count(old) != 1:
            sys.exit(f"{name}: {text.count(old)} times, not once: {old.strip()}")
        path.write_text(text.replace(old, new), encoding="utf-8")
    return lambda: [path.write_text(text, encoding="utf-8") for path, text in before.items()]


def hunt(tree, rlock, where):
    """Returns the judges that saw something, and what all was printed. Caught is what would fail the run: what no
    busy machine explains, or what is seen again when the round is played alone; and what is seen often."""
    campaign = [os.path.join(tree, "tests/campaign/run"), "--minutes", MINUTES, "--jobs", JOBS, *where]
    surroundings = {"CAMPAIGN_LOAD": "1000", **os.environ, "RLOCK_BIN": rlock}
    surroundings.pop("RLOCK_TEST_NOTES", None)  # what is left out here is no news
    said, judges, seen_again = [], collections.Counter(), False
    with subprocess.Popen(campaign, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          env=surroundings) as running:
        try:
            for line in running.stdout:
                said.append(line)
                if line.startswith("seen by "):
                    judges.update(line.removeprefix("seen by ").strip().split(", "))
                seen_again = seen_again or line.startswith("again, alone: ") and ", 0 anomalies" not in line
                if seen_again or line.startswith("evidence: ") and is_caught(judges):
                    break
        finally:
            running.terminate()
    return (", ".join(sorted(judges)) if seen_again or is_caught(judges) else None), "".join(said)


def is_caught(judges):
    """A busy machine makes some of them say something of an rlock that breaks nothing, but not often."""
    return any(times >= (OFTEN if judge in NERVOUS else 1) for judge, times in judges.items())


def fit(and_build):
    """Whether all edits can be made, and each rlock be built."""
    with tempfile.TemporaryDirectory(prefix="mutants-") as tree:
        copy_sources(tree)
        for mutant in MUTANTS:
            undo = replace(tree, mutant.edits)
            try:
                if and_build:
                    build(tree)
            except subprocess.CalledProcessError:
                sys.exit(f"does not build: {mutant.name}")
            undo()
    print(f"{len(MUTANTS)} mutants")


def chosen_by(words):
    """--turn N: so many, others each hour, until all had their turn."""
    if words[:1] == ["--turn"]:
        count = int(words[1])
        turn = int(time.time() // 3600) * count
        return [MUTANTS[(turn + i) % len(MUTANTS)] for i in range(count)]
    return [mutant for mutant in MUTANTS if not words or any(word in mutant.name for word in words)]


def main():
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit("ended"))  # and the hunt with it
    if sys.argv[1:] in (["--check"], ["--build"]):
        return fit(and_build=sys.argv[1] == "--build")
    chosen = chosen_by(sys.argv[1:])
    missed = 0
    print("| mutant | caught by | seconds |\n| --- | --- | --: |", flush=True)
    with tempfile.TemporaryDirectory(prefix="mutants-") as tree:
        copy_sources(tree)
        for mutant in chosen:
            undo = replace(tree, mutant.edits)
            rlock, begun = build(tree), time.monotonic()
            judge, output = hunt(tree, rlock, mutant.where)
            undo()
            missed += not judge
            print(f"| {mutant.name} | {judge or 'MISSED'} | {time.monotonic() - begun:.0f} |", flush=True)
            if folder := os.environ.get("CAMPAIGN_LOGS"):
                name = mutant.name.replace(" ", "-").replace("`", "") + ".log"
                pathlib.Path(folder, name).write_text(output, encoding="utf-8")
    print(f"\n{len(chosen) - missed} of {len(chosen)} caught")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
