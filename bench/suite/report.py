"""What was found: rows of a table for people, JSON for programs."""

import dataclasses
import json
import statistics

LONG_PAUSE_MS = 250


@dataclasses.dataclass
class Target:
    """A wish: the value or the ratio at least or at most so much."""
    of: str          # "value" or "ratio"
    at_least: float = None
    at_most: float = None

    def met(self, row):
        found = getattr(row, self.of)
        if found is None:
            return None
        return found >= self.at_least if self.at_least is not None else found <= self.at_most

    def text(self, unit):
        sign, limit = ("≥", self.at_least) if self.at_least is not None else ("≤", self.at_most)
        return f"{sign} {number(limit)} {unit}" if self.of == "value" else f"{sign} {limit:g} ×"


@dataclasses.dataclass
class Row:
    section: str
    name: str
    unit: str
    value: float = None
    against: str = ""            # the limit or peer of the same run
    against_value: float = None
    ratio: float = None
    target: Target = None
    note: str = ""
    rounds: list = dataclasses.field(default_factory=list)
    more: dict = dataclasses.field(default_factory=dict)   # what plots need

    def verdict(self):
        met = self.target.met(self) if self.target else None
        return "" if met is None else "yes" if met else "NO"


def number(value):
    if value is None:
        return ""
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}" if abs(value) < 10 else f"{value:.1f}"


def compare(section, name, unit, rounds, key, other=None, label="", target=None, note="", **more):
    """A row from rounds: Hodei, and the contender `other` if it could be measured."""
    if not rounds.has("hodei"):
        return Row(section, name, unit, note="failed: " + rounds.trouble.get("hodei", "not measured"))
    row = Row(section, name, unit, rounds.median("hodei", key), rounds=rounds.values("hodei", key), note=note, more=more)
    note_pause(row, rounds)
    if other:
        row.against, row.target = label or other, target
        if rounds.has(other):
            row.against_value, row.ratio = rounds.median(other, key), rounds.ratio("hodei", other, key)
        else:
            row.note = "no figure of the peer: " + rounds.trouble.get(other, "not measured")[:200]
    elif target:
        row.target = target
    return row


def note_pause(row, rounds):
    """Says so when for a while no job ended at all."""
    longest = max((facts.get("longest_pause_ms", 0) for facts in rounds.facts["hodei"]), default=0)
    if longest > LONG_PAUSE_MS:
        row.note = f"{row.note} nothing ended for {longest:,.0f} ms".strip()


def spread(values):
    """How far apart the rounds are."""
    if len(values) < 2 or not statistics.median(values):
        return ""
    return f"± {50 * (max(values) - min(values)) / statistics.median(values):.0f} %"


HEADINGS = ("", "what", "figure", "unit", "spread", "against", "its figure", "ratio", "target", "met", "note")


def cells(row):
    return (row.section, row.name, number(row.value) or row.note and "–", row.unit, spread(row.rounds), row.against, number(row.against_value),
            f"{row.ratio:.2f}" if row.ratio is not None else "", row.target.text(row.unit) if row.target else "",
            row.verdict(), row.note)


def table(rows):
    """Lines for a terminal."""
    lines = [HEADINGS] + [cells(row) for row in rows]
    widths = [max(len(str(line[column])) for line in lines) for column in range(len(HEADINGS))]
    right = {2, 4, 6, 7}
    return "\n".join("  ".join(str(text).rjust(width) if column in right else str(text).ljust(width)
                               for column, (text, width) in enumerate(zip(line, widths))).rstrip() for line in lines)


def markdown(rows):
    lines = ["| " + " | ".join(HEADINGS) + " |", "|" + "---|" * len(HEADINGS)]
    lines += ["| " + " | ".join(str(text) for text in cells(row)) + " |" for row in rows]
    return "\n".join(lines)


def as_json(machine, settings, rows):
    def plain(row):
        out = dataclasses.asdict(row)
        out["target"] = row.target.text(row.unit) if row.target else ""
        out["met"] = row.verdict()
        return out
    return json.dumps({"machine": machine, "settings": settings, "rows": [plain(row) for row in rows]}, indent=1,
                      ensure_ascii=False)
