"""Tests of rlock's scripts alone, on a private redis-server.

usage: python3 scripts examples SOCKET FOLDER
       python3 scripts example MODULE.NAME SOCKET

examples   all functions of examples_MODULE.py: for each a file FOLDER/MODULE/NAME with what is wrong;
           empty when nothing is
example    one of them

SCRIPTS in the environment: the folder of the scripts in a build, with what they include.
"""
import os
import sys
import traceback

from bench import Bench
from client import ServerError
from examples import EXAMPLES


def example(name, path):
    bench = Bench(path)
    try:
        EXAMPLES[name](bench)
    finally:
        bench.close()


def examples(path, folder):
    for name, function in EXAMPLES.items():
        place = os.path.join(folder, *name.split("."))
        os.makedirs(os.path.dirname(place), exist_ok=True)
        with open(place, "w", encoding="utf-8") as file:
            try:
                example(name, path)
            except (AssertionError, ServerError, LookupError, TypeError):
                print(f"{name}: {function.__doc__}", file=file)
                traceback.print_exc(file=file)


if __name__ == "__main__":
    {"example": example, "examples": examples}[sys.argv[1]](*sys.argv[2:])
