# As many threads as are asked for work, also in the sandbox; and what cannot be started
# is done without. (That the output is the same is in test-same-bytes.)
. "$ROOT/tests/cli/lib.sh"
needs python3

# ---- How many work ----

{ printf 'P6\n800 700\n255\n'; head -c 1680000 /dev/urandom; } >in.ppm
gimgxf -q copy in.ppm in.png
gimgxf -q copy in.ppm in.jpg
gimgxf -q copy in.ppm in.npy
python3 - <<'END'
import costly_files as made
with open('in.apng', 'wb') as file:
    file.write(made.frames_apng(64, 300, 300))
END
mkdir many
for i in {01..24}; do
    ln in.png "many/$i.png"
done

# counts KEY N COMMAND...: whether one of the objects that a command prints says that
# there were N threads; or they name N workers at least. On a busy machine a thread may
# begin when nothing is left to do: so there are some tries.
counts() {
    local key=$1 n=$2 try
    shift 2
    for ((try = 0; try < 30; try++)); do
        "$@" >stdout 2>stderr || return 1
        grep -o "\"$key\": [0-9]*" stdout | sort -u >numbers
        [ "$key" = threads ] || [ "$(wc -l <numbers)" -lt "$n" ] || return 0
        [ "$key" = worker ] || ! grep -q " $n\$" numbers || return 0
    done
    return 1
}

serve_all() {
    local file
    for file in many/*; do
        echo "{\"op\":\"rotate90\",\"input\":\"$file\",\"output\":\"served/${file##*/}\"}"
    done | gimgxf serve "$@" -
}

for box in on off; do
    for n in 2 4; do
        for names in 'in.png out.png' 'in.jpg out.jpg' 'in.ppm out.png' \
            'in.npy out.npy' 'in.apng out.png'; do
            [ "$names" != 'in.npy out.npy' ] || [ "$GIMGXF_BACKEND" = cpu ] || continue
            check "$names: $n threads, sandbox $box" counts threads $n \
                gimgxf --json --sandbox=$box -j $n rotate90 $names
        done
        rm -rf out
        check "a batch of one: $n threads, sandbox $box" counts threads $n \
            gimgxf --json -q --sandbox=$box -j $n rotate90 -d out in.png
        check "a batch: $n workers, sandbox $box" counts worker $n \
            gimgxf --json -q --sandbox=$box -j $n rotate90 -d out many/*
        # Processes open a GPU one after the other: the first one may have done these
        # few pictures before the second one has it.
        [ "$GIMGXF_BACKEND" = cpu ] || continue
        check "--isolate: $n workers, sandbox $box" counts worker $n \
            gimgxf --json -q --sandbox=$box -j $n --isolate rotate90 -d out many/*
        check "serve: $n workers, sandbox $box" counts worker $n \
            serve_all --sandbox=$box -j $n
    done
done
gimgxf -v -j 1 rotate90 in.png out.png 2>stderr
check '-v: one thread' grep -q ' out, 1 thread; read ' stderr
gimgxf -v -j 1 rotate90 -d out in.png in.jpg 2>stderr
check '-v: workers' grep -qE ', [12] workers? together$' stderr

# ---- Threads that cannot be started ----

if ! loads faults ||
    nm -D "$program" 2>/dev/null | grep -q __tsan_init; then # it starts threads itself
    echo 'skipped: nothing can be loaded before what starts threads in this build'
    finish
    exit
fi
gimgxf -q rotate90 in.png want.png

# alone ARGUMENTS...: a call without any other thread.
alone() {
    LD_PRELOAD=$library FAULTS_THREAD=1 FAULTS_THREADS=1 gimgxf "$@" 2>stderr
}

# has_warned [NAME]: of a picture, or of workers.
has_warned() {
    grep -qF "gimgxf: ${1+$1: }warning: not all ${1+of 4 }threads could be started: " stderr
}

if [ "$GIMGXF_BACKEND" = cpu ]; then # a device has threads of its own
    rm -f out.png
    check 'a picture on one thread' alone -j 4 rotate90 in.png out.png
    check 'a picture on one thread: told' has_warned in.png
    check 'a picture on one thread: done' same want.png out.png
    rm -rf out
    check 'a batch without workers' alone -j 4 rotate90 -d out many/*
    check 'a batch without workers: told' has_warned
    check 'a batch without workers: done' [ "$(ls out | wc -l)" = 24 ]
    rm -rf out # the processes need no threads
    check '--isolate without threads' alone -j 4 --isolate rotate90 -d out many/*
    check '--isolate without threads: done' [ "$(ls out | wc -l)" = 24 ]
    check 'check without workers' alone check many/*
    check 'check without workers: told' has_warned
    rm -f out.png
    LD_PRELOAD=$library FAULTS_THREAD=1 FAULTS_THREADS=1 serve_all -j 4 >stdout 2>stderr
    check 'serve without threads: done' [ "$(grep -c '"status": "done"' stdout)" = 24 ]
    check 'serve without threads: right' same want.png served/01.png
    alone -q -j 4 rotate90 in.png out.png
    check 'quiet' lines stderr 0
fi
finish
