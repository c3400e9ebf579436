"""The figures as text for people (Markdown)."""
NONE = "–"  # not measured


def table(head, rows):
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def ratio(value, measure):
    return f"**{value / measure:.2f}**"


def percent(value):
    return f"{100 * value:.1f} %"


def counted(count):
    return f"{count:,}"


def scripts(figures):
    """{kind: {whose: (CPU us, us in the scripts)}}"""
    rows = []
    for kind, whose in figures.items():
        (ours, inside), theirs = whose["rlock"], whose.get("Redisson")
        rows.append([f"`{kind}`", f"{ours:.1f} µs",
                     *([f"{theirs[0]:.1f} µs", ratio(ours, theirs[0]), ratio(inside, theirs[1])]
                       if theirs else 3 * [NONE])])
    return ("Server CPU time of a take and a give-back, hot and pipelined:\n\n"
            + table(["kind", "rlock", "Redisson's own scripts", "ratio", "in the scripts alone"],
                    rows))


def starts(figures):
    """{name: (wall us, CPU us)}"""
    wall, cpu = figures["bare C"]
    rows = [[name, f"{one[0] / 1000:.2f} ms", ratio(one[0], wall), f"{one[1] / 1000:.2f} ms",
             ratio(one[1], cpu)] for name, one in figures.items()]
    return ("`true` under a lock that is free, beside the least that bare C needs for it:\n\n"
            + table(["", "wall time", "ratio", "CPU time", "ratio"], rows))


def hand_offs(figures):
    """{(kind, waiters): how the lock was passed on}, as waiters.py's measure() found it."""
    rows = [[f"`{kind}`", counted(count), f"{one['median']:.2f} ms", f"{one['floor']:.2f} ms",
             ratio(one["median"], one["floor"]), f"{one['scripts']:.2f}"]
            for (kind, count), one in figures.items()]
    return ("A hand-off, from the end of one command to the start of the next, beside rlocks one "
            "by one, without waiting:\n\n"
            + table(["kind", "waiters", "hand-off", "one by one", "ratio", "scripts"], rows))


def idle(figures):
    """{(kind, waiters): what waiters.py's idle() found}"""
    rows = [[f"`{kind}`", counted(count), f"{one['scripts']:.1f}", f"{one['commands']:.1f}",
             percent(one["server_cpu"]), percent(one["waiters_cpu"])]
            for (kind, count), one in figures.items()]
    each = list(figures.values())[-1]
    return ("All waiters together, while nobody gets the lock:\n\n"
            + table(["kind", "waiters", "scripts a second", "commands in each", "server's CPU",
                     "their own CPU"], rows)
            + f"\n\nEach has {each['connections']:.0f} connections, {each['processes']} process{'es' if each['processes'] != 1 else ''} "
              f"and {each['private_kib']} KiB of memory of its own.")


def bounds(figures):
    """{what: {count: (commands, script, how many seconds one waited), or None}}"""
    counts = sorted({count for each in figures.values() for count in each})
    rows = [[what, *(f"{each[count][0]} (`{each[count][1]}`)" if each[count] else NONE
                     for count in counts)] for what, each in figures.items()]
    slowest = max((found[2] for each in figures.values() for found in each.values() if found),
                  default=0)
    return ("Commands that the most expensive script runs when there are this many:\n\n"
            + table(["", *map(counted, counts)], rows)
            + f"\n\nA newcomer behind dead waiters waited {slowest:.1f} s at most.")
