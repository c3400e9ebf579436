"""All states of the scripts: see README.md."""
import argparse
import datetime
import pathlib
import platform
import re
import signal
import sys

HERE = pathlib.Path(__file__).resolve().parent
PROJECT = HERE.parent.parent
sys.path[:0] = [str(HERE), str(HERE.parent / "tools"), str(HERE.parent / "tools/scripts")]

from controls import CONTROLS  # noqa: E402
from scenes import SCENES  # noqa: E402
from server import Server  # noqa: E402

BEGIN, END = "<!-- figures: written by run --report -->\n", "<!-- end of the figures -->\n"


def options():
    parser = argparse.ArgumentParser(prog="run")
    parser.add_argument("--quick", action="store_true", help="small scenes, in seconds")
    parser.add_argument("--scene", action="append", choices=SCENES)
    parser.add_argument("--size", help="clients, requests of each, faults, steps of time: 3,4,1,2")
    parser.add_argument("--most", type=int, help="so many states of each, then stop")
    parser.add_argument("--seconds", type=float, help="so long for each, then stop")
    parser.add_argument("--controls", action="store_true", help="broken scripts, which must all be found")
    parser.add_argument("--report", action="store_true", help="write REPORT.md")
    parser.add_argument("--scripts", default=PROJECT / "build/lib/lua", help="folder of the whole scripts")
    return parser.parse_args()


def played(args, scene, size, broken=None):
    """A search, and what came of it."""
    with Server() as server:
        search = scene.search(server, args.scripts, size, broken)
        search.play(args.most, args.seconds)
        search.version = server.version
    return search


def report(rows):
    """The figures, written into REPORT.md."""
    lines = [f"{datetime.date.today()}: redis-server {rows[0][2].version}, {platform.system()} {platform.release()}, "
             f"Python {platform.python_version()}. {sum(search.figures[0] for *_, search in rows)} states, "
             f"{sum(search.transitions for *_, search in rows)} transitions, "
             f"{sum(bool(search.found) for *_, search in rows)} broken promises.", "",
             "| scene | states: by clients, requests of each, faults, steps of time | transitions | runs of a script "
             "| most commands |", "| --- | --- " + "| --: " * 3 + "|"]
    for scene in dict.fromkeys(name for name, *_ in rows):
        of = [(size, search) for name, size, search in rows if name == scene]
        states = "; ".join(f"{','.join(map(str, size))}: {search.figures[0]}{'' if search.whole else ' of more'}"
                           for size, search in of)
        _, transitions, runs, commands = zip(*(search.figures for _, search in of))
        lines.append(f"| {scene} | {states} | {sum(transitions)} | {sum(runs)} | {max(commands)} |")
    page = HERE / "REPORT.md"
    page.write_text(re.sub(f"{re.escape(BEGIN)}.*{re.escape(END)}", lambda _: BEGIN + "\n".join(lines) + "\n" + END,
                           page.read_text(), flags=re.DOTALL))


def play(args):
    rows, bad = [], 0
    for name in args.scene or SCENES:
        scene = SCENES[name]
        sizes = [tuple(map(int, args.size.split(",")))] if args.size else scene.quick if args.quick else scene.full
        for size in sizes:
            search = played(args, scene, size)
            rows.append((name, size, search))
            print(f"{name} {','.join(map(str, size))}: {search}", flush=True)
            if search.found:
                bad += 1
                print("broken promise:", search.found, flush=True)
    if args.report:
        report(rows)
    return bad


def play_controls(args):
    bad, args.most = 0, args.most or 20000
    for name, control in CONTROLS.items():
        search = played(args, SCENES[control.scene], control.size, {control.script: [(control.old, control.new)]})
        caught = search.found is not None and control.said in search.found.splitlines()[0]
        bad += not caught
        print(f"{'caught' if caught else 'NOT CAUGHT'}: {name}, {search}", flush=True)
        if not caught:
            print(search.found, flush=True)
    print(f"{len(CONTROLS) - bad} of {len(CONTROLS)} controls caught")
    return bad


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # the server goes, too
    args = options()
    return 1 if (play_controls if args.controls else play)(args) else 0


if __name__ == "__main__":
    sys.exit(main())
