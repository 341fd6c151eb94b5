# Every allocation may fail: the file fails, or becomes what it is with enough
# memory. STARVE=N lets about N allocations of each case fail, STARVE=0 all.
. "$ROOT/tests/cli/lib.sh"
needs python3 cjpeg
cpu_only
loads starve || skip_all 'this build has an allocator of its own'
python3 "$ROOT/tests/support/starve.py" "$program" "$library" "$PLACE" "${STARVE-9}"
