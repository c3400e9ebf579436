"""The figures of a run, written into REPORT.md."""
import datetime
import pathlib
import platform
import re

PAGE = pathlib.Path(__file__).resolve().parent / "REPORT.md"
BEGIN, END = "<!-- figures: written by run --report -->\n", "<!-- end of the figures -->\n"


def write(rows):
    lines = [f"{datetime.date.today()}: redis-server {rows[0][3].version}, {platform.system()} {platform.release()}, "
             f"Python {platform.python_version()}. {sum(played.states for *_, played in rows)} states, "
             f"{sum(played.transitions for *_, played in rows)} transitions, "
             f"{sum(bool(played.found) for *_, played in rows)} broken promises.", "",
             "| scene | clients | requests of each | faults | steps of time | states | transitions | runs of a script "
             "| most commands | all of them |", "| --- " + "| --: " * 8 + "| --- |"]
    for name, _, size, played in rows:
        figures = [*size, played.states, played.transitions, played.asked, played.most]
        lines.append(f"| {name} | " + " | ".join(map(str, figures)) + f" | {'yes' if played.whole else 'no'} |")
    page = PAGE.read_text()
    PAGE.write_text(re.sub(f"{re.escape(BEGIN)}.*{re.escape(END)}", lambda _: BEGIN + "\n".join(lines) + "\n" + END, page,
                           flags=re.DOTALL))
