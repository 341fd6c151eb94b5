# The backend that is chosen, and the message if it cannot be used.
. "$ROOT/tests/cli/lib.sh"
needs python3
in=$samples/f-rgb.png

"$program" -v rotate90 "$in" out.png 2>stderr
check 'auto tells its choice' grep -q '^gimgxf: backend cpu: to start a GPU' \
    stderr
gives 2 "gimgxf: --backend: 'opencl' is not known; expected auto, cpu or cuda" \
    --backend opencl rotate90 "$in" o.png
gives 2 'gimgxf: --device: --backend cpu has no devices' \
    --backend cpu --device 0 rotate90 "$in" o.png

# A GPU that does not exist, whether or not there are others.
"$program" --backend cuda --device 1000 rotate90 "$in" o.png 2>stderr
check 'status 3' [ $? = 3 ]
check 'one line' [ "$(grep -c '^gimgxf: --backend cuda: ' stderr)" = 1 ]
"$program" --device 1000 rotate90 "$in" o.png 2>stderr
check 'a named device is asked for' [ $? = 3 ]
check 'nothing was written' absent o.png

# Every GPU by itself, and all of them at once, each with a few pieces.
if [ "$GIMGXF_BACKEND" = cuda ]; then
    python3 -c 'import sys
sys.stdout.buffer.write(b"P6 1500 1100 255\n" +
                        bytes(i * i % 251 for i in range(1500 * 1100 * 3)))' \
        >large.ppm
    "$program" --backend cpu rotate90 large.ppm cpu.ppm
    gpus=$("$program" --version | grep -c '^GPU [0-9]')
    check 'there are GPUs' [ "$gpus" -gt 0 ]
    for devices in all $(seq 0 $((gpus - 1))); do
        for vram in 256K 64M; do
            makes cpu.ppm --device "$devices" --max-vram $vram rotate90 \
                large.ppm gpu.ppm
            rm -f gpu.ppm
        done
    done
    gives 3 "gimgxf: --backend cuda: CUDA device $gpus not found; $gpus \
found, from 0 on" --device "0,$gpus" rotate90 "$in" o.png
fi
finish
