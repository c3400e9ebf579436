"""abi.py interface HEADER...:       what programs are compiled with: prototypes, sizes, offsets, numbers; of
                                     what it includes from its own directory as well
   abi.py symbols LIBRARY OLD VER:   the exported symbols, in the form of dpkg's symbols files; those
                                     that OLD has keep the version in which they came
"""
import os
import re
import subprocess
import sys
import tempfile


def run(*command, stdin=""):
    return subprocess.run(command, input=stdin, text=True, check=True, stdout=subprocess.PIPE).stdout


def including(headers):
    return "".join(f'#include "{os.path.abspath(header)}"\n' for header in headers)


def preprocessed(headers):
    """What of the compiler's input is the headers' own."""
    own, lines = False, []
    directory = os.path.dirname(os.path.abspath(headers[0]))
    for line in run("cc", "-std=c11", "-E", "-", stdin=including(headers)).splitlines():
        marker = re.match(r'# \d+ "(.*?)"', line)
        if marker:
            own = os.path.dirname(marker[1]) == directory
        elif own:
            lines.append(line)
    text = re.sub(r"__attribute__\s*\(\(.*?\)\)\)*", "", "\n".join(lines))
    return re.sub(r"\s+", " ", text)


def prototypes(text):
    found = re.findall(r"(?:^|[;}]) *((?:\w+[ *]+)+rlock_\w+\([^)]*\)) *(?=;)", text)
    return sorted(found, key=lambda text: re.search(r"(\w+)\(", text)[1])


def structs(text):
    for name, body in re.findall(r"struct (rlock_\w+) \{(.*?)\}", text):
        fields = [part for declaration in body.split(";") for part in declaration.split(",")]
        yield name, [re.search(r"(\w+)\s*(?:\[.*\])?\s*$", field)[1] for field in fields if field.strip()]


def constants(headers, text):
    for body in re.findall(r"enum \w* ?\{(.*?)\}", text):
        yield from re.findall(r"\bRLOCK_\w+", re.sub(r"=[^,]*", "", body))
    macros = run("cc", "-std=c11", "-E", "-dM", "-", stdin=including(headers))
    for name, value in sorted(re.findall(r"#define (RLOCK_[A-Z_]+) (.+)", macros)):
        if re.fullmatch(r"[\w()* +-]+", value) and "attribute" not in value:
            yield name


def layout(headers, text):
    lines = []
    for name, fields in structs(text):
        lines.append(f'printf("struct {name}: %zu\\n", sizeof(struct {name}));')
        for field in fields:
            what = f"offsetof(struct {name}, {field}), sizeof(((struct {name} *)0)->{field})"
            lines.append(f'printf("    {field}: at %zu, %zu\\n", {what});')
    for name in constants(headers, text):
        lines.append(f'printf("{name}: %lld\\n", (long long)({name}));')
    source = including(headers) + '#include <stdio.h>\nint main(void) {\n' + "\n".join(lines) + "\n}\n"
    with tempfile.TemporaryDirectory() as directory:
        program = os.path.join(directory, "layout")
        run("cc", "-std=c11", "-x", "c", "-o", program, "-", stdin=source)
        return run(program)


def symbols(library, old, version):
    since = {}
    if os.path.exists(old):
        with open(old, encoding="ascii") as lines:
            since = dict(line.split() for line in lines if line.startswith(" "))
    print("librlock.so.0 librlock0 #MINVER#")
    for line in sorted(run("nm", "-D", "--defined-only", "--format=posix", library).splitlines()):
        name, kind = line.split()[:2]
        if kind == "A":  # the version itself
            name += "@" + name
        name = name.replace("@@", "@")
        if "@" in name:  # else it is a sanitizer's
            print(f" {name} {since.get(name, version)}")


def interface(headers):
    text = preprocessed(headers)
    print(*prototypes(text), sep="\n")
    print(layout(headers, text), end="")


def main(what, *arguments):
    if what == "interface":
        interface(sorted(arguments))
    else:
        symbols(*arguments)


main(*sys.argv[1:])
