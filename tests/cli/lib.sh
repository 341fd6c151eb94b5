# What the scripts beside this file share. Each runs in a directory of its own,
# and ends with `finish`.
#
#   ROOT            the project
#   PLACE           the directory
#   BUILD           where the program was built
#   GIMGXF_BACKEND  cpu or cuda: what every call is made with
#   TOOLS           what has_tool() has found for other scripts
#   VERBOSE=1       a line for each check that passed, too
#   WHOLE=1         all combinations, of which otherwise some are tried
#
# What scripts of Python share is in tests/support.
export PYTHONPATH=$ROOT/tests/support PYTHONDONTWRITEBYTECODE=1

# What a script calls sorts and reads letters as C does: in others [a-z] has no i, and
# tools translate what they say. What is tested has the user's LC_ALL, or none.
users=${LC_ALL-}
export LC_ALL=C
samples=$ROOT/samples
turns='fliph flipv rotate180 transpose rotate90 rotate270 transverse'
tools=${TOOLS:-$PLACE/.tools}
. "$ROOT/tests/support/tools.sh"
passed=0 failed=0 traces=
cd "$PLACE" || exit 1
case $BUILD in
/*) program=$BUILD/gimgxf ;;
*) program=$ROOT/$BUILD/gimgxf ;;
esac

gimgxf() {
    LC_ALL=$users "$program" --backend "$GIMGXF_BACKEND" "$@"
}

# check NAME COMMAND...: whether a command succeeds.
check() {
    local name=$1
    shift
    if "$@"; then
        passed=$((passed + 1))
        [ -z "${VERBOSE-}" ] || echo "pass $name"
    else
        failed=$((failed + 1))
        echo "FAIL $name: $*"
    fi
}

# gives STATUS STDERR ARGUMENTS...: calls gimgxf, and compares its status and
# all that it says on stderr, but for what -v says of a build with sanitizers or a
# kernel without Landlock, and that an output of an earlier call was replaced. Its
# stdout is left in the file `stdout`.
gives() {
    called "$1" "${@:3}"
    check "stderr of: ${*:3}" \
        [ "$(grep -v -e 'not confined .*: this build has sanitizers$' \
            -e 'not confined .*: this kernel has no Landlock$' \
            -e ': existed and was replaced; -n leaves' stderr)" = "$2" ]
}

# called STATUS ARGUMENTS...: the same, whatever it says.
called() {
    local status=$1 got
    shift
    gimgxf "$@" >stdout 2>stderr </dev/null
    got=$?
    check "status $got of: $*" [ "$got" = "$status" ]
}

# tells STATUS PATTERN ARGUMENTS...: the same, and a line that it says matches.
tells() {
    called "$1" "${@:3}"
    check "stderr of: ${*:3}: $(head -n 3 stderr)" grep -q -e "$2" stderr
}

# prints PATTERN ARGUMENTS...: in silence, and a line of stdout matches.
prints() {
    gives 0 '' "${@:2}"
    check "stdout of: ${*:2}: $(head -n 3 stdout)" grep -q -e "$1" stdout
}

# makes WANT ARGUMENTS...: in silence, and the last argument is a file like WANT.
makes() {
    gives 0 '' "${@:2}"
    check "output of: ${*:2}" same "$1" "${@: -1}"
}

# refused STATUS [ARGUMENT...]: for each line "MORE ARGUMENTS | MESSAGE" of stdin, of
# which the arguments are as in a shell: the message is all that such a call says,
# and nothing is printed. Lines that begin with # are passed over.
refused() {
    local line words
    while IFS= read -r line; do
        [[ $line != '#'* ]] || continue
        eval "words=(${line%% | *})"
        words=("${@:2}" "${words[@]}")
        gives "$1" "gimgxf: ${line#* | }" "${words[@]}"
        check "stdout of: ${words[*]}" [ ! -s stdout ]
    done
}

whole() {
    [ "${WHOLE-}" = 1 ]
}

# pick N WORD...: sets `picked` to N of the words, other ones each time; with WHOLE=1
# to all.
picks=0 picked=
pick() {
    local n=$1 i
    shift
    picked=$*
    if ! whole; then
        picked=
        for ((i = 0; i < n; i++, picks++)); do
            picked+=" ${*:picks % $# + 1:1}"
        done
    fi
}

# try N WORDS COMMAND...: the command, with each of N of the words as its last argument.
try() {
    local word
    pick "$1" $2
    for word in $picked; do
        "${@:3}" "$word"
    done
}

same() {
    cmp -s "$1" "$2"
}

absent() {
    [ ! -e "$1" ]
}

# member NAME: this member of each answer of serve.
member() {
    grep -oE "\"$1\": (\"[^\"]*\"|[^,}]*)" | sed 's/^"[^"]*": //'
}

# npy DESCR FORTRAN SHAPE SIZE: an array of this header, of so many zeros.
npy() {
    local text="{'descr': $1, 'fortran_order': $2, 'shape': $3, }"
    printf '\x93NUMPY\1\0\x76\0%-117s\n' "$text"
    head -c "$4" /dev/zero
}

# Nothing of ours is left in a directory.
no_temporary() {
    [ -z "$(find "$1" -name '.gimgxf-*')" ]
}

# worker PID: the process that does the jobs of this one. It is there; but it may
# take more than one look at /proc, which changes meanwhile, to see it.
worker() {
    local try stat line
    for ((try = 0; try < 50; try++)); do
        for stat in "/proc/$1/task/$1/children" /proc/[0-9]*/stat; do
            line=
            { read -r line <"$stat"; } 2>/dev/null
            if [[ $line =~ ^([0-9]+)' '*$ ||
                $line =~ ^([0-9]+)' (gimgxf) '.' '$1' ' ]]; then
                echo "${BASH_REMATCH[1]}"
                return
            fi
        done
        sleep 0.05
    done
}

# workers PID: all processes that it has started.
workers() {
    local stat line
    for stat in /proc/[0-9]*/stat; do
        { read -r line <"$stat"; } 2>/dev/null
        [[ ! $line =~ ^([0-9]+)' (gimgxf) '.' '$1' ' ]] || echo "${BASH_REMATCH[1]}"
    done
}

# eventually COMMAND...: whether it succeeds within some seconds.
eventually() {
    local i
    for ((i = 0; i < 400; i++)); do
        ! "$@" || return 0
        sleep 0.05
    done
    return 1
}

lines() {
    [ "$(wc -l <"$1")" = "$2" ]
}

# begin ARGUMENT...: starts a server, which reads from descriptor 7 of ours; its answers
# go to the file `answers`, its process is $server.
begin() {
    : >answers # so that those of another server are not taken for its own
    [ -p endless ] || mkfifo endless
    "$program" --backend "$GIMGXF_BACKEND" serve "$@" - <endless >answers 2>said &
    server=$!
    exec 7>endless
}

# stored_pictures NAME: a PPM of 16 x 24 pixels, all whole blocks of a JPEG, and
# the PNG and the JPEG made of it.
stored_pictures() {
    python3 -c 'import sys
sys.stdout.buffer.write(b"P6\n16 24\n255\n" + bytes(
    (x * 13 + y * 7 + c * 50) % 256
    for y in range(24) for x in range(16) for c in range(3)))' >"$1.ppm"
    gimgxf -q copy "$1.ppm" "$1.png"
    gimgxf -q copy "$1.ppm" "$1.jpg"
}

# slow_pictures DIRECTORY: 60 pictures that take a while.
slow_pictures() {
    local i
    mkdir "$1"
    { printf 'P6\n1500 1500\n255\n'; head -c 6750000 /dev/urandom; } \
        >"$1/001.ppm"
    for i in {002..060}; do
        ln "$1/001.ppm" "$1/$i.ppm"
    done
}

# needs TOOL...: ends the script where has_tool() does not find one of them.
needs() {
    local name
    for name in "$@"; do
        has_tool "$name" || skip_all "there is no $name"
    done
}

# offers TOOL...: whether they are there; says it if not.
offers() {
    local name
    for name in "$@"; do
        has_tool "$name" || { echo "skipped: $name" && return 1; }
    done
}

# cpu_only: ends the script where it is for a device.
cpu_only() {
    [ "$GIMGXF_BACKEND" = cpu ] || skip_all 'it is for the cpu'
}

# loads NAME: sets `library` to this one of ours; whether it can be loaded first.
loads() {
    library=${program%/gimgxf}/tests/$1.so
    LD_PRELOAD=$library "$program" --version >/dev/null 2>&1
}

# eight_turns FILE COPY [OPTION]: eight quarter turns of it are four, which are left
# in `four`.
eight_turns() {
    local i
    cp "$1" "$2"
    for i in 1 2 3 4 5 6 7 8; do
        check "quarter turn $i of $1" gimgxf -q rotate90 $3 -i "$2"
        [ $i != 1 ] || [[ $1 = *one-pixel* ]] ||
            check "a quarter turn of $1 is something" \
                [ "$(cmp -s "$1" "$2"; echo $?)" = 1 ]
        [ $i != 4 ] || cp "$2" four
    done
    check "eight quarter turns of $1 are four" same four "$2"
}

# holds KEY=VALUE...: whether the last JSON object in `stdout` does, as Python prints
# values; a member of a member is KEY.KEY.
holds() {
    local wrong
    wrong=$(tail -n 1 stdout | python3 -c 'import functools, json, sys
held = json.load(sys.stdin)
for key, value in (word.split("=", 1) for word in sys.argv[1:]):
    got = functools.reduce(lambda o, k: o[k], key.split("."), held)
    if str(got) != value:
        print(key, "is", got)' "$@" 2>&1)
    check "JSON: $* ($wrong)" [ -z "$wrong" ]
}

# can_trace: whether strace is there, and may do its work; says it once if not.
can_trace() {
    if [ -z "$traces" ]; then
        has_tool strace && strace -o trace -e trace=none true 2>/dev/null
        traces=$?
        [ $traces = 0 ] || echo 'skipped: what takes strace'
    fi
    return $traces
}

# can_be_nobody: whether setpriv can start a program as another user.
can_be_nobody() {
    [ "$(id -u)" = 0 ] && has_tool setpriv &&
        setpriv --reuid 65534 true 2>/dev/null
}

# as_nobody COMMAND...: as another user, in no group.
as_nobody() {
    setpriv --reuid 65534 --regid 65534 --clear-groups "$@"
}

# skip_all REASON: ends a script that cannot run here.
skip_all() {
    echo "skipped: $1"
    check 'nothing to check' true
    finish
    exit
}

# judge COMMAND...: whether each line OP IN OUT of the file `turned` is right: the command
# reads them, and prints those that are not, with the reason.
judge() {
    local line wrong
    wrong=$("$@" <turned 2>&1)
    check "judged by $*" [ $? = 0 -a -s turned ]
    while IFS= read -r line; do
        check "$line" [ "${wrong/"$line:"/}" = "$wrong" ]
    done <turned
    [ -z "$wrong" ] || echo "$wrong"
    rm turned
}

# judged SCRIPT ARGUMENT...: what a script of tests/support that needs numpy counts.
judged() {
    offers numpy || return
    python3 "$ROOT/tests/support/$1" "${@:2}" >log
    grep '^skipped' log
    check "$1: $(grep FAIL log | head -n 5)" grep -q '^[0-9]* passed, 0 failed$' log
    passed=$((passed + $(sed -n 's/^\([0-9]*\) passed.*/\1/p' log)))
}

# on_both DIFFERS LEAST ARGUMENTS...: the pictures below in/ by the CPU, into cpu/, and by
# the backend, into device/: status and messages are the same; so says DIFFERS cpu
# device of the outputs, of which there are at least so many.
on_both() {
    local differs=$1 least=$2 status
    shift 2
    rm -rf cpu device
    "$program" --backend cpu "$@" -r -d cpu in 2>said.cpu
    status=$?
    "$program" --backend "$GIMGXF_BACKEND" "$@" -r -d device in 2>said.device
    check "status of: $*" [ $? = $status ]
    check "outputs of: $*" $differs cpu device
    check "messages of: $*" same <(grep -v ' bytes\| [kM]B in' said.cpu) \
        <(grep -v ' bytes\| [kM]B in' said.device)
    check "there are outputs of: $*" [ "$(find device -type f | wc -l)" -ge "$least" ]
}

finish() {
    echo "$passed passed, $failed failed"
    [ "$failed" = 0 ]
}

# filled_ppm WIDTH HEIGHT N: a picture of bytes of the samples; no two N have the
# same.
filled_ppm() {
    printf 'P6\n%d %d\n255\n' "$1" "$2"
    for ((n = 0; n < $1 * $2; n += 1000)); do
        cat "$samples/f.bmp" "$samples/f-rgba.png" "$samples/f.jpg"
    done | tail -c +$((1 + $3 * 13)) | head -c $(($1 * $2 * 3))
}
