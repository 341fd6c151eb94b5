# Arrays of every type, layout and order are turned as numpy turns them; arrays
# that cannot be turned are refused with a reason.
. "$ROOT/tests/cli/lib.sh"
needs python3
judged arrays.py "$program" --backend "$GIMGXF_BACKEND"

npy "'|u1'" False '(3, 48, 3)' 432 >a.npy
gives 0 '' --layout hwc fliph a.npy out.npy
python3 -c 'head = b"{\x27descr\x27: \x27|u1\0\x27, \x27fortran_order\x27: False, \x27shape\x27: (2, 2)}\n"
open("nul.npy", "wb").write(b"\x93NUMPY\1\0" + bytes([len(head), 0]) + head + bytes(4))'
gives 1 'gimgxf: nul.npy: its header is malformed' rotate90 nul.npy out2.npy

# What is refused, of which the test of the module has more.
npy "'|u1'" False '(9, 4, 5, 3)' 540 >a.npy
npy "'|u1'" False '(7,)' 7 >line.npy
refused 1 fliph <<END
a.npy out2.npy | a.npy: shape (9, 4, 5, 3) can be read with the channels first or last; --layout nchw or nhwc says which
--layout nhw a.npy out2.npy | a.npy: shape (9, 4, 5, 3) has 4 axes, so it cannot be read by --layout nhw
line.npy out2.npy | line.npy: shape (7,) has 1 axis, where pictures have 2 to 4; numpy.reshape makes them so
END
check 'nothing is written' absent out2.npy

# What is turned, and not converted.
npy "'<f8'" False '(9, 8)' 576 >a.npy
cells="cells of '<f8' can be turned as NPY, but not converted; numpy.astype makes them u1, u2 or f4, which can"
gives 1 "gimgxf: a.npy: $cells" fliph a.npy out.png
gives 1 "gimgxf: a.npy: $cells" --depth 8 fliph a.npy out.npy
npy "'|u1'" False '(9, 8, 7, 3)' 1512 >a.npy
gives 1 'gimgxf: a.npy: 9 pictures in an array can be turned as NPY, but not converted; save each as an array of its own' \
    fliph a.npy out.png
npy "'|u1'" False '(9, 8, 70)' 5040 >a.npy
gives 1 'gimgxf: a.npy: 70 channels can be turned as NPY, but not converted; up to 64 can' \
    --layout hwc fliph a.npy out.pam
check 'nothing is written' absent out.pam
gives 0 '' --layout hwc fliph a.npy out.npy

# Limits, and data that is not what the shape says.
npy "'<f8'" True '(90, 80)' 57600 >a.npy
gives 1 'gimgxf: a.npy: 80 x 90 pixels are more than the 7199 of --max-pixels; --max-pixels 7200 allows them' \
    --max-pixels 7199 fliph a.npy out.npy
gives 1 'gimgxf: a.npy: shape (90, 80) needs 113K bytes, more than the 112K of --max-memory; --max-memory 113K allows them' \
    --max-memory 112K fliph a.npy out.npy
gives 0 '' --max-pixels 7200 --max-memory 113K fliph a.npy out.npy
head -c 57700 a.npy >cut.npy
gives 1 'gimgxf: cut.npy: 57572 bytes of data, where its shape needs 57600' \
    rotate90 cut.npy out2.npy
check 'nothing is written' absent out2.npy
gives 0 'gimgxf: cut.npy: warning: 57572 bytes of data, where its shape needs 57600' \
    --tolerant rotate90 cut.npy out2.npy
npy "'<f8'" True '(80, 90)' 57600 >want.npy
check 'what is missing is 0' same want.npy out2.npy

# Pictures become arrays of their layout.
for shape in 'auto (64, 48, 3)' 'hwc (64, 48, 3)' 'chw (3, 64, 48)' \
    'nhwc (1, 64, 48, 3)' 'nchw (1, 3, 64, 48)'; do
    gives 0 "" -q --layout "${shape%% *}" copy "$samples/f.ppm" out.npy
    check "a picture as ${shape%% *}" \
        grep -aqF "'shape': ${shape#* }, }" out.npy
done
gives 1 "gimgxf: $samples/f.ppm: --layout nhw has no axis for the 3 channels; nhwc and nchw have one" \
    -q --layout nhw copy "$samples/f.ppm" out.npy
gives 0 '' -q --layout chw copy "$samples/f.pgm" out.npy
check 'gray has no axis of channels' grep -aqF "'shape': (64, 48), }" out.npy
gives 0 '' -q --layout nhwc copy "$samples/f.pgm" out.npy
check 'but one of pictures if that is asked for' \
    grep -aqF "'shape': (1, 64, 48), }" out.npy
gives 2 "gimgxf: --layout: 'hcw' is not known; expected auto, hwc, chw, nhw, nhwc or nchw; did you mean 'hwc'?" \
    --layout hcw copy "$samples/f.ppm" out.npy

# What info says of them.
told() {
    local want=$1
    shift
    gives 0 '' info "$@"
    check "info $*" [ "$(cat stdout)" = "$want" ]
}
npy "'<f8'" True '(9, 8, 7, 3)' 12096 >a.npy
told 'a.npy: NPY, 7 x 8
  array of shape (9, 8, 7, 3), type <f8, layout nhwc, Fortran order' a.npy
npy "'|u1'" False '(9, 8, 3)' 216 >a.npy
told 'a.npy: NPY, 8 x 9, RGB, 8 bits
  array of shape (9, 8, 3), type |u1, layout hwc' a.npy
npy "'|u1'" False '(3, 8, 3)' 72 >a.npy
told 'a.npy: NPY
  array of shape (3, 8, 3), type |u1' a.npy
told 'a.npy: NPY, 3 x 8, RGB, 8 bits
  array of shape (3, 8, 3), type |u1, layout chw' --layout chw a.npy
npy "[('r', '|u1')]" False '(3,)' 3 >a.npy
told "a.npy: NPY
  array of shape (3,), type [('r', '|u1')]" a.npy
prints '"channels": 0, "bits": 0' info --json a.npy
check 'JSON of an array' grep -qF \
    "\"type\": \"[('r', '|u1')]\", \"shape\": [3], \"layout\": null, \"fortran\": false}]" \
    stdout
if has_tool numpy; then
    python3 -c 'import numpy as n
n.savez("a.npz", x=n.zeros((5, 6, 3)), y=n.arange(5))'
    told 'a.npz: NPZ
  array x.npy: shape (5, 6, 3), type <f8, layout hwc
  array y.npy: shape (5,), type <i8' a.npz
fi
# An archive that is too large, where nothing goes through a file.
npy "'|u1'" False '(4000, 4000)' 16000000 >a.npy
rm -f a.npz
python3 -m zipfile -c a.npz a.npy
large='the members of an NPZ need 31251K bytes, more than the 12288K of --max-memory; '\
'--max-memory 31251K allows them'
gives 1 "gimgxf: a.npz: $large" rotate90 --max-memory 12M a.npz turned.npz
gives 1 "gimgxf: a.npz: not checked: $large" check --max-memory 12M a.npz
gives 1 "gimgxf: $samples/f.ppm: only an NPZ can become an NPZ; write an NPY" \
    -q copy "$samples/f.ppm" picture.npz
check 'nothing is written' absent picture.npz
finish
