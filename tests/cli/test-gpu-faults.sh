# Calls of CUDA that fail: what is written is the old file or the new one, and a
# failure is told (tests/support/gpu_faults.py). It takes a build with CUDA, but no
# GPU: tests/fake_gpu plays it. GPU_FAULTS=N tries each Nth fault, 1 all.
. "$ROOT/tests/cli/lib.sh"
needs python3
cpu_only
fake=${program%/gimgxf}/fake-gpu/gimgxf
[ -x "$fake" ] || skip_all 'this build has no CUDA'
mkdir faults
python3 "$ROOT/tests/support/gpu_faults.py" "$fake" "$PLACE/faults" "${GPU_FAULTS-43}"
