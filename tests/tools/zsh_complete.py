"""zsh_complete.py DIR LINE...: what zsh shows when TAB is pressed behind each LINE, below "--- LINE", with DIR in its fpath."""
import os
import pty
import sys

PROMPT = b"ready> "


def read_until(terminal, *ends):
    """Each of these, one after the other."""
    got, begin = b"", 0
    for end in ends:
        while end not in got[begin:]:
            got += os.read(terminal, 65536)
        begin = got.index(end, begin)
    return got.decode()


def main(directory, *lines):
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ["TERM"] = "dumb"
        os.execvp("zsh", ["zsh", "-f", "-i"])
    setup = f"fpath=({directory} $fpath); autoload -U compinit; compinit -u -D; LISTMAX=1000"
    os.write(terminal, f"stty columns 150 rows 1000; {setup}; PS1='ready''> '\n".encode())
    read_until(terminal, PROMPT)
    for line in lines:
        # Keys are taken in order: ^U and the rest wait until TAB has done its work.
        os.write(terminal, f"{line}\t\x15echo en''d\n".encode())
        print("---", line)
        print(read_until(terminal, b"\nend", PROMPT))
    os.close(terminal)
    os.waitpid(pid, 0)


main(*sys.argv[1:])
