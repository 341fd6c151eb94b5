# The progress line of a batch appears on a terminal, and nowhere else.
. "$ROOT/tests/cli/lib.sh"
needs python3

# on_terminal TERM ARGUMENTS...: runs gimgxf with stderr on a terminal of WIDTH columns,
# or 80, and prints what was drawn.
cat >terminal.py <<'EOF'
import fcntl, os, pty, struct, subprocess, sys, termios
master, slave = pty.openpty()
fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack(
    'HHHH', 24, int(os.environ.get('WIDTH', 80)), 0, 0))
run = subprocess.Popen(sys.argv[2:], stderr=slave, stdout=subprocess.DEVNULL,
                       env=dict(os.environ, TERM=sys.argv[1]))
os.close(slave)
drawn = b''
try:
    while True:
        drawn += os.read(master, 65536)
except OSError: # the other end is closed
    run.wait()
sys.stdout.buffer.write(drawn.replace(b'\033[K', b'<K>').replace(b'\r', b'<R>'))
EOF
on_terminal() {
    python3 terminal.py "$@"
}

# Where there is no room for all fields, some are left out and none is cut.
slow_pictures many
for width in 30 80; do
    WIDTH=$width on_terminal xterm "$program" -j 1 rotate90 -d turned \
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
for call in 'xterm -q' 'dumb -v'; do
    # shellcheck disable=SC2086 # they are words
    on_terminal ${call% *} "$program" ${call#* } -j 1 rotate90 -d turned \
        many/*.ppm >drawn
    check "$call: no line is drawn" [ "$(grep -c '<K>' drawn)" = 0 ]
done
finish
