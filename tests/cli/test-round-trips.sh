# Files as cameras make them, turned and turned back, are what they were: their
# coefficients, and byte for byte what stands beside them.
. "$ROOT/tests/cli/lib.sh"
needs cjpeg djpeg jpegtran
python3 "$ROOT/tests/support/jpeg_round_trips.py" "$program" "$GIMGXF_BACKEND" \
    "${CORPUS:-$ROOT/../shared/corpus}"
