"""The history of a round, asked of Porcupine (porcupine/main.go), where Go is there to build it."""
import os
import pathlib
import shutil
import subprocess

SOURCE = pathlib.Path(__file__).with_name("porcupine")
SOUND, UNSOUND, UNDECIDED = 0, 1, 2
NEVER = 2**63 - 1  # when a release was over that nobody confirmed
program = None  # who is to be asked, if anybody


def build(folder):
    """Returns why there is no program, or "" when there is one."""
    global program
    made = os.path.join(folder, "linearizable")
    if not shutil.which("go"):
        return "there is no go"
    built = subprocess.run(["go", "build", "-o", made, "."], cwd=SOURCE, stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, text=True, check=False)
    if built.returncode != 0:
        return built.stdout.strip().splitlines()[-1]
    program = made
    return ""


def operations(sections, run_of):
    """A line for each acquisition and each release: what porcupine/main.go reads. sections: of each owner."""
    for owner, own in sections.items():
        run, first = run_of(owner), min(own, key=lambda section: section.enter)
        begun_ns = run.begun_ns if run else first.arrival
        left_ns = max(section.exit for section in own)
        # Whose rlock ended by itself has given it back by then; of others nobody knows when it was free.
        ended = run and run.status == run.exit and not run.faults and run.ended_ns >= left_ns
        about = f"{first.kind} {max(section.permits for section in own)} {first.token}"
        yield f"{owner} acquire {about} {begun_ns} {first.enter}"
        yield f"{owner} release {about} {left_ns} {run.ended_ns if ended else NEVER}"


def check(model, lines):
    """SOUND, UNSOUND or UNDECIDED."""
    done = subprocess.run([program, model], input="\n".join(lines), text=True, check=False)
    if done.returncode > UNDECIDED:
        raise ValueError(f"{program} {model}: status {done.returncode}")
    return done.returncode
