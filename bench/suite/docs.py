"""Puts the results of a run into docs/performance.md, between its two marks."""

import re

from suite import plots
from suite.processes import ROOT, Trouble

PAGE = ROOT / "docs/performance.md"
BEGIN, END = "<!-- results: written by bench/run --docs -->", "<!-- end of results -->"


def write(summary, table, drawn):
    """`drawn`: file names of plots."""
    text = PAGE.read_text()
    if BEGIN not in text or END not in text:
        raise Trouble(f"{PAGE.relative_to(ROOT)} has lost the marks around its results")
    images = [f"![{plots.TITLES[name]}](plots/{name})" for name in drawn]
    body = "\n\n".join([BEGIN, summary + ".", table, *images, END])
    PAGE.write_text(re.sub(re.escape(BEGIN) + ".*?" + re.escape(END), lambda _: body, text, flags=re.S))
