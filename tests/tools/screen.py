#!/usr/bin/env python3
"""What a terminal of COLUMNS columns shows at the end of what it was sent on standard input.

usage: screen.py COLUMNS [ROWS]

Understands text, newline, carriage return, ESC[K and ESC[J (erase to the end of the line, of the screen), ESC[H
(go to its top left corner), and leaves colours out. Text that is longer than a line goes on in the next, as on a
real one; what is wide takes two columns. With ROWS the screen has so many, and must not scroll: status 1.
"""
import re
import sys
import unicodedata


class Screen:
    def __init__(self, columns):
        self.columns, self.lines, self.row, self.column = columns, [[]], 0, 0
        self.lowest = 0  # row that the cursor has been in

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
        self.lowest = max(self.lowest, self.row)
        if self.row == len(self.lines):
            self.lines.append([])

    def obey(self, letter):
        if letter == "H":
            self.row = self.column = 0
        elif letter in "KJ":
            del self.lines[self.row][self.column:]
        if letter == "J":
            del self.lines[self.row + 1:]

    def take(self, text):
        for order, character in re.findall(r"\x1b\[[0-9;]*([HJKm])|([^\x1b])", text, re.DOTALL):
            if order:
                self.obey(order)
            elif character == "\r":
                self.column = 0
            elif character == "\n":
                self.feed()
            else:
                self.put(character)


def main():
    screen = Screen(int(sys.argv[1]))
    screen.take(sys.stdin.buffer.read().decode())
    for line in screen.lines[:-1] if not screen.lines[-1] else screen.lines:
        print("".join(line).rstrip())
    if sys.argv[2:] and screen.lowest >= int(sys.argv[2]):
        sys.exit(f"screen.py: it has scrolled: {screen.lowest + 1} rows")


if __name__ == "__main__":
    main()
