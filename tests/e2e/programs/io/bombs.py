# Files that claim far more than a token of 16 x 16 holds, or hide it: bombs.py. Writes them, and `bombs`: a line for each with its file and words of the message that it gets.
import struct
import zlib

lines = []


def zeros(n):
    """n zeros as zlib packs them, in no time: a packed megabyte repeats."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    piece = packer.compress(bytes(1 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)
    last = zlib.compressobj(9, zlib.DEFLATED, -15)
    rest = last.compress(bytes(n % (1 << 20))) + last.flush()
    return b"\x78\xda" + piece * (n >> 20) + rest + struct.pack(">I", (n % 65521) << 16 | 1)


def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def png(name, words, w, h, data, interlaced=0, before=b""):
    with open(name, "wb") as out:
        out.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", w, h, 8, 0, 0, 0, interlaced)) + before + chunk(b"IDAT", data) + chunk(b"IEND", b""))
    lines.append(f"{name} {words}")


def tiff(name, words, data=bytes(256), **tags):
    """A picture of 16 x 16 in a strip; tags replace these. A tag is (type, count, value), or None."""
    data += bytes(len(data) % 2)
    entries = {"t256": (4, 1, 16), "t257": (4, 1, 16), "t258": (3, 1, 8), "t259": (3, 1, 1), "t262": (3, 1, 1), "t273": (4, 1, 8), "t277": (3, 1, 1),
               "t278": (4, 1, 16), "t279": (4, 1, len(data)), **tags}
    packed = [struct.pack("<HHII", int(tag[1:]), *entries[tag]) for tag in sorted(entries) if entries[tag]]
    with open(name, "wb") as out:
        out.write(b"II*\0" + struct.pack("<I", 8 + len(data)) + data + struct.pack("<H", len(packed)) + b"".join(packed) + bytes(4))
    lines.append(f"{name} {words}")


def pages(name, n, reduced=(), links=None):
    """n pages of 2 x 2, each with its number as a byte: links has the page that follows, if it is not the next; -1: none that is there."""
    size = 2 + 10 * 12 + 4
    out = bytearray(b"II*\0" + struct.pack("<I", 8))
    for i in range(n):
        after = (links or {}).get(i, i + 1)
        tags = [(254, 4, 1, int(i in reduced)), (256, 4, 1, 2), (257, 4, 1, 2), (258, 3, 1, 8), (259, 3, 1, 1), (262, 3, 1, 1), (273, 4, 1, 8 + n * size + i % 256 * 4),
                (277, 3, 1, 1), (278, 4, 1, 2), (279, 4, 1, 4)]
        out += struct.pack("<H", 10) + b"".join(struct.pack("<HHII", *tag) for tag in tags) + struct.pack("<I", 0 if after == n else 1 << 30 if after < 0 else 8 + after * size)
    with open(name, "wb") as file:
        file.write(out + bytes(i for i in range(256) for _ in range(4)))


def npy(name, shape):
    header = ("{'descr': '|u1', 'fortran_order': False, 'shape': " + shape + ", }").encode().ljust(117) + b"\n"
    with open(name, "wb") as out:
        out.write(b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header)


text = b"\0\0" + zeros(7 << 20)
row = zlib.compress(bytes(17 * 16))
png("interlaced.png", "is u8[[]30000, 30000]", 30000, 30000, zeros(30000 * 30001), 1)
png("plain.png", "is u8[[]30000, 30000]", 30000, 30000, zeros(30000 * 30001))
png("wide.png", "is u8[[]1, 1000000]", 1000000, 1, zeros(1000001), 1)
png("texts.png", "is u8[[]17, 16]", 16, 17, row, 0, b"".join(chunk(b"zTXt", b"k%d" % i + text) for i in range(100)))
png("profile.png", "is u8[[]17, 16]", 16, 17, row, 0, chunk(b"iCCP", b"k\0\0" + zeros(900 << 20)))
png("more.png", "Too much image data", 16, 16, zeros(900 << 20))

gigabyte = zeros(900 << 20)
no_strips = {"t273": None, "t278": None, "t279": None}
tiff("tile.tif", "in tiles of 61040 x 65520", gigabyte, t259=(3, 1, 8), t322=(4, 1, 65520), t323=(4, 1, 61040), t324=(4, 1, 8), t325=(4, 1, len(gigabyte)), **no_strips)
tiff("large.tif", "is u8[[]30000, 30000]", gigabyte, t256=(4, 1, 30000), t257=(4, 1, 30000), t259=(3, 1, 8), t278=(4, 1, 30000))
tiff("turned.tif", "is u8[[]30000, 30000]", gigabyte, t256=(4, 1, 30000), t257=(4, 1, 30000), t259=(3, 1, 8), t278=(4, 1, 30000), t274=(3, 1, 3))
tiff("tiles.tif", "Incorrect count for .TileOffsets.", gigabyte, t256=(4, 1, 30000), t257=(4, 1, 30000), t322=(4, 1, 16), t323=(4, 1, 16), t324=(4, 1, 8), t325=(4, 1, 256), **no_strips)
tiff("strips.tif", "zero number of strips", t257=(4, 1, 0xffffffff), t278=(4, 1, 1))
tiff("offsets.tif", "Sanity check", t257=(4, 1, 0x3fffffff), t273=(4, 0x3fffffff, 8), t278=(4, 1, 1), t279=(4, 0x3fffffff, 8))
tiff("said.tif", "is u8[[]17, 16]", t257=(4, 1, 17), t270=(2, 0xfffffff0, 8))
jbig = bytes((0, 0, 1, 0)) + struct.pack(">III", 0xffffffff, 0xffffffff, 16) + bytes((64, 16, 0, 3)) + bytes(40)
reversed_bits = bytes(int(f"{b:08b}"[::-1], 2) for b in jbig)
tiff("jbig.tif", "(its JBIG data is not of its size|.*not configured)", reversed_bits, t258=(3, 1, 1), t259=(3, 1, 34661))
tiff("jbig-lsb.tif", "(its JBIG data is not of its size|.*not configured)", jbig, t258=(3, 1, 1), t259=(3, 1, 34661), t266=(3, 1, 2))
with open("bombs", "w") as out:
    print(*lines, sep="\n", file=out)

npy("forever.npy", "(9000000000000000000, 0, 5)")
npy("empty.npy", "(3, 0, 5)")
pages("p1000.tif", 1000)
pages("p4000.tif", 4000)
pages("many.tif", 65538)
pages("reduced.tif", 6, {1, 3})
pages("cut.tif", 3, links={2: -1})
pages("back.tif", 7, links={6: 3})
