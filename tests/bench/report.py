"""The figures as text for people (Markdown)."""
NONE = "–"  # not measured


def table(head, rows):
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def ratio(value, measure):
    return f"**{value / measure:.2f}**"


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


def waiters(figures):
    """{(kind, waiters): what waiters.py's measure() found}"""
    rows = [[f"`{kind}`", counted(count), f"{one['median']:.2f} ms", f"{one['floor']:.2f} ms",
             ratio(one["median"], one["floor"])] for (kind, count), one in figures.items()]
    return ("A hand-off, from the end of one command to the start of the next, beside rlocks one by one, without "
            "waiting:\n\n" + table(["kind", "waiters", "hand-off", "one by one", "ratio"], rows)
            + f"\n\nEach has {[*figures.values()][-1]['private_kib']} KiB of memory of its own.")
