"""Each allocation fails once, for every kind of file, replaced in place.

    starve.py PROGRAM LIBRARY PLACE MOST [CASE...]

LIBRARY is preload/starve.c, built; PLACE is a directory for files; of each case
about MOST allocations fail, some alone and some with all from it on; or with 0
all, in both ways. Many are common to all cases, so each case takes other ones.
What has to come of it: either the same bytes and the same words as with enough
memory, or exit status 1, a message, the original as it was, and nothing left
beside it. (While it is planned what to do, it is status 2: nothing was begun.)
"""
import io
import os
import random
import re
import struct
import subprocess
import sys
import zipfile
import zlib
from concurrent.futures import ThreadPoolExecutor

import apng
import pieces
from pieces import app1, chunk, raw_profile, read, segment
from strip_pictures import exif as full_exif, full_jpeg

HERE = os.path.dirname(os.path.abspath(__file__))
SAMPLES = os.path.join(HERE, '..', '..', 'samples')
AFTER = 3  # runs more than there are allocations: threads come in any order


# ---- Pictures -----------------------------------------------------------

def sample(name):
    return read(os.path.join(SAMPLES, name))


def noise(n, smooth=16):
    """The same each time; the smoother, the smaller when it is coded."""
    rng = random.Random(12345)
    cells = rng.randbytes(n).translate(bytes(i % smooth for i in range(256)))
    rise = bytes(range(256)) * 2
    return b''.join(cells[i:i + 97].translate(rise[i // 97 % 256:][:256])
                    for i in range(0, n, 97))


def png(width, height, bits=8, color=2, interlace=0, before=b'', after=b'',
        smooth=16):
    channels = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[color]
    raw = b''
    for *_, w, h in pieces.passes(width, height, interlace):
        size = (w * channels * bits + 7) // 8
        cells = noise(size * h, smooth)
        raw += b''.join(b'\0' + cells[i * size:(i + 1) * size] for i in range(h))
    return pieces.png(width, height, bits, color, zlib.compress(raw, 1), before,
                      interlaced=interlace, behind=after)


PALETTE = chunk(b'PLTE', noise(48)) + chunk(b'tRNS', bytes([0, 128]))


XMP = '''<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF
xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description
xmlns:tiff="http://ns.adobe.com/tiff/1.0/" tiff:Orientation="1"
tiff:ImageWidth="48" tiff:ImageLength="32"
xmlns:mwg-rs="http://www.metadataworkinggroup.com/schemas/regions/"
xmlns:stArea="http://ns.adobe.com/xmp/sType/Area#"
xmlns:stDim="http://ns.adobe.com/xap/1.0/sType/Dimensions#"
xmlns:Iptc4xmpExt="http://iptc.org/std/Iptc4xmpExt/2008-02-29/">
<mwg-rs:Regions rdf:parseType="Resource"><mwg-rs:AppliedToDimensions stDim:w="48"
stDim:h="32" stDim:unit="pixel"/><mwg-rs:RegionList><rdf:Bag>
<rdf:li rdf:parseType="Resource"><mwg-rs:Area stArea:x="0.25" stArea:y="0.125"
stArea:w="0.1" stArea:h="0.05" stArea:unit="normalized"/></rdf:li></rdf:Bag>
</mwg-rs:RegionList></mwg-rs:Regions>
<Iptc4xmpExt:ImageRegion><rdf:Bag><rdf:li rdf:parseType="Resource">
<Iptc4xmpExt:RegionBoundary Iptc4xmpExt:rbShape="rectangle"
Iptc4xmpExt:rbUnit="relative" Iptc4xmpExt:rbX="0.1" Iptc4xmpExt:rbY="0.2"
Iptc4xmpExt:rbW="0.3" Iptc4xmpExt:rbH="0.4"/></rdf:li></rdf:Bag>
</Iptc4xmpExt:ImageRegion></rdf:Description></rdf:RDF></x:xmpmeta>'''.encode()


def jpeg(width=48, height=32, segments=b'', options=()):
    ppm = b'P6 %d %d 255\n' % (width, height) + noise(3 * width * height)
    made = subprocess.run(['cjpeg', '-quality', '80', *options], input=ppm,
                          capture_output=True, check=True).stdout
    return made[:2] + segments + made[2:]


def exif(thumbnail):
    return app1(pieces.EXIF, full_exif(b'maker', thumbnail))


def npz(method):
    """Two arrays, as numpy.savez() and savez_compressed() put them."""
    text = "{'descr': '<u2', 'fortran_order': False, 'shape': (3, 8, 6), }"
    head = b'\x93NUMPY\1\0' + struct.pack('<H', 118) + text.ljust(117).encode()
    out = io.BytesIO()
    with zipfile.ZipFile(out, 'w', method) as f:
        f.writestr('first.npy', sample('f.npy'))
        f.writestr('second.npy', head + b'\n' + noise(288))
    return out.getvalue()


def trailer(kind):
    made = subprocess.run([sys.executable,
                           os.path.join(HERE, 'jpeg_trailers.py'), 'make',
                           kind, '/dev/stdout'],
                          capture_output=True, check=True)
    return made.stdout


# ---- Cases --------------------------------------------------------------

# Each is a name with the suffix, the bytes, the arguments and the threads.


def case(suffix, data, words='rotate90', threads=1):
    return suffix, data, words.split(), threads


def turned(suffix, data, more='', threads=1):
    return case(suffix, data, 'rotate90 ' + more, threads)


def png_cases(large, small):
    texts = (chunk(b'tEXt', b'Title\0F') +
             chunk(b'zTXt', b'Comment\0\0' + zlib.compress(b'long ' * 200)) +
             chunk(b'iTXt', b'XML:com.adobe.xmp\0\0\0\0\0' + XMP) +
             chunk(b'pHYs', struct.pack('>IIB', 1000, 2000, 1)) +
             chunk(b'eXIf', full_exif(b'maker', small)))
    raw = raw_profile('exif', full_exif(b'maker', small), False)
    frames = apng.animation(apng.Kind(8, 6, 0), 0, frames=4)
    special, noisy = apng.special(), png(640, 480, smooth=256)
    woven, texts = png(40, 30, interlace=1), png(40, 30, before=texts)
    return {
        'png-frames': turned('png', frames),
        'png-frames-threads': turned('png', frames, threads=3),
        'png-frames-tolerant': turned('png', frames, '--tolerant'),
        'png-frames-level': case('png', frames, 'copy --png-level 1'),
        'png-cut': case('png', special['cut-tagged'], 'upright --tolerant'),
        'png-cut-frames': turned('png', special['cut'], '--tolerant'),
        'png': turned('png', sample('f-rgb.png')),
        'png-gray16': turned('png', sample('f-gray16.png')),
        'png-palette': turned('png', sample('f-palette.png')),
        'png-rgba': turned('png', sample('f-rgba.png')),
        'png-bits': turned('png', png(50, 30, 2, 3, before=PALETTE)),
        'png-interlaced': turned('png', woven),
        'png-chunks': turned('png', texts),
        'png-raw-profile': turned('png', png(40, 30, after=raw)),
        'png-bands': turned('png', large),
        'png-bands-threads': turned('png', large, threads=4),
        'png-bands-small': turned('png', large, '--png-level small', 3),
        'png-bands-fast': turned('png', large, '--png-level fast', 3),
        'png-noise': turned('png', noisy),
        'png-noise-threads': turned('png', noisy, threads=4),
        'png-tolerant': turned('png', sample('f-rgb.png'), '--tolerant'),
        'png-interlaced-tolerant': turned('png', woven, '--tolerant'),
        'png-to-jpeg': turned('png', texts, '--format jpeg'),
        'png-to-bmp': turned('png', sample('f-palette.png'), '--format bmp'),
        'png-to-tga': turned('png', sample('f-rgba.png'), '--format tga'),
        'png-depth': turned('png', sample('f-gray16.png'), '--depth 8'),
    }


def simple_cases():
    found = {suffix: turned(suffix, sample('f.' + suffix)) for suffix in
             ('bmp', 'tga', 'hdr', 'ppm', 'pgm', 'pfm', 'npy')}
    pam = (b'P7\nWIDTH 20\nHEIGHT 10\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\n'
           b'ENDHDR\n' + noise(800))
    return {
        'pfm-to-hdr': turned('pfm', sample('f.pfm'), '--format hdr'),
        'pnm-to-png': turned('ppm', sample('f.ppm'), '--format png'),
        'pfm-to-png': turned('pfm', sample('f.pfm'), '--format png --depth 16'),
        **found,
        'npz': turned('npz', npz(zipfile.ZIP_STORED)),
        'npz-deflated': turned('npz', npz(zipfile.ZIP_DEFLATED), threads=4),
        'pam': turned('pam', pam),
        'pgm-plain': turned('pgm', b'P2\n3 2\n9\n1 2 3\n4 5 6\n'),
    }


def jpeg_cases(small):
    large, odd = jpeg(640, 480), jpeg(45, 27)
    wide = jpeg(640, 480, options=['-restart', '1'])
    return {
        'jpeg': turned('jpg', jpeg()),
        'jpeg-progressive': turned('jpg', jpeg(options=['-progressive'])),
        'jpeg-arithmetic': turned('jpg', jpeg(options=['-arithmetic'])),
        'jpeg-restarts': turned('jpg', jpeg(options=['-restart', '1'])),
        'jpeg-threads': turned('jpg', large, threads=4),
        'jpeg-restarts-threads': turned('jpg', wide, threads=4),
        'jpeg-optimize': turned('jpg', large, '--optimize', 4),
        'jpeg-odd': turned('jpg', odd),
        'jpeg-odd-threads': turned('jpg', jpeg(645, 477), threads=4),
        'jpeg-trim': turned('jpg', jpeg(45, 27, exif(small)), '--edge trim'),
        'jpeg-tag': turned('jpg', odd, '--edge tag'),
        'jpeg-quality': turned('jpg', jpeg(), '--quality 70'),
        'jpeg-tolerant': turned('jpg', jpeg(), '--tolerant'),
        'jpeg-odd-tolerant': turned('jpg', odd, '--tolerant'),
    }


def jpeg_metadata_cases(small):
    full = full_jpeg(jpeg())

    def having(segments):
        return turned('jpg', jpeg(segments=segments))
    found = {
        'jpeg-thumbnail': having(exif(small)),
        'jpeg-odd-thumbnail': having(exif(jpeg(23, 15))),
        'jpeg-xmp': having(app1(pieces.XMP, XMP)),
        'jpeg-jfxx': having(segment(0xe0, b'JFXX\0\x10' + small)),
        'jpeg-full': turned('jpg', full),
        'jpeg-to-png': turned('jpg', full, '--format png'),
        'jpeg-strip': turned('jpg', full, '--strip'),
    }
    for kind in ('ultrahdr', 'motion', 'stereo', 'odd', 'broken'):
        found['jpeg-trailer-' + kind] = turned('jpg', trailer(kind))
    return found


def batch_cases(large, small):
    batch = '--in-place --quiet'
    return {
        'batch-png': turned('png', sample('f-rgb.png'), batch),
        'batch-bands': turned('png', large, batch, 4),
        'batch-jpeg': turned('jpg', jpeg(segments=exif(small)), batch, 2),
        'batch-npy': turned('npy', sample('f.npy'), batch, 2),
    }


def cases():
    large, small = png(640, 600), jpeg(24, 16)
    return {**png_cases(large, small), **simple_cases(), **jpeg_cases(small),
            **jpeg_metadata_cases(small), **batch_cases(large, small)}


# ---- Runs ---------------------------------------------------------------

class Case:
    def __init__(self, number, name, program, library, place, case):
        self.number, self.name = number, name
        self.suffix, self.before, self.arguments, self.threads = case
        self.program, self.library = program, library
        self.place = os.path.join(place, name)
        self.file = 'in.' + self.suffix
        self.path = os.path.join(self.place, self.file)
        in_place = '--in-place' in self.arguments
        self.names = [self.file] if in_place else [self.file, self.file]
        os.mkdir(self.place)

    def run(self, at, times):
        """The status, what was said, and how many allocations there were."""
        pieces.write(self.path, self.before)
        read, write = os.pipe()
        env = dict(os.environ, LD_PRELOAD=self.library, STARVE_AT=str(at),
                   STARVE_FOR=str(times), STARVE_COUNT=str(write))
        done = subprocess.run(
            [self.program, '--backend', 'cpu', '--threads', str(self.threads),
             *self.arguments, *self.names], cwd=self.place, env=env,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, pass_fds=[write], timeout=60)
        os.close(write)
        with os.fdopen(read) as f:
            count = f.read()
        # That there are fewer threads is said, as it is not with enough memory.
        said = re.sub(r'.*: warning: not all of \d+ threads could be started: .*\n',
                      '', done.stderr.decode())
        return done.returncode, said, int(count or 0)

    def judge(self, status, said):
        """What is wrong; None: nothing."""
        left = os.listdir(self.place)
        now = read(self.path)
        if left != [self.file]:
            return 'leaves %s' % left
        if status == 0 and (now, said) != (self.after, self.said):
            return 'done, but other than with enough memory: %r' % said
        if status == 0:
            return None
        begun = status != 2 or ': no memory' not in said
        # Nor is anything begun when the dynamic linker, for which some of the
        # formats' libraries are loaded, ends the process by itself.
        linking = (status, said) == (127, 'out of memory\n')
        if status != 1 and begun and not linking:
            return 'status %d: %r' % (status, said)
        if now != self.before:
            return 'failed, but the original is another'
        if linking:
            return None
        if not re.fullmatch(r'(gimgxf: .+\n)+', said):
            return 'failed without a message: %r' % said
        return None

    def sweep(self, most):
        """How many runs there were, and what was wrong with some."""
        status, self.said, count = self.run(0, 1)
        self.after = read(self.path)
        if status or self.after == self.before:
            return 1, ['%s: status %d with enough memory: %s' %
                       (self.name, status, self.said)]
        runs, wrong = 1, []
        last = count + AFTER if self.threads > 1 else count
        step = max(1, last // most) if most else 1
        for at in range(1 + self.number % step, last + 1, step):
            for times in (1, 0):
                if most and (at // step + self.number) % 2 == times:
                    continue
                status, said, _ = self.run(at, times)
                problem = self.judge(status, said)
                runs += 1
                if problem:
                    wrong.append('%s: allocation %d fails%s: %s' % (
                        self.name, at, '' if times else ', and all after it',
                        problem))
        return runs, wrong


def main():
    program, library, place, most, *names = sys.argv[1:]
    found = cases()
    todo = [Case(number, name, os.path.abspath(program),
                 os.path.abspath(library), place, found[name])
            for number, name in enumerate(names or found)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        done = list(pool.map(lambda case: case.sweep(int(most)), todo))
    failed = 0
    for _, wrong in done:
        failed += len(wrong)
        for line in wrong[:int(os.environ.get("SHOW", "5"))]:
            print('FAIL', line)
    print('%d passed, %d failed' % (sum(n for n, _ in done) - failed, failed))
    sys.exit(failed > 0)


main()
