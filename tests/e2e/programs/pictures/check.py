"""check.py SVG…: all text of each picture lies inside it, and the text of a node, a block or a bar inside its box.

The widths of letters are read here from the fonts of this machine (the tables cmap and hmtx of each TrueType file), so that the compiler's
own table of widths is not what it is checked against. What no font is installed for is not checked; `fonts N` says how many were.
"""
import re, struct, subprocess, sys, xml.etree.ElementTree as et

NS = "{http://www.w3.org/2000/svg}"


class Font:
    def __init__(self, path):
        data = open(path, "rb").read()
        tables = {data[12 + 16 * i:16 + 16 * i]: struct.unpack(">II", data[20 + 16 * i:28 + 16 * i])
                  for i in range(struct.unpack(">H", data[4:6])[0])}
        at = lambda tag: tables[tag][0]
        self.units = struct.unpack(">H", data[at(b"head") + 18:at(b"head") + 20])[0]
        n = struct.unpack(">H", data[at(b"hhea") + 34:at(b"hhea") + 36])[0]
        self.advances = [struct.unpack(">H", data[at(b"hmtx") + 4 * i:at(b"hmtx") + 4 * i + 2])[0] for i in range(n)]
        self.glyphs = {}
        for i in range(struct.unpack(">H", data[at(b"cmap") + 2:at(b"cmap") + 4])[0]):
            platform, encoding, offset = struct.unpack(">HHI", data[at(b"cmap") + 4 + 8 * i:at(b"cmap") + 12 + 8 * i])
            sub = at(b"cmap") + offset
            if platform == 3 and encoding == 1 and struct.unpack(">H", data[sub:sub + 2])[0] == 4:
                self.read_segments(data, sub)

    def read_segments(self, data, sub):
        count = struct.unpack(">H", data[sub + 6:sub + 8])[0] // 2
        column = lambda k, form: struct.unpack(">%d%s" % (count, form), data[sub + 14 + k:sub + 14 + k + 2 * count])
        ends, starts = column(0, "H"), column(2 * count + 2, "H")
        deltas, offsets = column(4 * count + 2, "h"), column(6 * count + 2, "H")
        base = sub + 14 + 6 * count + 2
        for k in range(count):
            for code in range(starts[k], min(ends[k], 0x2fff) + 1):
                if offsets[k] == 0:
                    self.glyphs[code] = (code + deltas[k]) & 0xffff
                else:
                    where = base + 2 * k + offsets[k] + 2 * (code - starts[k])
                    glyph = struct.unpack(">H", data[where:where + 2])[0]
                    self.glyphs[code] = (glyph + deltas[k]) & 0xffff if glyph else 0

    def width(self, text, size):
        advance = lambda c: self.advances[min(self.glyphs.get(ord(c), 0), len(self.advances) - 1)]
        return sum(map(advance, text)) * size / self.units


def fonts():
    found = {}
    for family in "DejaVu Sans", "Liberation Sans", "Verdana", "Arial", "Helvetica", "Nimbus Sans":
        for bold in False, True:
            style = family + (":bold" if bold else ":regular")
            try:
                got, path = subprocess.check_output(["fc-match", "-f", "%{family[0]}\n%{file}", style], text=True).split("\n")
            except (OSError, subprocess.CalledProcessError):
                continue
            if got == family and path.endswith(".ttf"):
                found[family, bold] = Font(path)
    return found


def extent(text, font):
    size, words = float(text.get("font-size")), "".join(text.itertext())
    width, x, anchor = font.width(words, size), float(text.get("x")), text.get("text-anchor", "start")
    left = x - width / 2 if anchor == "middle" else x - width if anchor == "end" else x
    y = float(text.get("y"))
    return left, y - 0.75 * size, left + width, y + 0.21 * size


def box_of(shape):
    if shape.tag == NS + "ellipse":
        cx, cy, rx, ry = (float(shape.get(a)) for a in ("cx", "cy", "rx", "ry"))
        return cx - rx, cy - ry, cx + rx, cy + ry
    if shape.tag == NS + "rect":
        x, y, w, h = (float(shape.get(a)) for a in ("x", "y", "width", "height"))
        return x, y, x + w, y + h
    points = [tuple(map(float, p.split(","))) for p in shape.get("points").split()]
    return min(p[0] for p in points), min(p[1] for p in points), max(p[0] for p in points), max(p[1] for p in points)


def inside(small, large):
    return small[0] >= large[0] and small[1] >= large[1] and small[2] <= large[2] and small[3] <= large[3]


def check_nodes(svg, use):
    """Graphviz's drawing: a group for each node, whose first polygon or ellipse is its border. A heavy border is 4 wide."""
    n = 0
    for node in (g for g in svg.iter(NS + "g") if g.get("class") == "node"):
        border = next(s for s in node.iter() if s.tag in (NS + "polygon", NS + "ellipse"))
        box, edge = box_of(border), float(border.get("stroke-width", 1)) / 2
        box = box[0] + edge, box[1] + edge, box[2] - edge, box[3] - edge
        for text in node.iter(NS + "text"):
            font = use(text)
            if font and not inside(extent(text, font), box):
                sys.exit(f"'{''.join(text.itertext())}' {extent(text, font)} crosses {box}")
            n += 1
    return n


def check_boxes(svg, use):
    """A chart: a text of size 11 in the middle follows the box that it names."""
    last, n = None, 0
    for element in svg.iter():
        if element.tag == NS + "rect":
            last = element
        elif element.tag == NS + "text" and element.get("text-anchor") == "middle" and element.get("fill") == "#000000":
            font = use(element)
            if font and not inside(extent(element, font), box_of(last)):
                sys.exit(f"'{''.join(element.itertext())}' {extent(element, font)} crosses {box_of(last)}")
            n += 1
    return n


def check_picture(svg, use):
    left, top, width, height = map(float, svg.get("viewBox").split())
    move = re.search(r"translate\(([-0-9.]+) ([-0-9.]+)\)", next((g.get("transform", "") for g in svg.iter(NS + "g")), ""))
    dx, dy = map(float, move.groups()) if move else (0, 0)
    for text in svg.iter(NS + "text"):
        font = use(text)
        if font and not text.get("transform"):
            a, b, c, d = extent(text, font)
            if not inside((a + dx, b + dy, c + dx, d + dy), (left, top, left + width, top + height)):
                sys.exit(f"'{''.join(text.itertext())}' leaves the picture")


known = fonts()
named = 0
for path in sys.argv[1:]:
    svg = et.parse(path).getroot()
    for family in {family for family, _ in known}:
        use = lambda text: known.get((family, text.get("font-weight") == "bold"))
        named = check_nodes(svg, use) + check_boxes(svg, use)
        check_picture(svg, use)
    print(path, named, "names in boxes")
print("fonts", len(known))
