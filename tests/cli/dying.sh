# What the scripts about workers that die share, behind lib.sh: a library that,
# loaded before the program, ends it or lets it wait as the comments of its inputs
# say (dies.c has the words).

# build_dies: makes dies.so; says why not if that fails.
build_dies() {
    if ! ${CC:-cc} -D_GNU_SOURCE -shared -fPIC -o dies.so \
        "$ROOT/tests/support/preload/dies.c" -ldl 2>/dev/null; then
        echo 'skipped: no compiler for dies.c'
        return 1
    fi
    if nm -D "$program" 2>/dev/null | grep -q __tsan_init; then
        echo 'skipped: the thread sanitizer must be loaded first'
        return 1
    fi
    # The words of a sanitizer about a process that dies are not tested here.
    export ASAN_OPTIONS=verify_asan_link_order=0:handle_segv=0
}

# serve: with dies.so.
serve() {
    LD_PRELOAD=$PWD/dies.so "$program" --backend "$GIMGXF_BACKEND" serve "$@" -
}

# marked WORD FILE: a PNG with this comment.
marked() {
    python3 - "$samples/f-rgb.png" "$@" <<'END'
import struct, sys, zlib
data = open(sys.argv[1], 'rb').read()
text = b'tEXtComment\0' + sys.argv[2].encode()
chunk = struct.pack('>I', len(text) - 4) + text
chunk += struct.pack('>I', zlib.crc32(text))
open(sys.argv[3], 'wb').write(data[:33] + chunk + data[33:])
END
}
