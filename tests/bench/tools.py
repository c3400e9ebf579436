"""The programs that are measured, and those that measure, built against the build's library."""
import os
import pathlib
import shlex
import shutil
import subprocess
import sys

from machine import TOOLS
from resp import packed

HERE = pathlib.Path(__file__).resolve().parent
CC = ["cc", "-std=gnu11", "-O2", "-Wall", "-Wextra"]


def quote(data):
    """As a string of C."""
    return '"' + "".join(rf"\{byte:03o}" for byte in data) + '"'


def said(command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


class Tools:
    def __init__(self, rlock, folder):
        self.rlock, self.folder = str(rlock), folder
        self.build = rlock.parent.parent
        self.true = shutil.which("true")
        self.versions = [said([self.rlock, "--version"]),
                         "Redis " + said(["redis-server", "--version"]).split("v=")[1].split()[0],
                         f"{os.cpu_count()} processors"]
        self.section = self.compiled(TOOLS / "section.c")

    def compiled(self, source, *options):
        program = f"{self.folder}/{source.stem}"
        subprocess.run([*CC, "-o", program, source, *options], check=True)
        return program

    def released(self):
        """The static program, as releases have it: made in the build's directory. None: its libraries are missing."""
        folder, root = self.build / "static", HERE.parent.parent
        made = subprocess.run(["cmake", "-S", root, "-B", folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
                               "-DRLOCK_STATIC=ON"], check=False, capture_output=True).returncode == 0
        if not made:
            return None
        subprocess.run(["ninja", "-C", folder], check=True, stdout=subprocess.DEVNULL)
        return str(folder / "cmd" / "rlock")

    @staticmethod
    def side_by_side(rounds, *commands):
        """What sidebyside.py says of each: (wall us, CPU us)."""
        words = [shlex.join(map(str, command)) for command in commands]
        lines = said([sys.executable, "-B", HERE / "sidebyside.py", str(rounds), *words]).splitlines()
        return [tuple(map(float, line.split())) for line in lines]

    def bare(self, pair):
        """bare.c with an rlock's own words."""
        take, give = (quote(packed(words)) for words in pair.requests)
        randoms = ", ".join(quote(number.encode()) for number in pair.randoms())
        with open(f"{self.folder}/requests.h", "w", encoding="ascii") as file:
            print(f"#define TAKE {take}", f"#define GIVE {give}", f"#define RANDOMS {{{randoms}}}", sep="\n", file=file)
        return self.compiled(HERE / "bare.c", f"-I{self.folder}")
