# What makes a fault in the program harder to exploit is in it.
. "$ROOT/tests/cli/lib.sh"
needs readelf objdump
flags=$(dirname "$program")/flags
! grep -q 'HARDEN=0' "$flags" || skip_all 'built with HARDEN=0'

readelf -Whld "$program" >headers
readelf -Ws --dyn-syms "$program" >symbols
objdump -d --no-show-raw-insn "$program" >code

check 'loaded anywhere (PIE)' grep -q 'Flags:.* PIE' headers
check 'relocations are read-only' grep -q GNU_RELRO headers
check 'and all bound at the start' grep -q 'Flags: NOW' headers
check 'no stack that is code' grep -qE 'GNU_STACK .* RW +0x' headers
check 'no segment is both written and code' \
    [ -z "$(grep -E 'LOAD .* RWE ' headers)" ]
check 'stacks are guarded' grep -q __stack_chk_fail symbols

# What follows is asked of an optimizer, and of this processor.
if grep -qE -- ' CFLAGS=.*-O[123s]' "$flags"; then
    check 'lengths are checked (FORTIFY)' grep -qE '__(mem|str|st)cpy_chk' symbols
fi
if [ "$(uname -m)" = x86_64 ]; then
    check 'calls lead to marked places (CET)' \
        grep -qA1 '^[0-9a-f]* <main>:' <(grep -B1 endbr64 code)
    check 'large frames are probed page by page' \
        grep -qE '(orq?|movq) +\$0x0,\(%rsp\)' \
        <(grep -A1 -E 'sub +\$0x1000,%rsp' code)
fi
finish
