"""Plots as plain SVG, with nothing but the standard library: a chart is a list of lines of text."""
import math
from html import escape

COLOURS = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#8C6D1F", "#555555"]
DASHES = ["", "7 3", "2 3", "9 3 2 3"]
FONT = 'font-family="Helvetica,Arial,sans-serif"'


class Axis:
    """From values to pixels, by logarithm where asked, with ticks at round numbers."""

    def __init__(self, low, high, begin, end, log=False):
        self.log, self.begin, self.end = log, begin, end
        self.low, self.high = low, high if high > low else low + 1

    def at(self, value):
        f = math.log if self.log else float
        share = (f(value) - f(self.low)) / (f(self.high) - f(self.low))
        return self.begin + share * (self.end - self.begin)

    def ticks(self):
        if self.log:
            power = 10.0 ** math.floor(math.log10(self.low))
            few = self.high / self.low < 12
            steps = [1, 1.2, 1.5, 2, 3, 4, 5, 7] if few else [1, 2, 5] if self.high / self.low < 500 else [1]
            found = [power * 10**k * s for k in range(10) for s in steps]
        else:
            rough = (self.high - self.low) / 5
            power = 10.0 ** math.floor(math.log10(rough))
            step = next(s * power for s in (1, 2, 5, 10) if s * power >= rough * 0.999)
            found = [step * k for k in range(math.ceil(self.low / step - 1e-9), int(self.high / step + 1e-9) + 1)]
        return [t for t in found if self.low * (1 - 1e-9) <= t <= self.high * (1 + 1e-9)]


def number(value):
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"


def text(x, y, words, anchor="start", size=12, colour="#222", bold=False, turn=""):
    weight = ' font-weight="bold"' if bold else ""
    return (f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" fill="{colour}"{weight}{turn} '
            f'{FONT}>{escape(words)}</text>')


def line(x1, y1, x2, y2, colour="#ddd", width=1):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" stroke-width="{width}"/>'


def page(width, height, title, note, body):
    head = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">',
            f'<rect width="{width}" height="{height}" fill="white"/>', text(16, 26, title, size=15, bold=True)]
    if note:
        head.append(text(16, 46, note, size=11, colour="#555"))
    return "\n".join(head + body + ["</svg>", ""])


def mark(x, y, kind, colour, title):
    shapes = [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5"',
              f'<rect x="{x - 4:.1f}" y="{y - 4:.1f}" width="8" height="8"',
              f'<path d="M{x:.1f} {y - 5.5:.1f} l5 9 h-10 z"',
              f'<path d="M{x:.1f} {y - 5.5:.1f} l5.5 5.5 l-5.5 5.5 l-5.5 -5.5 z"']
    return f'{shapes[kind % 4]} fill="{colour}" stroke="white" stroke-width="0.7"><title>{escape(title)}</title></{shapes[kind % 4][1:].split()[0]}>'


def dots(title, note, x_label, rows, groups, value):
    """A row for each of `rows`, a mark for each of `groups` at value(row, group); the axis is logarithmic."""
    width, left, top, step = 900, 110, 66, 24
    bottom = top + step * len(rows)
    values = [value(r, g) for r in rows for g in groups if value(r, g)]
    axis = Axis(1.0, max(values) * 1.05, left, width - 190, log=True)
    body = []
    for tick in axis.ticks():
        body += [line(axis.at(tick), top - 8, axis.at(tick), bottom), text(axis.at(tick), bottom + 16, number(tick), "middle", 11)]
    for i, row in enumerate(rows):
        y = top + step * i + step / 2 - 4
        body += [line(left, y, axis.end, y, "#eee"), text(left - 10, y + 4, row, "end")]
        body += [mark(axis.at(value(row, g)), y, k // len(COLOURS) + k, COLOURS[k % len(COLOURS)], f"{row}, {g}: {value(row, g):.3f}")
                 for k, g in enumerate(groups) if value(row, g)]
    for k, group in enumerate(groups):
        y = top + 22 * k + 4
        body += [mark(width - 166, y, k // len(COLOURS) + k, COLOURS[k % len(COLOURS)], group), text(width - 154, y + 4, group, size=11)]
    body.append(text((left + axis.end) / 2, bottom + 36, x_label, "middle", 12))
    return page(width, max(bottom + 50, top + 22 * len(groups) + 10), title, note, body)


def lines(title, note, x_label, y_label, series, log_x=False, log_y=False, steps=False, x_high=None):
    """series: (name, [(x, y), …]) each; names stand in a legend at the right, in order."""
    width, height, left, top, right, bottom = 900, 430, 76, 66, 720, 376
    xs = [x for _, points in series for x, _ in points]
    ys = [y for _, points in series for _, y in points]
    x_axis = Axis(min(xs), x_high or max(xs), left, right, log_x)
    y_axis = Axis(min(ys) if log_y else 0, max(ys), bottom, top, log_y)
    body = []
    for tick in x_axis.ticks():
        body += [line(x_axis.at(tick), top, x_axis.at(tick), bottom), text(x_axis.at(tick), bottom + 16, number(tick), "middle", 11)]
    for tick in y_axis.ticks():
        body += [line(left, y_axis.at(tick), right, y_axis.at(tick)), text(left - 8, y_axis.at(tick) + 4, number(tick), "end", 11)]
    for k, (name, points) in enumerate(series):
        colour, dash = COLOURS[k % len(COLOURS)], DASHES[k // len(COLOURS) % len(DASHES)]
        path, last = [], None
        for x, y in points:
            if x > x_axis.high:
                break
            if steps and last is not None:
                path.append(f"L{x_axis.at(x):.1f} {y_axis.at(last):.1f}")
            path.append(f"{'L' if path else 'M'}{x_axis.at(x):.1f} {y_axis.at(y):.1f}")
            last = y
        if steps and last is not None:
            path.append(f"L{right} {y_axis.at(last):.1f}")
        style = f'stroke="{colour}" stroke-width="2.2" fill="none" stroke-linejoin="round"' + (f' stroke-dasharray="{dash}"' if dash else "")
        y = top + 8 + 20 * k
        body += [f'<path d="{" ".join(path)}" {style}/>', f'<path d="M{right + 20} {y} h26" {style}/>', text(right + 54, y + 4, name, size=11)]
    middle = (top + bottom) / 2
    body += [text((left + right) / 2, height - 14, x_label, "middle"),
             text(20, middle, y_label, "middle", turn=f' transform="rotate(-90 20 {middle:.0f})"')]
    return page(width, height, title, note, body)
