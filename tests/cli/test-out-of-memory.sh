# The kernel kills what takes more memory than there is: of serve, and of a batch
# with --isolate, one job is lost. A control group has that little memory.
# alone: it lets memory run out.
. "$ROOT/tests/cli/lib.sh"
needs python3

cpu_only
if [ -d /sys/fs/cgroup/memory ]; then
    group=/sys/fs/cgroup/memory/gimgxf-$$ limit=memory.limit_in_bytes
else
    group=/sys/fs/cgroup/gimgxf-$$ limit=memory.max
fi
mkdir "$group" 2>/dev/null || skip_all 'no control group can be made here'
trap 'rmdir "$group"' EXIT
{ echo 160M >"$group/$limit"; } 2>/dev/null ||
    skip_all 'no control group limits memory here'
for swap in memory.memsw.limit_in_bytes memory.swap.max; do
    [ ! -e "$group/$swap" ] || echo 0 >"$group/$swap" 2>/dev/null ||
        echo 160M >"$group/$swap"
done

# confined OPTION...: the program in this group.
confined() {
    sh -c 'echo $$ >"$1" && shift && exec "$@"' sh "$group/cgroup.procs" \
        "$program" --backend cpu "$@"
}

mkdir in
for i in 1 2 3 5 6; do
    cp "$samples/f-rgb.png" in/$i.png
done
python3 -c 'import sys
from costly_files import deflate_zeros, png
sys.stdout.buffer.write(png(9000, 9000, 8, 2, deflate_zeros(27001 * 9000)))
' >in/4.png
gimgxf rotate90 in/1.png want.png
killed='the job ended its process by signal 9 (Killed); the output was not written'

confined rotate90 --max-memory 4G -j 1 -d alone in/4.png in/1.png 2>stderr
[ $? = 137 ] || skip_all 'the kernel kills nothing here'
for j in 1 2; do
    confined rotate90 --isolate --max-memory 4G -j $j -r -d out$j in 2>stderr
    check "--isolate -j $j: status" [ $? = 1 ]
    check "--isolate -j $j: one line" \
        [ "$(grep -v ' of 6 done\| in, .* out, ' stderr)" = "gimgxf: in/4.png: $killed" ]
    check "--isolate -j $j: the others" [ "$(ls out$j | tr '\n' ' ')" = \
        '1.png 2.png 3.png 5.png 6.png ' ]
    check "--isolate -j $j: as they are" same want.png out$j/6.png
    check "--isolate -j $j: nothing else" no_temporary out$j
done

mkdir served
for i in 1 2 3 4 5 6; do
    printf '{"id": %d, "op": "rotate90", "input": "in/%d.png", "output": "served/%d.png"}\n' \
        $i $i $i
done | confined serve -j 1 --max-memory 4G - >answers 2>stderr
check 'serve: status' [ $? = 1 ]
check 'serve: all are answered' [ "$(wc -l <answers)" = 6 ]
check 'serve: one fails' [ "$(grep -c "$killed" answers)" = 1 ]
check 'serve: the large one' grep -q "^{\"id\": 4, .*$killed" answers
check 'serve: the others' [ "$(ls served | wc -l)" = 5 ]
check 'serve: as they are' same want.png served/6.png
finish
