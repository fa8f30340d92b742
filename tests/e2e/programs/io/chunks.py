# Writes a PNG anew with other chunks: chunks.py IN.png. What has the same picture: many.png, whose compressed bytes are in chunks of 0 to 3 bytes behind a
# text that looks like a chunk's head. What has none: crc.png, a byte of a chunk is wrong; short.png, the last chunk with compressed bytes is missing;
# deflate.png, the compressed bytes are wrong, and their checksum is right; sum.png, only the sum at their end is wrong; header.png, they begin with another
# header. What has the picture and more: beyond.png, further bytes in the stream; behind.png, a chunk behind it; open.png ends behind the last chunk.
import struct, sys, zlib

data = open(sys.argv[1], 'rb').read()
chunks, at = [], 8
while at < len(data):
    n, = struct.unpack('>I', data[at:at + 4])
    chunks.append((data[at + 4:at + 8], data[at + 8:at + 8 + n]))
    at += 12 + n
packed = b''.join(body for name, body in chunks if name == b'IDAT')
head = [c for c in chunks if c[0] not in (b'IDAT', b'IEND')]


def write(name, compressed, wrong=b''):
    out = data[:8]
    for kind, body in head + compressed + [(b'IEND', b'')]:
        out += struct.pack('>I', len(body)) + kind + body + struct.pack('>I', zlib.crc32(kind + body))
    open(name, 'wb').write(out.replace(*wrong) if wrong else out)


pieces, at = [], 0
while at < len(packed):
    n = len(pieces) % 4
    pieces.append((b'IDAT', packed[at:at + n]))
    at += n
write('many.png', [(b'tEXt', b'k\0xxIDAT')] + pieces)
write('crc.png', [(b'IDAT', packed)], (packed[100:110], bytes(b ^ 1 for b in packed[100:110])))
write('sum.png', [(b'IDAT', packed[:-1]), (b'IDAT', bytes([packed[-1] ^ 1]))])
write('header.png', [(b'IDAT', b'\x78\x02' + packed[2:])])
write('beyond.png', [(b'IDAT', zlib.compress(zlib.decompress(packed) + b'beyond' * 100))])
write('behind.png', [(b'IDAT', packed), (b'IDAT', b'behind')])
open('open.png', 'wb').write(open('behind.png', 'rb').read()[:-12])
write('short.png', [(b'IDAT', packed[:len(packed) // 2])])
write('deflate.png', [(b'IDAT', packed[:2] + b'\xff' * 20 + packed[22:])])
