# JPEG files as cameras write them, turned and turned back, have the same
# coefficients, and the same bytes beside them.
. "$ROOT/tests/cli/lib.sh"
needs python3 cjpeg djpeg jpegtran
python3 "$ROOT/tests/support/jpeg_round_trips.py" "$program" "$GIMGXF_BACKEND" \
    "${CORPUS:-$ROOT/../shared/corpus}"
