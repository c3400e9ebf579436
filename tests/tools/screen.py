#!/usr/bin/env python3
"""What a terminal of COLUMNS columns shows at the end of what it was sent on standard input.

usage: screen.py COLUMNS

Understands text, newline, carriage return and ESC[K (erase to the end of the line). Text that is
longer than a line goes on in the next, as on a real one; what is wide takes two columns.
"""
import sys
import unicodedata


class Screen:
    def __init__(self, columns):
        self.columns, self.lines, self.row, self.column = columns, [[]], 0, 0

    def put(self, character):
        width = 2 if unicodedata.east_asian_width(character) in "WF" else 1
        if self.column + width > self.columns:
            self.feed()
        line = self.lines[self.row]
        line.extend(" " * (self.column + width - len(line)))
        line[self.column:self.column + width] = [character] + [""] * (width - 1)
        self.column += width

    def feed(self):
        self.row, self.column = self.row + 1, 0
        self.lines.append([])

    def take(self, text):
        while text:
            if text.startswith("\x1b[K"):
                del self.lines[self.row][self.column:]
                text = text[3:]
                continue
            if text[0] == "\r":
                self.column = 0
            elif text[0] == "\n":
                self.feed()
            else:
                self.put(text[0])
            text = text[1:]


def main():
    screen = Screen(int(sys.argv[1]))
    screen.take(sys.stdin.buffer.read().decode())
    for line in screen.lines[:-1] if not screen.lines[-1] else screen.lines:
        print("".join(line).rstrip())


if __name__ == "__main__":
    main()
