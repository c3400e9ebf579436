"""Tests of rlock's scripts alone, on a private redis-server.

usage: python3 scripts SOCKET [MODULE[.NAME]...]

Runs all functions of examples_MODULE.py, or these. What is wrong with one is said on standard output, and the status
is 1 then. SCRIPTS in the environment: the folder of the scripts in a build, with what they include.
"""
import sys
import traceback

from bench import Bench
from client import ServerError
from examples import EXAMPLES


def holds(name, path):
    bench = Bench(path)
    try:
        EXAMPLES[name](bench)
        return True
    except (AssertionError, ServerError, LookupError, TypeError):
        print(f"{name}: {EXAMPLES[name].__doc__}")
        traceback.print_exc(file=sys.stdout)
        return False
    finally:
        bench.close()


def main(path, *wanted):
    names = [name for name in EXAMPLES if not wanted or {name, name.split(".")[0]} & {*wanted}]
    wrong = [name for name in names if not holds(name, path)]
    print(f"{len(names)} examples, {len(wrong)} wrong")
    return 1 if wrong or not names else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
