"""Are the judges any good? Each meets a lock client that breaks its promise (fakes.py)."""
import os
import pathlib
import shlex
import signal
import sys
import tempfile

import report
from play import Combo, Played

# Who breaks what, on which topology, as which kind, under which faults; and who must see it.
CONTROLS = (
    ("no_lock", "socket", "run", (), "exclusion"),
    ("no_lock", "socket", "rw", (), "exclusion"),
    ("no_lock", "socket", "sem", (), "exclusion"),
    ("no_renewal", "socket", "run", (), "exclusion"),
    ("broken_script", "socket", "run", (), "exclusion"),
    ("old_token", "socket", "run", (), "tokens"),
    ("no_queue", "socket", "fair", (), "order"),
    ("sleeping_guardian", "tcp", "run", ("refused", "paused"), "lease"),
    ("careless_guardian", "socket", "run", ("holder-killed",), "orphans"),
    ("other_status", "socket", "run", (), "statuses"),
    ("endless", "socket", "run", (), "waits"),
    ("left_key", "socket", "run", (), "remains"),
    ("left_process", "socket", "run", (), "processes"),
    ("idle", "socket", "run", ("holder-killed",), "never bit"),
)
FAKES = tuple(dict.fromkeys(control[0] for control in CONTROLS))
TURNS = 3  # two have to meet, which a busy machine may prevent
OUTLAST = ("no_renewal", "sleeping_guardian", "careless_guardian")  # need commands that outlast a lease


def write_client(folder, fake, rlock):
    path = os.path.join(folder, "client")
    command = shlex.join([sys.executable, "-B", str(pathlib.Path(__file__).with_name("fakes.py")), fake, rlock])
    with open(path, "w", encoding="utf-8") as file:
        file.write(f'#!/bin/sh\nexec {command} "$@"\n')
    os.chmod(path, 0o755)
    return path


def seen(control, turn, rlock, section):
    """The names of those who saw anything."""
    fake, topology, kind, faults, _ = control
    with tempfile.TemporaryDirectory() as folder:
        played = Played(Combo(f"{fake} {turn}", topology, kind, list(faults), 6 if faults else 1.5,
                              lease_s=1, long_share=0.5 if fake in OUTLAST else 0, settle_s=4),
                        write_client(folder, fake, rlock), section)
    for pid in played.left_behind:
        os.kill(pid, signal.SIGKILL)
    played.forget()
    total = report.Total(fake, rlock)
    total.add(played)
    return {anomaly.judge for anomaly in played.anomalies} | ({"never bit"} if total.never_bit() else set())


def all_caught(fakes, rlock, section):
    missed, chosen = 0, [control for control in CONTROLS if control[0] in fakes]
    for control in chosen:
        for turn in range(TURNS):
            found = seen(control, turn, rlock, section)
            caught = control[-1] in found
            if caught:
                break
        missed += not caught
        print(f"{control[0]} as {control[2]}: {'caught' if caught else 'MISSED'} by {control[-1]}"
              f" (seen by {', '.join(sorted(found)) or 'nobody'})", flush=True)
    print(f"{len(chosen) - missed} of {len(chosen)} controls caught")
    return missed == 0
