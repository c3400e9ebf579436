"""zsh_complete.py DIR LINE: what zsh shows when TAB is pressed behind LINE, with DIR in its fpath."""
import os
import pty
import sys

PROMPT = b"ready> "


def read_until(terminal, end):
    got = b""
    while end not in got:
        got += os.read(terminal, 65536)
    return got.decode()


def main(directory, line):
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ["TERM"] = "dumb"
        os.execvp("zsh", ["zsh", "-f", "-i"])
    setup = f"fpath=({directory} $fpath); autoload -U compinit; compinit -u -D; LISTMAX=1000"
    os.write(terminal, f"stty columns 150 rows 1000; {setup}; PS1='ready''> '\n".encode())
    read_until(terminal, PROMPT)
    # Keys are taken in order: ^U and the rest wait until TAB has done its work.
    os.write(terminal, f"{line}\t\x15echo en''d\n".encode())
    print(read_until(terminal, b"\nend"))
    os.close(terminal)
    os.waitpid(pid, 0)


main(*sys.argv[1:])
