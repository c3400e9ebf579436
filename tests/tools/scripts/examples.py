"""The examples: all functions of examples_MODULE.py, by MODULE.NAME."""
import glob
import importlib
import inspect
import os


def found():
    for path in sorted(glob.glob(os.path.join(os.path.dirname(__file__), "examples_*.py"))):
        module = importlib.import_module(os.path.basename(path)[:-3])
        for name, function in inspect.getmembers(module, inspect.isfunction):
            if function.__module__ == module.__name__ and name[0] != "_":
                yield f"{module.__name__[9:]}.{name}", function


EXAMPLES = dict(found())
