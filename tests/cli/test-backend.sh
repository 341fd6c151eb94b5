# Which backend does the work, and what is said if it cannot.
. "$ROOT/tests/cli/lib.sh"
in=$samples/f-rgb.png

"$program" -v rotate90 "$in" out.png 2>stderr
check 'auto tells its choice' grep -q '^gimgxf: backend cpu: to start a GPU' \
    stderr
gives 2 "gimgxf: --backend: 'opencl' is not auto, cpu or cuda" \
    --backend opencl rotate90 "$in" o.png
gives 2 'gimgxf: --device: the cpu backend has no devices' \
    --backend cpu --device 0 rotate90 "$in" o.png

# A GPU that does not exist, whether or not there are others.
"$program" --backend cuda --device 1000 rotate90 "$in" o.png 2>stderr
check 'status 3' [ $? = 3 ]
check 'one line' [ "$(grep -c '^gimgxf: --backend cuda: ' stderr)" = 1 ]
"$program" --device 1000 rotate90 "$in" o.png 2>stderr
check 'a named device is asked for' [ $? = 3 ]
check 'nothing was written' absent o.png
finish
