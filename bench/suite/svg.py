"""Small line and bar charts as SVG, without a library."""

import html
import math

WIDTH, HEIGHT = 760, 420
LEFT, RIGHT, TOP, BOTTOM = 80, 200, 50, 60
COLOURS = ("#1b6ca8", "#d1495b", "#66a182", "#edae49", "#8d6a9f", "#5c5c5c", "#00b4d8", "#b56576", "#7f4f24", "#2b2d42")


def ticks_of(low, high, logarithmic):
    if logarithmic:
        powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        found = [10.0 ** power for power in powers]
        if len(found) < 4:
            found = sorted(factor * tick for tick in found for factor in (1, 2, 5))
        return [tick for tick in found if low * 0.999 <= tick <= high * 1.001]
    step = 10 ** math.floor(math.log10((high - low) or 1))
    step = next(step * factor for factor in (0.1, 0.2, 0.5, 1, 2, 5, 10) if (high - low) / (step * factor) <= 7)
    return [step * n for n in range(math.ceil(low / step), math.floor(high / step) + 1)]


def short(value):
    for limit, letter in ((1e6, "M"), (1e3, "k")):
        if abs(value) >= limit:
            return f"{value / limit:g}{letter}"
    return f"{value:g}"


class Axis:
    """Maps values to pixels."""

    def __init__(self, values, first, last, logarithmic):
        self.logarithmic, self.first, self.last = logarithmic, first, last
        values = [value for value in values if value > 0 or not logarithmic]
        self.low = min(values) if logarithmic else 0
        self.high = max(values)
        if self.high <= self.low:
            self.high = self.low * 2 or 1

    def at(self, value):
        low, high = self.low, self.high
        if self.logarithmic:
            value, low, high = (math.log10(max(v, self.low)) for v in (value, low, high))
        return self.first + (self.last - self.first) * (value - low) / (high - low)

    def ticks(self):
        return ticks_of(self.low, self.high, self.logarithmic)


def text(x, y, words, anchor="middle", size=12, more=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" {more}>{html.escape(words)}</text>'


def frame(title, x_name, y_name, body):
    middle = (LEFT + WIDTH - RIGHT) / 2
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" fill="#222">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
        text(middle, 24, title, size=15),
        text(middle, HEIGHT - 12, x_name),
        text(18, HEIGHT / 2, y_name, more=f'transform="rotate(-90 18 {HEIGHT / 2})"'),
        *body, "</svg>", ""])


def grid(x_axis, y_axis):
    body = []
    for value in y_axis.ticks():
        y = y_axis.at(value)
        body += [f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>',
                 text(LEFT - 6, y + 4, short(value), "end", 11)]
    for value in x_axis.ticks() if x_axis else []:
        x = x_axis.at(value)
        body += [f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{HEIGHT - BOTTOM}" stroke="#eee"/>',
                 text(x, HEIGHT - BOTTOM + 16, short(value), size=11)]
    return body


def key(names):
    body = []
    for n, name in enumerate(names):
        y = TOP + 10 + 20 * n
        body += [f'<rect x="{WIDTH - RIGHT + 12}" y="{y - 8}" width="12" height="10" fill="{COLOURS[n % len(COLOURS)]}"/>',
                 text(WIDTH - RIGHT + 30, y + 1, name, "start", 11)]
    return body


def lines(title, x_name, y_name, series, log_x=False, log_y=False, dots=True):
    """`series`: name → list of (x, y)."""
    points = [point for found in series.values() for point in found]
    x_axis = Axis([x for x, _ in points], LEFT, WIDTH - RIGHT, log_x)
    y_axis = Axis([y for _, y in points], HEIGHT - BOTTOM, TOP, log_y)
    body = grid(x_axis, y_axis)
    for n, found in enumerate(series.values()):
        colour = COLOURS[n % len(COLOURS)]
        path = " ".join(f"{x_axis.at(x):.1f},{y_axis.at(y):.1f}" for x, y in sorted(found))
        body.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        if dots:
            body += [f'<circle cx="{x_axis.at(x):.1f}" cy="{y_axis.at(y):.1f}" r="3" fill="{colour}"/>' for x, y in found]
    return frame(title, x_name, y_name, body + key(series))


def bars(title, y_name, groups, names):
    """`groups`: label → one value per name."""
    y_axis = Axis([value for values in groups.values() for value in values], HEIGHT - BOTTOM, TOP, False)
    body = grid(None, y_axis)
    room = (WIDTH - RIGHT - LEFT) / len(groups)
    width = room * 0.7 / len(names)
    for g, (label, values) in enumerate(groups.items()):
        start = LEFT + room * (g + 0.15)
        for n, value in enumerate(values):
            y = y_axis.at(value)
            body.append(f'<rect x="{start + n * width:.1f}" y="{y:.1f}" width="{width:.1f}" '
                        f'height="{HEIGHT - BOTTOM - y:.1f}" fill="{COLOURS[n % len(COLOURS)]}"/>')
        # Two lines: labels have a comma, and bars are narrow.
        body += [text(start + room * 0.35, HEIGHT - BOTTOM + 16 + 13 * n, part, size=10) for n, part in enumerate(label.split(", "))]
    return frame(title, "", y_name, body + key(names))
