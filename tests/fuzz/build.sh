#!/bin/bash
# Builds all fuzz targets for an engine, as OSS-Fuzz calls it, from any folder:
#
#   CC, CFLAGS              the compiler, and what instruments for the engine
#   CXXFLAGS                tells whether the engine's library wants libc++
#   LIB_FUZZING_ENGINE      the engine
#   OUT                     where the targets go, TARGET_seed_corpus.zip and
#                           TARGET.dict beside them, and in lib/ the libraries
#                           that a machine may not have
#   WORK                    for what is made on the way; build-fuzz-engine if not
#                           given
#
# It needs what `make deps` installs, and zip.
set -eu
cd "$(dirname "$0")/../.."
: "${CC:?}" "${OUT:?}"
engine=${LIB_FUZZING_ENGINE:--fsanitize=fuzzer}
work=${WORK:+$WORK/}build-fuzz-engine
runtime=-lstdc++
[[ ${CXXFLAGS:-} != *libc++* ]] || runtime=-lc++
mkdir -p "$OUT/lib"

targets=()
for source in tests/fuzz/fuzz_*.c; do
    targets+=("$(basename "$source" .c)")
done
make -j"$(nproc)" BUILD="$work" CC="$CC" CUDA=0 HARDEN=0 \
    CFLAGS="${CFLAGS:--O1 -g} -DFUZZING" \
    LDFLAGS="-Wl,-rpath,'\$\$ORIGIN/lib' $engine $runtime" \
    "${targets[@]/#/$work/tests/}"

seeds=$(mktemp -d)
for target in "${targets[@]}"; do
    cp "$work/tests/$target" "$OUT"
    ldd "$work/tests/$target" | awk '/lib(png|jpeg|isal|z|nettle)/ { print $3 }' |
        xargs -I{} cp -uL {} "$OUT/lib"
    cp tests/fuzz/dictionary "$OUT/$target.dict"
    tests/fuzz/seeds "$target" "$seeds/$target"
    rm -f "$OUT/${target}_seed_corpus.zip"
    (cd "$seeds/$target" && zip -q -r "$OUT/${target}_seed_corpus.zip" .)
done
rm -rf "$seeds"
