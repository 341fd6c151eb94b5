# The progress line for one picture appears on a terminal after a second,
# disappears at the end, and appears nowhere else.
. "$ROOT/tests/cli/lib.sh"
needs python3

# What repeats in many ways takes zlib's level 9 long.
python3 - <<'EOF'
import random
random.seed(1)
width, height = 1200, 1200
noise = bytes(random.choice(b'ab') for _ in range(width * 24))
rows = (noise[i * 97 % (width * 21):][:width * 3] for i in range(height))
open('slow.ppm', 'wb').write(b'P6 %d %d 255\n' % (width, height) +
                             b''.join(rows))
EOF

# on_terminal SECONDS PATTERN ENVIRONMENT ARGUMENTS...: runs gimgxf with stderr on
# a terminal of WIDTH columns, or 80, until the pattern is there or it ends; prints what
# was drawn. FEED=FILE: writes this to its stdin once the pattern is there, and
# waits for the end.
cat >terminal.py <<'EOF'
import fcntl, os, pty, re, select, struct, subprocess, sys, termios, time
seconds, pattern, setting, *words = sys.argv[1:]
master, slave = pty.openpty()
fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack(
    'HHHH', 24, int(os.environ.get('WIDTH', 80)), 0, 0))
environment = dict(os.environ, TERM=setting)
feed = os.environ.get('FEED')
run = subprocess.Popen(words, stderr=slave, env=environment,
                       stdin=subprocess.PIPE if feed else None,
                       stdout=subprocess.DEVNULL)
os.close(slave)
drawn, end = b'', time.monotonic() + float(seconds)
while time.monotonic() < end:
    if re.search(pattern.encode(), drawn):
        if not feed:
            break
        run.stdin.write(open(feed, 'rb').read())
        run.stdin.close()
        feed, pattern = None, 'never'
    if select.select([master], [], [], 0.1)[0]:
        try:
            drawn += os.read(master, 65536)
        except OSError:
            break
if run.poll() is None and (feed or re.search(pattern.encode(), drawn)):
    run.terminate()
run.wait()
sys.stdout.buffer.write(drawn.replace(b'\033[K', b'<K>').replace(b'\r', b'<R>'))
EOF
on_terminal() {
    python3 terminal.py "$@"
}

on_terminal 120 'encode, [0-9]+ %' xterm "$program" -j 1 --png-level 9 \
    rotate90 slow.ppm slow.png >drawn
check 'the stage, how far, how long, and which' grep -qaE \
    '<R><K>encode, [0-9]+ %, [0-9]+:[0-9]+: slow.ppm' drawn
check 'nothing is left behind' no_temporary .

# Reading from a pipe that has nothing yet; the line is taken away at the end.
FEED=$samples/f-rgb.png on_terminal 60 'read, 0:[0-9]+' xterm "$program" \
    rotate90 - out.png >drawn
check 'read' grep -qa '<R><K>read, 0:[0-9]*: -' drawn
check 'it is taken away' [ "$(tail -c 6 drawn)" = '<R><K>' ]
check 'and the picture is there' [ -s out.png ]

# Not before a second, not if quiet, not on a dumb terminal.
for call in "xterm rotate90" "xterm -q --png-level 4 rotate90" \
    "dumb --png-level 4 rotate90"; do
    # shellcheck disable=SC2086 # they are words
    set -- $call
    kind=$1
    shift
    if [ "$call" = 'xterm rotate90' ]; then
        for _ in 1 2 3; do # on a busy machine one may take a second
            on_terminal 60 never "$kind" "$program" -f "$@" "$samples/f-rgb.png" \
                o.png >drawn
            [ -s drawn ] || break
        done
    else
        (sleep 1.4; cat "$samples/f-rgb.png") |
            on_terminal 60 never "$kind" "$program" -f "$@" - o.png >drawn
    fi
    check "$call: nothing is drawn" [ ! -s drawn ]
done

# A name cannot steer the terminal.
mkfifo "$(printf 'a\033[31mb\302\2331m\377\303\251')"
on_terminal 60 'read, 0:[0-9]+' xterm "$program" rotate90 a* out2.png >drawn
check 'a name' grep -qa 'read, 0:[0-9]*: a?\[31mb?1m?é' drawn

# Where there is no room for all fields, some are left out and none is cut.
mkfifo a-name-of-twenty-four.png
WIDTH=30 on_terminal 60 'read, 0:[0-9]+' xterm "$program" rotate90 \
    a-name-of-twenty-four.png out2.png >drawn
check "30 columns: $(tail -c 60 drawn)" grep -qaE '<K>read, 0:[0-9]+$' drawn
slow_pictures many
for width in 30 80; do
    WIDTH=$width on_terminal 120 never xterm "$program" -j 1 rotate90 -d turned \
        many/*.ppm >drawn
    python3 - $width >said <<'EOF'
import re, sys
lines = open('drawn').read().split('<R><K>')[1:-1]
field = re.compile(r'\d+ of 60(, ETA \d+:\d\d)?(, \d+ %)(, [\d.]+ (bytes|[kMG]B)/s)?')
print(bool(lines), [line for line in lines if line and not (
    field.fullmatch(line) and len(line) < int(sys.argv[1]))],
    any(line.endswith('/s') and 'ETA' in line for line in lines))
EOF
    check "a batch, $width columns: $(cat said)" [ "$(cat said)" = \
        "True [] $([ $width = 80 ] && echo True || echo False)" ]
done
finish
