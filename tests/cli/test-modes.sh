# Permissions, owners, access control lists and extended attributes of outputs.
. "$ROOT/tests/cli/lib.sh"
needs python3
cp "$samples/f-rgb.png" in.png
chmod 644 in.png
gives 0 '' rotate90 in.png want.png

# acl FILE: its access control list, in hexadecimal, "" if it has none.
# xattr FILE NAME [VALUE]: gives it an attribute, or prints one.
cat >attributes.py <<'END'
import os, struct, sys
what, name = sys.argv[1:3]
def entries(*list):
    return struct.pack('<I', 2) + b''.join(struct.pack('<HHI', *e) for e in list)
NONE = 0xffffffff
try:
    if what == 'acl':
        print(os.getxattr(name, 'system.posix_acl_access').hex())
    elif what == 'give-acl': # user 65534 may read and write; so may nobody else
        os.setxattr(name, 'system.posix_acl_' + sys.argv[3], entries(
            (1, 6, NONE), (2, 6, 65534), (4, 0, NONE), (16, 6, NONE),
            (32, 0, NONE)))
    elif what == 'deny-acl': # all may read, but user 65534
        os.setxattr(name, 'system.posix_acl_access', entries(
            (1, 6, NONE), (2, 0, 65534), (4, 4, NONE), (16, 4, NONE),
            (32, 4, NONE)))
    elif what == 'capability':
        os.setxattr(name, 'security.capability',
                    struct.pack('<IIIII', 0x02000001, 1024, 0, 0, 0))
    elif len(sys.argv) == 5:
        os.setxattr(name, sys.argv[3], sys.argv[4].encode())
    else:
        print(os.getxattr(name, sys.argv[3]).decode())
except OSError as error:
    sys.exit(0 if what in ('acl', 'xattr') and len(sys.argv) < 5 else str(error))
END
acl() {
    python3 attributes.py acl "$1"
}
xattr() {
    python3 attributes.py xattr "$@"
}
mode() {
    stat -c %a "$1"
}
shown() {
    stat -c '%a %u %g %y' "$1"
}
all_of() {
    shown "$1"
    acl "$1"
}

# A new file has the mode of its input, as cp gives it; what comes from standard
# input has none.
for mask in 022 077 002; do
    for mode in 600 640 644 664 755 444 4755 2775 1644; do
        cp in.png m.png
        chmod $mode m.png
        rm -f new.png by-cp
        (
            umask $mask
            cp m.png by-cp
            gimgxf rotate90 m.png new.png
        )
        check "as cp: $mode, umask $mask" [ "$(mode new.png)" = "$(mode by-cp)" ]
    done
    rm -f new.png by-cp
    (
        umask $mask
        : >by-cp
        gimgxf rotate90 --format png - new.png <m.png
    )
    check "from a stream, umask $mask" [ "$(mode new.png)" = "$(mode by-cp)" ]
done
chmod 600 m.png
rm -rf out
gives 0 '' -q rotate90 -d out m.png
check 'of a batch' [ "$(mode out/m.png)" = 600 ]

# What is replaced keeps its mode, whatever that of the input.
for mode in 600 640 604 644 666 444 400 2755 4755; do
    cp in.png old.png
    chmod $mode old.png
    gives 0 '' rotate90 m.png old.png
    check "kept: $mode" [ "$(mode old.png)" = $mode ]
done

# With -p it is as with cp -p.
touch -d '2001-02-03 04:05:06.789' m.png
for mode in 600 640 664 444 755 4755 2755; do
    chmod $mode m.png
    rm -f new.png by-cp
    cp -p m.png by-cp
    gives 0 '' -p rotate90 m.png new.png
    check "-p, new: $mode" [ "$(all_of new.png)" = "$(all_of by-cp)" ]
    chmod 640 new.png by-cp
    cp -p m.png by-cp
    gives 0 '' -p rotate90 m.png new.png
    check "-p, replaced: $mode" [ "$(all_of new.png)" = "$(all_of by-cp)" ]
done
chmod 644 m.png

# Extended attributes are kept, access control lists, too, which a directory
# adds to none that has none.
cp in.png x.png
if xattr x.png user.note kept 2>/dev/null &&
    python3 attributes.py give-acl x.png access 2>/dev/null; then
    chmod u=rw,o= x.png
    before=$(acl x.png)
    makes want.png rotate90 in.png x.png
    check 'its list' [ "$(acl x.png)" = "$before" ]
    check 'its attribute' [ "$(xattr x.png user.note)" = kept ]
    gives 0 '' -q rotate90 -i x.png
    check 'in place: its list' [ "$(acl x.png)" = "$before" ]
    check 'in place: its attribute' [ "$(xattr x.png user.note)" = kept ]
    for ((i = 0; i < 30; i++)); do
        xattr x.png user.note-with-a-long-name-$i "$i"
    done
    gives 0 '' rotate90 in.png x.png
    check 'many attributes' [ "$(xattr x.png user.note-with-a-long-name-29)" = 29 ]

    rm -f by-cp new.png
    cp -p x.png by-cp
    gives 0 '' -p rotate90 x.png new.png
    check '-p: its list' [ "$(all_of new.png)" = "$(all_of by-cp)" ]
    rm -f by-cp new.png
    cp x.png by-cp
    gives 0 '' rotate90 x.png new.png
    check 'a new file has none' [ "$(all_of new.png | sed 's/ [^ ]* [^ ]* +.*//')" \
        = "$(all_of by-cp | sed 's/ [^ ]* [^ ]* +.*//')" ]

    mkdir listed
    python3 attributes.py give-acl listed default
    install -m 640 in.png old.png
    mv old.png listed
    gives 0 '' rotate90 in.png listed/old.png
    check 'none from the directory' [ -z "$(acl listed/old.png)" ]
    check 'nor its mask' [ "$(mode listed/old.png)" = 640 ]
    cp in.png listed/by-cp
    gives 0 '' rotate90 in.png listed/new.png
    check 'a new one as by cp' [ "$(acl listed/new.png)$(mode listed/new.png)" = \
        "$(acl listed/by-cp)$(mode listed/by-cp)" ]
    cp -p in.png listed/by-cp
    rm listed/new.png
    gives 0 '' -p rotate90 in.png listed/new.png
    check 'a new one as by cp -p' [ "$(shown listed/new.png)" = \
        "$(shown listed/by-cp)" ]
    # The list that the directory adds, some versions of cp leave in place.
    check 'with -p, none from the directory' [ -z "$(acl listed/new.png)" ]

    # Where no list can be set nobody may do more than by the list.
    if can_trace; then
        rm x.png
        cp in.png x.png
        python3 attributes.py give-acl x.png access
        python3 attributes.py deny-acl m.png
        for name in x m; do
            strace -o trace -e inject=fsetxattr:error=EOPNOTSUPP \
                "$program" rotate90 in.png $name.png 2>stderr
            check "no list, $name" [ -z "$(acl $name.png)" ]
            check "no list, $name: it is told" grep -q \
                'warning: the access control list of the output cannot be kept' \
                stderr
        done
        check 'the mode of whom it allows' [ "$(mode x.png)" = 600 ]
        check 'the mode of whom it denies' [ "$(mode m.png)" = 600 ]
        xattr x.png user.note lost
        strace -o trace -e inject=fsetxattr:error=ENOSPC \
            "$program" rotate90 in.png x.png 2>stderr
        check 'no room for an attribute' grep -q \
            'attribute user.note of the output cannot be kept: No space' stderr
        # It is told once, whatever had to be tried to name the file.
        cp in.png y.png
        python3 attributes.py give-acl y.png access
        rm -f new.png
        strace -o trace -e inject=fsetxattr:error=EOPNOTSUPP \
            -e inject=linkat:error=EPERM "$program" -p rotate90 y.png new.png \
            2>stderr
        check 'no list and no link: told once' [ "$(grep -c \
            'the access control list of the output cannot be kept' stderr)" = 1 ]
    fi
else
    echo 'skipped: attributes, which this file system has not'
fi

# Between users.
if can_be_nobody; then
    chmod 711 .
    mkdir -m 777 theirs

    # Root keeps all of it, but not what the old bytes were allowed.
    install -m 4750 -o 65534 -g 65533 in.png theirs/set.png
    gives 0 '' rotate90 in.png theirs/set.png
    check 'an owner' [ "$(stat -c '%a %u %g' theirs/set.png)" = \
        '4750 65534 65533' ]
    if python3 attributes.py capability theirs/set.png 2>/dev/null; then
        gives 0 '' rotate90 in.png theirs/set.png
        check 'no capability' [ -z "$(xattr theirs/set.png security.capability)" ]
    fi
    install -m 640 -o 65534 -g 65533 in.png mine.png
    rm -f new.png
    gives 0 '' -p rotate90 mine.png new.png
    check '-p: an owner' [ "$(stat -c '%a %u %g' new.png)" = '640 65534 65533' ]

    # Who may set neither owner nor group does not let others do more.
    while read -r before after; do
        install -m "$before" in.png theirs/kept.png
        as_nobody "$program" rotate90 in.png theirs/kept.png
        check "$before becomes $after" [ "$(stat -c '%a %u' theirs/kept.png)" = \
            "$after 65534" ]
    done <<'END'
644 644
640 600
604 600
664 644
666 666
4755 755
2755 755
600 600
END
    if python3 attributes.py give-acl theirs/kept.png access 2>/dev/null; then
        chown root:65533 theirs/kept.png
        as_nobody "$program" rotate90 in.png theirs/kept.png 2>stderr
        check 'a list that would speak of another group' \
            [ "$(acl theirs/kept.png)$(mode theirs/kept.png)" = 600 ]
        check 'it is told' grep -q 'list of the output cannot be kept: its group' stderr
    fi
    for mode in 644 664 4755 2755 444; do
        install -m $mode in.png m.png
        rm -f theirs/new.png theirs/by-cp
        as_nobody cp -p m.png theirs/by-cp
        as_nobody "$program" -p rotate90 m.png theirs/new.png
        check "-p by another: $mode" [ "$(all_of theirs/new.png)" = \
            "$(all_of theirs/by-cp)" ]
    done
else
    echo 'skipped: files of other users, which takes root and setpriv'
fi

# Nobody may read at any instant what they may not in the end.
if can_trace; then
    install -m 600 in.png m.png
    rm -f new.png
    strace -o trace -e trace=openat,fchmod "$program" -p rotate90 m.png new.png
    check 'private from the beginning' grep -q 'O_TMPFILE.*, 0600' trace
    rm -f new.png
    strace -o trace -e trace=openat,linkat -e inject=linkat:error=EPERM \
        "$program" rotate90 m.png new.png
    check 'with a name of its own, too' grep -q 'gimgxf-.*O_CREAT.*, 0600' trace
    check 'and done' [ "$(mode new.png)" = 600 ]
fi
check 'nothing is left' no_temporary .
finish
