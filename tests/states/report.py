"""The figures of a run, written into REPORT.md."""
import datetime
import pathlib
import platform
import re

PAGE = pathlib.Path(__file__).resolve().parent / "REPORT.md"
BEGIN, END = "<!-- figures: written by run --report -->\n", "<!-- end of the figures -->\n"


def write(rows):
    lines = [f"{datetime.date.today()}: redis-server {rows[0][2].model.server.version}, {platform.system()} {platform.release()}, "
             f"Python {platform.python_version()}. {sum(search.figures()[0] for *_, search in rows)} states, "
             f"{sum(search.transitions for *_, search in rows)} transitions, "
             f"{sum(bool(search.found) for *_, search in rows)} broken promises.", "",
             "| scene | clients | requests of each | faults | steps of time | states | transitions | runs of a script "
             "| most commands | all of them |", "| --- " + "| --: " * 8 + "| --- |"]
    for name, size, search in rows:
        figures = " | ".join(map(str, (*size, *search.figures())))
        lines.append(f"| {name} | {figures} | {'yes' if search.whole else 'no'} |")
    page = PAGE.read_text()
    PAGE.write_text(re.sub(f"{re.escape(BEGIN)}.*{re.escape(END)}", lambda _: BEGIN + "\n".join(lines) + "\n" + END, page,
                           flags=re.DOTALL))
