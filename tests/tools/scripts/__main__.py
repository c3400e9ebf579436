"""Tests of rlock's scripts alone, on a private redis-server.

usage: python3 scripts walk KIND SOCKET SEED ROUNDS STEPS
       python3 scripts examples SOCKET FOLDER
       python3 scripts example NAME SOCKET
       python3 scripts explore KIND SOCKET DEPTH

walk       random walks of one kind beside its model: mutex, rw, sem, plain or latch. Exit status 1:
           it has found something
examples   all functions of examples_*.py: for each a file in FOLDER, by its name, with what is
           wrong; empty when nothing is
example    one of them
explore    every order in which so many steps of one client, beside another, can come: explore.py

SCRIPTS in the environment: the folder of the scripts, with what they include.
"""
import inspect
import sys
import traceback

import examples_counts
import examples_crowd
import examples_faults
import examples_foreign
import examples_inspect
import examples_kinds
import examples_locks
import examples_once
import examples_preempt
import examples_readers
import examples_restore
import examples_sem
from bench import Bench
from client import ServerError
from explore import explore
from model_latch import Latch
from model_mutex import Mutex
from model_rw import ReadWrite
from model_sem import Plain, Sem
from walk import TooSlow, play

MODELS = {"mutex": Mutex, "rw": ReadWrite, "sem": Sem, "plain": Plain, "latch": Latch}
MODULES = (examples_locks, examples_counts, examples_crowd, examples_foreign, examples_faults,
           examples_kinds, examples_inspect, examples_once, examples_preempt, examples_readers,
           examples_restore, examples_sem)
EXAMPLES = {name: function for module in MODULES
            for name, function in inspect.getmembers(module, inspect.isfunction)
            if function.__module__ == module.__name__ and name[0] != "_"}


def walk(kind, path, seed, rounds, steps):
    counts = {}
    for number in range(int(rounds)):
        try:
            model = play(MODELS[kind], path, f"{seed}/{number}", int(steps))
        except TooSlow as error:
            sys.exit(f"seed {seed}, round {number}: {error}")
        except AssertionError as error:
            sys.exit(f"broken promise: seed {seed}, round {number}: {error}")
        for action, count in model.counts.items():
            counts[action] = counts.get(action, 0) + count
    print(f"seed {seed}:", ", ".join(f"{count} x {what}" for what, count in sorted(counts.items())))


def example(name, path):
    bench = Bench(path)
    try:
        EXAMPLES[name](bench)
    finally:
        bench.close()


def examples(path, folder):
    for name in EXAMPLES:
        with open(f"{folder}/{name}", "w", encoding="utf-8") as file:
            try:
                example(name, path)
            except (AssertionError, ServerError, LookupError, TypeError):
                traceback.print_exc(file=file)


def explore_all(kind, path, depth):
    try:
        print(explore(kind, path, int(depth)), "states")
    except AssertionError as error:
        sys.exit(f"broken promise: {error}")


if __name__ == "__main__":
    {"walk": walk, "example": example, "examples": examples, "explore": explore_all}[sys.argv[1]](
        *sys.argv[2:])
