"""Are the judges any good? Each meets a lock client that breaks its promise (fakes)."""
import os
import pathlib
import tempfile

import linear
import report
import rounds
from play import Combo, Played

# Who breaks what, on which topology, as which kind, under which faults; and who must see it.
CONTROLS = (
    ("no_lock", "socket", "run", (), ("exclusion", "linear", "held")),
    ("no_lock", "socket", "rw", (), ("exclusion", "linear")),
    ("no_lock", "socket", "sem", (), ("exclusion", "linear")),
    ("no_renewal", "socket", "run", (), ("exclusion",)),
    ("broken_script", "socket", "run", (), ("exclusion",)),
    ("old_token", "socket", "run", (), ("tokens", "linear")),
    ("no_queue", "socket", "fair", (), ("order",)),
    ("sleeping_guardian", "tcp", "run", ("refused", "paused"), ("lease",)),
    ("sleeping_guardian", "socket", "run", ("lock-deleted",), ("noticed",)),
    ("unreplicated", "sentinel", "run", ("isolated",), ("exclusion",)),
    ("abrupt", "socket", "run", (), ("warned",)),
    ("careless_guardian", "socket", "run", ("holder-killed",), ("orphans",)),
    ("forgetful", "socket", "run", (), ("forgotten",)),
    ("revenant", "socket", "run", (), ("late",)),
    ("puzzled", "socket", "run", (), ("itself",)),
    ("deaf", "socket", "run", (), ("handed",)),
    ("crashing", "socket", "run", (), ("crashed",)),
    ("other_status", "socket", "run", (), ("statuses",)),
    ("endless", "socket", "run", (), ("waits",)),
    ("left_key", "socket", "run", (), ("remains",)),
    ("left_process", "socket", "run", (), ("processes",)),
    ("idle", "socket", "run", ("holder-killed",), ("never bit",)),
)
AT_ONCE = 3
TURNS = 3  # two have to meet, which a busy machine may prevent
SECONDS = {"deaf": 4, "no_queue": 4}
TOGETHER = ("deaf",)  # are seen when nobody else comes
# Need commands that outlast a lease:
OUTLAST = ("abrupt", "deaf", "no_renewal", "sleeping_guardian", "unreplicated", "careless_guardian")


def seen(control, turn, rlock, section):
    """The names of those who saw anything."""
    fake, topology, kind, faults, _ = control
    with tempfile.TemporaryDirectory() as folder:
        client = os.path.join(folder, fake)
        os.symlink(pathlib.Path(__file__).with_name("fakes"), client)
        played = Played(Combo(f"{fake} {turn}", topology, kind, list(faults), SECONDS.get(fake, 6 if faults else 1.5),
                              lease_s=1, long_share=0.5 if fake in OUTLAST else 0, settle_s=8, workers=4,
                              pace="together" if fake in TOGETHER else "each"),
                        client, section)
    total = report.Total(fake, rlock)
    total.add(rounds.Outcome(played))
    played.forget()
    return {anomaly.judge for anomaly in played.anomalies} | ({"never bit"} if total.never_bit(faults) else set())


def asked(control):
    """The judges that must see it, of those that are there."""
    return {judge for judge in control[-1] if judge != "linear" or linear.program}


def is_caught(control, rlock, section):
    for turn in range(TURNS):
        found = seen(control, turn, rlock, section)
        blind = asked(control) - found
        if not blind:
            break
    print(f"{control[0]} as {control[2]}: {'MISSED by ' + ', '.join(sorted(blind)) if blind else 'caught'}"
          f" (seen by {', '.join(sorted(found)) or 'nobody'})", flush=True)
    return not blind


def all_caught(rlock, section):
    os.environ["CAMPAIGN_RLOCK"] = rlock
    with rounds.FORK.Pool(AT_ONCE) as pool:
        caught = pool.starmap(is_caught, [(control, rlock, section) for control in CONTROLS], chunksize=1)
    print(f"{sum(caught)} of {len(CONTROLS)} controls caught")
    return all(caught)
