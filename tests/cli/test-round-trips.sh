# Files as cameras make them, turned and turned back, are what they were: their
# coefficients, and byte for byte what stands beside them.
. "$ROOT/tests/cli/lib.sh"
for tool in cjpeg djpeg jpegtran; do
    if ! command -v $tool >/dev/null; then
        echo "skipped: $tool"
        passed=1
        finish
        exit
    fi
done
python3 "$ROOT/tests/support/jpeg_round_trips.py" "$program" "$GIMGXF_BACKEND" \
    "${CORPUS:-$ROOT/../shared/corpus}"
