# gimgxf serve answers every job, in order.
. "$ROOT/tests/cli/lib.sh"

gimgxf rotate90 "$samples/f-rgb.png" want.png
gimgxf --quality 80 fliph "$samples/f.jpg" want.jpg
cat >jobs <<END
{"id": 1, "op": "rotate90", "input": "$samples/f-rgb.png", "output": "a.png"}
{"id": "two", "op": "fliph", "input": "$samples/f.jpg", "output": "b.jpg", "options": {"quality": 80, "tolerant": false}}

{"id": [3], "op": "rotate90", "input": "nowhere.png", "output": "c.png"}
{"op": "rotate90", "input": "$samples/f-rgb.png", "output": "d.png", "options": {"png-level": "small", "strip": true}}
END
gimgxf serve - <jobs >answers 2>said
check 'status, as one failed' [ $? = 1 ]
check 'nothing on stderr' [ ! -s said ]
check 'ids' [ "$(member id <answers | paste -sd ' ')" = '1 "two" [3]' ]
check 'statuses' [ "$(member status <answers | paste -sd ' ')" = \
    '"done" "done" "failed" "failed" "done"' ]
check 'a blank line is answered' grep -qF \
    '"error": "the line is blank; expected a JSON object"' <(sed -n 3p answers)
check 'the same as alone' same want.png a.png
check 'the same as alone, with options' same want.jpg b.jpg
check 'the error' grep -q '"error": "No such file or directory"' answers
check 'status, as all are done' gimgxf serve - <<<"$(head -n 1 jobs)" >/dev/null

# Numbers of any kind; an id on several lines is answered on one.
printf '{"id": [1,\n2], "op": "copy", "input": "a.png", "output": "h.jpg", "options": {"quality": 80.0}}\0' |
    gimgxf serve -0 - >answers
check 'numbers, lines' grep -q '^{"id": \[1, 2\].*"status": "done"' answers
printf '{"id": 5, "op": "copy", "input": "a.png", "output": "h.png", "options": {"strip": false}}\n' |
    gimgxf serve --strip - >answers
check 'what all jobs have cannot be taken back' \
    grep -q '^{"id": 5.*option \\"strip\\" was given to all jobs' answers

# It ends by a signal, though its input does not. The program itself is started
# in the background: of a function $! would be a shell that waits for it.
mkfifo endless
for signal in TERM INT HUP; do
    : >answers # of the one before
    # Job control, as bash has what it starts in the background ignore SIGINT.
    set -m
    "$program" --backend "$GIMGXF_BACKEND" serve - <endless >answers &
    pid=$!
    set +m
    exec 7>endless
    head -n 1 jobs >&7
    eventually [ -s answers ]
    check "SIG$signal: it waits" [ "$(member status <answers)" = '"done"' ]
    kill -s $signal $pid
    # One that does not listen ends by another signal, and fails.
    (sleep 20 && kill -KILL $pid) 2>/dev/null &
    wait $pid 2>/dev/null
    check "SIG$signal while it waits" [ $? = $((128 + $(kill -l $signal))) ]
    kill $!
    exec 7>&-
done

# A job that comes in pieces.
(
    printf '{"id": 1, "op": "co'
    sleep 0.1
    printf 'py", "input": "a.png", "output": "p.png"}\n{"id": 2'
    sleep 0.1
    printf ', "op": "copy", "input": "a.png", "output": "q.png"}'
) | gimgxf serve - >answers
check 'in pieces' [ "$(grep -c '"status": "done"' answers)" = 2 ]

# NUL between jobs; then a job may have several lines.
printf '{"op": "copy",\n"input": "a.png", "output": "e.png"}\0' >nul
check 'NUL' gimgxf serve -0 - <nul >answers
check 'NUL: done' same a.png e.png

# What is no job is answered too, and the next one is done.
mkfifo fifo
head -c 1100000 /dev/zero | tr '\0' x >long
answer() {
    printf '%s\n%s\n' "$1" "$(head -n 1 jobs)" | gimgxf serve - >answers
    check "${1:0:99}: told" grep -qF "\"error\": \"$2\"" <(head -n 1 answers)
    check "${1:0:99}: the next one" grep -q '"status": "done"' <(tail -n 1 answers)
    check "${1:0:99}: two answers" lines answers 2
}
while IFS= read -r row; do
    answer "${row%% | *}" "${row#* | }"
done <<'END'
rotate90 a.png b.png | the job is not JSON: expected a value at byte 1
[1] | the job is not a JSON object
{"input": "a", "output": "b"} | the member \"op\" is missing
{"op": "copy", "in": "a", "output": "b"} | unknown member \"in\"; expected id, op, input, output or options
{"op": 7, "input": "a", "output": "b"} | \"op\" must be a string
{"op": "copy", "input": "fifo", "output": "b.png"} | not a regular file
{"op": "rot90", "input": "a.png", "output": "b.png"} | 'rot90' is not an operation; did you mean 'rotate90'?
{"op": "rotate90, flip", "input": "a.png", "output": "b.png"} | ' flip' is not an operation; did you mean 'flip'?
{"op": "info", "input": "a.png", "output": "b.png"} | 'info' is not an operation; expected rotate90, rotate180, rotate270, fliph, flipv, transpose, transverse, upright or copy
{"op": "copy", "input": "-", "output": "b.png"} | \"input\" of a job is a file; standard input and output are for jobs and answers
{"op": "copy", "input": "a.png", "output": "b.png", "options": {"threads": 2}} | --threads: not for a single job; gimgxf serve --help lists what is
{"op": "copy", "input": "a.png", "output": "b.png", "options": {"quality": [2]}} | option \"quality\" must be a string, a number, true or false
{"op": "copy", "input": "--help", "output": "b.png"} | No such file or directory
END
answer "$(cat long)" 'the job has more than 1048576 bytes'
answer $'{"id": "\xff", "op": "copy", "input": "a.png", "output": "b.png"}' 'its id is not UTF-8'
# Strings that no name can be, and text behind the job: whose job it was, and
# what is wrong.
while IFS= read -r row && IFS= read -r whose; do
    answer "${row%% | *}" "the job is refused: ${row#* | }"
    check "$row: whose" [ "$(head -n 1 answers | grep -oE \
        '"(id|input|output)": ("[^"]*"|[0-9]+)' | paste -sd ' ')" = "$whose" ]
done <<'END'
{"input": "a\u0000.png", "op": "copy", "output": "b.png", "id": 77} | NUL, which no name has, at byte 13
"id": 77 "input": "a�.png" "output": "b.png"
{"id": "\ud800x", "op": "copy", "input": "a.png", "output": "b.png"} | half a surrogate pair at byte 9
"id": "\ud800x" "input": "a.png" "output": "b.png"
{"id": 77, "op": "copy", "input": "a.png", "output": "b.png"} {"id": 78} | text after the value at byte 63
"id": 77 "input": "a.png" "output": "b.png"
END

# Refused jobs are told apart by their names, and errors advise what jobs can say.
mkdir folder
cp a.png same.png
ln same.png hard.png
ln -s same.png soft.png
cat >refused <<'END'
{"op": "turn", "input": "a.png", "output": "b.png"}
{"op": "copy", "input": "a.png"}
{"op": "copy", "input": "a.png", "output": 3}
{"op": "copy", "output": "b.png"}
{"op": "copy", "input": "a.png", "output": "b.xyz"}
{"op": "copy", "input": "a.png", "output": "b.png", "options": {"threads": 2}}
{"op": "rotate90", "input": "same.png", "output": "hard.png"}
{"op": "rotate90", "input": "soft.png", "output": "same.png"}
{"op": "rotate90", "input": "folder", "output": "b.png"}
END
gimgxf serve - <refused >answers
check 'refused: inputs and outputs' diff <(grep -oE '"(in|out)put": "[^"]*"' refused) \
    <(grep -oE '"(in|out)put": "[^"]*"' answers)
check 'the input by another name: advice' [ "$(grep -cF \
    '; write input and output as the same name to replace it"' answers)" = 2 ]
check 'the input by another name: it stays' same same.png a.png
check 'a directory: told' grep -qF '"error": "a directory, not a regular file"' answers
check 'no advice that a job cannot take' \
    [ "$(grep -cE -e '-i \(|in-place|recursive' answers)" = 0 ]

# One job at a time: each answer comes before the next job is asked for.
coproc server { gimgxf serve -; }
pid=$server_PID # which is unset as soon as it has ended
for op in rotate90 rotate180 rotate270; do
    printf '{"id": "%s", "op": "%s", "input": "a.png", "output": "f.png"}\n' \
        $op $op >&"${server[1]}"
    read -r -t 20 line <&"${server[0]}"
    check "in turn: $op" grep -q "\"id\": \"$op\".*\"status\": \"done\"" <<<"$line"
done
pid=$server_PID # which bash forgets when it has ended
exec {server[1]}>&-
wait "$pid" 2>/dev/null
check 'it ends with its input' [ $? = 0 ]

# Very many.
for ((i = 0; i < 1000; i++)); do
    echo "{\"id\": $i, \"op\": \"rotate90\", \"input\": \"a.png\", \"output\": \"g$((i % 7)).png\"}"
done >jobs
gimgxf serve - <jobs >answers
check 'many: status' [ $? = 0 ]
check 'many: in order' cmp -s <(seq 0 999) <(member id <answers)

refused 2 <<END
serve | serve reads its jobs from standard input: gimgxf serve -
serve -d out - | the jobs of serve name their files themselves; no option of batches but --null can be given
END
finish
