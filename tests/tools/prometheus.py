"""Reads Prometheus's text format on standard input, by the parser of Prometheus's own client library, holds
it against the rules of the format that the parser does not, and evaluates an expression.

usage: /usr/bin/python3 prometheus.py [EXPRESSION]   Debian's python3, which has the module

In the expression figure(NAME, LABEL=VALUE...) is the one sample of that name that has these labels, None
if there is none; names are the families in their order. What is wrong is said on standard error, status 1.
"""
import collections
import re
import sys

from prometheus_client.parser import text_string_to_metric_families


def faults(text, families):
    if not text.endswith("\n"):
        yield "the last line has no end"
    for name, count in collections.Counter(family.name for family in families).items():
        if count > 1:
            yield f"{name} stands in {count} places"
    for family in families:
        if not family.name.startswith("rlock_") or not family.documentation or family.type == "unknown":
            yield f"{family.name}: no prefix, no HELP or no TYPE"
        if re.search(r"_(ms|milliseconds|minutes|time|age|total|count)$", family.name):
            yield f"{family.name}: not named by its unit"
        if not family.samples:
            yield f"{family.name}: no samples"
        series = collections.Counter((sample.name, tuple(sorted(sample.labels.items()))) for sample in family.samples)
        yield from (f"{name}{labels} comes {count} times" for (name, labels), count in series.items() if count > 1)


def main():
    with open(0, encoding="utf-8", newline="\n") as stream:  # a byte that is no UTF-8 is an error
        text = stream.read()
    families = list(text_string_to_metric_families(text))
    found = list(faults(text, families))
    for fault in found:
        print(f"prometheus.py: {fault}", file=sys.stderr)
    if found:
        return 1

    def figure(name, /, **labels):
        wanted = [sample.value for family in families for sample in family.samples
                  if sample.name == name and labels.items() <= sample.labels.items()]
        assert len(wanted) < 2, f"{name}{labels}: {len(wanted)} samples"
        return wanted[0] if wanted else None

    names = [family.name for family in families]
    if sys.argv[1:]:
        print(eval(sys.argv[1], {"figure": figure, "names": names, "families": families}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
