"""WebP files for tests, and whether what was made of one is its turn.

    make FOLDER [SEED]               files, a few of each kind
    judge                            reads lines OP BEFORE AFTER [LEAST], and prints
                                     what is wrong; pictures that were encoded anew
                                     are at least LEAST dB alike

Pillow codes single pictures; the container and how an animation is composed are
read by the specification here, so that nothing is taken from the code that is
tested."""
import io
import os
import struct
import sys

import numpy as np
from PIL import Image

import pieces
import turns
from pieces import exif, read, write


def turned(array, op):
    return np.array(turns.turn(array.tolist(), op))


# ---- The container ---------------------------------------------------------------

def chunk(name, data):
    return name + struct.pack('<I', len(data)) + data + b'\0' * (len(data) & 1)


def chunks(data):
    at = 0
    while at + 8 <= len(data):
        size = struct.unpack_from('<I', data, at + 4)[0]
        assert at + 8 + size <= len(data), 'a chunk is cut short'
        yield data[at:at + 4], data[at + 8:at + 8 + size]
        at += 8 + size + (size & 1)


def riff(*parts):
    body = b'WEBP' + b''.join(parts)
    return b'RIFF' + struct.pack('<I', len(body)) + body


def u24(value):
    return struct.pack('<I', value)[:3]


def vp8x(flags, width, height):
    return chunk(b'VP8X', bytes([flags, 0, 0, 0]) + u24(width - 1) + u24(height - 1))


def parse(data):
    """Everything that a file says, as a dictionary."""
    size = struct.unpack_from('<I', data, 4)[0]
    assert data[:4] + data[8:12] == b'RIFFWEBP' and size % 2 == 0
    found = dict(flags=None, frames=[], rest=[], trailer=data[8 + size:], anim=None)
    alpha = b''
    for name, body in chunks(data[12:8 + size]):
        if name == b'VP8X':
            found['flags'] = body[0]
            found['size'] = tuple(int.from_bytes(body[i:i + 3], 'little') + 1 for i in (4, 7))
        elif name == b'ANIM':
            found['anim'] = body
        elif name == b'ANMF':
            x, y, w, h, duration = (int.from_bytes(body[i:i + 3], 'little')
                                    for i in range(0, 15, 3))
            parts = list(chunks(body[16:]))
            n = 2 if parts[0][0] == b'ALPH' else 1
            found['frames'].append(dict(
                at=(2 * x, 2 * y, w + 1, h + 1), duration=duration, flags=body[15],
                data=b''.join(chunk(*p) for p in parts[:n]), rest=parts[n:],
                kind=parts[n - 1][0]))
        elif name == b'ALPH':
            alpha = chunk(name, body)
        elif name in (b'VP8 ', b'VP8L') and not found['frames']:
            found['frames'].append(dict(data=alpha + chunk(name, body), kind=name))
        else:
            found['rest'].append((name, body))
    return found


# ---- Pixels ----------------------------------------------------------------------

def pixels(data):
    """Of the chunks of one picture, RGBA."""
    parts = dict(chunks(data))
    image = next(p for p in parts if p.startswith(b'VP8'))
    bits = parts[image]
    if image == b'VP8L':
        word = struct.unpack_from('<I', bits, 1)[0]
        size = (word & 16383) + 1, (word >> 14 & 16383) + 1
    else:
        size = tuple(v & 16383 for v in struct.unpack_from('<HH', bits, 6))
    file = riff(vp8x(16, *size), data) if b'ALPH' in parts else riff(data)
    return np.asarray(Image.open(io.BytesIO(file)).convert('RGBA')).astype(np.int64)


def over(top, under):
    """Source over destination, not premultiplied."""
    a, b = top[..., 3:] / 255, under[..., 3:] / 255
    alpha = a + b * (1 - a)
    color = (top[..., :3] * a + under[..., :3] * b * (1 - a)) / np.maximum(alpha, 1e-9)
    return np.rint(np.concatenate([color, alpha * 255], axis=2)).astype(np.int64)


def shown(found):
    """What is seen, at each time."""
    if found['anim'] is None:
        return [pixels(found['frames'][0]['data'])]
    width, height = found['size']
    canvas, seen = np.zeros((height, width, 4), np.int64), []
    for frame in found['frames']:
        x, y, w, h = frame['at']
        part = canvas[y:y + h, x:x + w]
        own = pixels(frame['data'])
        assert own.shape == part.shape == (h, w, 4), 'a frame is not within the canvas'
        part[:] = own if frame['flags'] & 2 else over(own, part)
        seen.append(canvas.copy())
        if frame['flags'] & 1:
            part[:] = 0
    return seen


def tag_of(found):
    """The orientation that readers see."""
    for name, body in found['rest']:
        if name == b'EXIF' and (found['flags'] or 0) & 8:
            with Image.open(io.BytesIO(riff(vp8x(8, 1, 1), PIXEL, chunk(name, body)))) as image:
                return image.getexif().get(274, 1)
    return 1


# ---- Judging ---------------------------------------------------------------------

def judge(op, before, after, least=0):
    one, two, least = parse(read(before)), parse(read(after)), float(least)
    tag = tag_of(one)
    tag = turns.TAGS[tag - 1 if 1 <= tag <= 8 else 0]
    wrong = []
    seen = [turned(turned(a, tag), op) for a in shown(one)], shown(two)
    if len(seen[0]) != len(seen[1]):
        return '%d frames, not %d' % (len(seen[1]), len(seen[0]))
    for i, (a, b) in enumerate(zip(*seen)):
        if a.shape != b.shape:
            wrong.append('frame %d is %s, not %s' % (i + 1, b.shape, a.shape))
            continue
        # Below transparent pixels nothing is seen; single pictures keep that, too.
        if one['anim'] is not None:
            a, b = (np.where(c[..., 3:] == 0, 0, c) for c in (a, b))
        far = np.abs(a - b)
        if least:
            psnr = 10 * np.log10(255 ** 2 / max(1e-9, (far ** 2).mean()))
            if psnr < least:
                wrong.append('frame %d: %.1f dB' % (i + 1, psnr))
        elif far.max() > (one['anim'] is not None and ((a[..., 3] % 255) != 0).any()):
            wrong.append('frame %d differs by %d' % (i + 1, far.max()))
    for key in ('anim', 'trailer'):
        if one[key] != two[key]:
            wrong.append(key)
    for f, g in zip(one['frames'], two['frames']):
        if f.get('duration') != g.get('duration') or f.get('rest') != g.get('rest'):
            wrong.append('duration or chunks of a frame')
        if not least and g['kind'] != b'VP8L':
            wrong.append('it became lossy')
    if [c for c in one['rest'] if c[0] != b'EXIF'] != [c for c in two['rest'] if c[0] != b'EXIF'] or \
            [c[0] for c in one['rest']] != [c[0] for c in two['rest']]:
        wrong.append('chunks: %s, not %s' % (two['rest'], one['rest']))
    if tag_of(two) != 1:
        wrong.append('the tag says %d' % tag_of(two))
    if (one['flags'] or 0) != (two['flags'] or 0) and one['anim'] is None:
        wrong.append('flags %s, not %s' % (two['flags'], one['flags']))
    if two['anim'] is not None and not two['flags'] & 16 and any(
            (pixels(f['data'])[..., 3] < 255).any() for f in two['frames']):
        wrong.append('a frame has alpha, of which VP8X does not tell')
    return '; '.join(wrong)


# ---- Making ----------------------------------------------------------------------

def coded(array, **how):
    """The chunks of a picture that Pillow encodes."""
    file = io.BytesIO()
    Image.fromarray(array.astype(np.uint8)).save(file, 'WEBP', **how)
    return b''.join(chunk(n, b) for n, b in chunks(file.getvalue()[12:])
                    if n in (b'ALPH', b'VP8 ', b'VP8L'))


PIXEL = coded(np.zeros((1, 1, 3)), lossless=True)


def smooth(rng, width, height, channels=3):
    y, x = np.mgrid[0:height, 0:width]
    waves = [128 + 120 * np.sin(x * rng.uniform(-.2, .2) + y * rng.uniform(-.2, .2) + 6 * rng.random())
             for _ in range(channels)]
    return np.stack(waves, axis=2)


def picture(rng, width, height, alpha):
    """alpha: None, 'hard' (0 and 255) or 'soft'."""
    made = smooth(rng, width, height, 4 if alpha else 3)
    if alpha == 'hard':
        made[..., 3] = np.where(made[..., 3] > 128, 255, 0)
    return made


def animation(rng, alpha, lossy):
    width, height = (int(v) for v in rng.integers(9, 60, 2))
    alphas = ['hard', 'soft', None] if alpha == 'mixed' else [alpha]
    frames = []
    for _ in range(int(rng.integers(2, 8))):
        x, y = (2 * int(rng.integers(0, (v - 1) // 2)) for v in (width, height))
        w, h = int(rng.integers(1, width - x + 1)), int(rng.integers(1, height - y + 1))
        if rng.random() < .2:
            x, y, w, h = 0, 0, width, height
        data = coded(picture(rng, w, h, alphas[int(rng.integers(len(alphas)))]),
                     **dict(quality=70) if lossy else dict(lossless=True, exact=True))
        head = u24(x // 2) + u24(y // 2) + u24(w - 1) + u24(h - 1)
        head += u24(int(rng.integers(1, 5000))) + bytes([int(rng.integers(0, 4))])
        if rng.random() < .2:
            data += chunk(b'unkn', b'abc')
        frames.append(chunk(b'ANMF', head + data))
    anim = chunk(b'ANIM', bytes(rng.integers(0, 256, 4, dtype=np.uint8)) + struct.pack('<H', 3))
    return riff(vp8x(18 if alpha else 2, width, height), anim, *frames)


def make(folder, seed=1):
    rng = np.random.default_rng(seed)
    os.makedirs(folder, exist_ok=True)
    files = {}
    exact = dict(lossless=True, exact=True)
    odd, even = (37, 22), (64, 48)
    files['simple-exact'] = riff(coded(picture(rng, *odd, 'hard'), **exact))
    files['rgb-exact'] = riff(coded(picture(rng, *odd, None), **exact))
    for tag in range(1, 9):
        files['tag%d-exact' % tag] = riff(
            vp8x(8, *odd), coded(picture(rng, *odd, None), **exact), chunk(b'EXIF', exif(tag)))
    files['simple-lossy'] = riff(coded(picture(rng, *even, None), quality=75))
    files['odd-lossy'] = riff(coded(picture(rng, 31, 27, None), quality=80))
    files['all-lossy'] = riff(
        vp8x(0x3c, *even), chunk(b'ICCP', b'profile'), chunk(b'more', b'1'),
        coded(picture(rng, *even, 'soft'), quality=60), chunk(b'unkn', b'x'),
        chunk(b'EXIF', b'Exif\0\0' + exif(6)), chunk(b'XMP ', b'<x/>')) + b'behind'
    # EXIF that VP8X does not tell of, and a picture that is said to have alpha.
    files['hidden-exact'] = riff(vp8x(16, *odd), coded(picture(rng, *odd, None), **exact),
                                 chunk(b'EXIF', exif(6)))
    for i in range(6):
        for alpha in None, 'hard', 'mixed':
            files['anim%d-%s-exact' % (i, alpha)] = animation(rng, alpha, False)
    for i in range(3):
        files['anim%d-lossy' % i] = animation(rng, [None, 'hard', 'mixed'][i], True)
    for name, data in files.items():
        write(os.path.join(folder, name + '.webp'), data)


if __name__ == '__main__':
    if sys.argv[1] == 'make':
        make(sys.argv[2], *map(int, sys.argv[3:]))
    else:
        pieces.judge(judge)
