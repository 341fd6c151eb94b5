# Tests beyond make check; TESTING.md says what each does and how long it takes:
#
#   make check-all     also the whole corpus, clang, CUDA=0 and sanitizers, after make
#                      deps-all: check-whole check-clang check-cpu check-sanitize
#                      check-ubsan check-tsan check-levels check-valgrind
#                      check-analyze check-locale check-man check-deb check-dist
#   make check-faults  all that is let fail, of which check takes a part
#   make check-gpu     on a machine with a GPU, also under compute-sanitizer
#   make check-i386 check-s390x check-arm64
#                      on 32 bits, big endian and ARM, after make deps-ports
#   make check-bare    in fresh Debians, as root and others; as root
#   make tiers         all of the above one after the other, and the table
#                      of TESTING.md; TIERS="man deb": only some
#   make fuzz          each fuzz target for FUZZ=60 seconds; fuzz-TARGET: this one;
#                      fuzz-coverage: what they reach

.PHONY: check-all check-whole check-faults check-clang check-cpu check-sanitize \
        check-ubsan check-tsan check-levels check-valgrind check-analyze \
        check-i386 check-s390x check-arm64 check-gpu check-man \
        check-bare check-locale tiers fuzz fuzz-coverage

# All that check does, over the whole corpus; then with gcc and clang, with and
# without CUDA, warnings being errors; then with the sanitizers.
SANITIZE := -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined \
            -fno-sanitize-recover=all
check-all:
	@for tier in whole clang cpu sanitize ubsan tsan levels valgrind analyze locale \
	    man deb dist; do \
	    $(MAKE) check-$$tier || exit; \
	done
check-whole: $(BUILD)/gimgxf tests
	@WHOLE=1 PICTURES=all STARVE=0 FAULTS=1 GPU_FAULTS=1 LIMIT=2h BUILD=$(BUILD) CUDA_REQUIRED=$(CUDA_FORCED) tests/run
# All that is let fail, of which check takes a part.
check-faults: $(BUILD)/gimgxf tests
	@STARVE=0 FAULTS=1 GPU_FAULTS=1 LIMIT=2h BUILD=$(BUILD) \
	    tests/run test-faults test-gpu-faults test-memory
check-clang:
	@$(MAKE) BUILD=build-clang CC=clang CUDA=0 CFLAGS='-O2 -g -Werror' \
	    all tests
	@PICTURES=none BUILD=build-clang tests/run
check-cpu:
	@$(MAKE) BUILD=build-cpu CUDA=0 CFLAGS='-O2 -g -Werror' all tests
	@PICTURES=none BUILD=build-cpu tests/run
check-sanitize:
	@$(MAKE) BUILD=build-sanitize CUDA=0 CFLAGS='$(SANITIZE)' all tests
	@BUILD=build-sanitize tests/run
# Clang finds more that C leaves undefined, such as an offset to a null pointer. It
# ends the program by a signal: an exit status of 1 is what broken input asks for.
UNDEFINED := -O1 -g -fsanitize=undefined,integer-divide-by-zero,nullability \
             -fno-sanitize-recover=all
check-ubsan:
ifneq ($(shell command -v clang),)
	@$(MAKE) BUILD=build-ubsan CC=clang CUDA=0 CFLAGS='$(UNDEFINED)' all tests
	@UBSAN_OPTIONS=abort_on_error=1:print_stacktrace=1:handle_segv=0 \
	    PICTURES=all BUILD=build-ubsan tests/run
else
	@echo 'skipped check-ubsan: clang was not found'
endif
# What runs on several threads, by the sanitizer for these. It wants addresses to
# be where it expects them.
check-tsan:
	@$(MAKE) BUILD=build-tsan CUDA=0 CFLAGS='-O1 -g -fsanitize=thread' \
	    build-tsan/gimgxf build-tsan/tests/test_stage \
	    build-tsan/tests/test_jpeg_threads \
	    build-tsan/tests/test_entropy \
	    build-tsan/tests/test_page_cache build-tsan/on-host/gimgxf \
	    build-tsan/tests/test_scan_pipeline \
	    build-tsan/tests/test_resource_limits
	@TSAN_OPTIONS=halt_on_error=1 PICTURES=none BUILD=build-tsan \
	    setarch -R tests/run test_ png-level threads batch serve device-
# Other levels of optimization: each warns of other things, and lays out memory
# in another way.
LEVELS := gcc-O0 gcc-O3 clang-O0 clang-O3
check-levels:
	@for level in $(LEVELS); do \
	    $(MAKE) BUILD=build-$$level CC=$${level%-*} CUDA=0 \
	        CFLAGS="-$${level#*-} -g -Werror" all tests || exit; \
	done
	@for level in $(LEVELS); do \
	    PICTURES=none BUILD=build-$$level tests/run rules test_ fuzz_ || exit; \
	done
# What reads memory that nobody has written: no sanitizer of gcc tells. (libjpeg's
# vector code reads its own padding, which decides nothing.)
check-valgrind: $(BUILD)/gimgxf tests
	for test in png png_hostile jpeg exif xmp mpf pnm npy tga bmp qoi hdr; do \
	    ! [ -x $(BUILD)/tests/test_$$test ] || \
	    JSIMD_FORCENONE=1 valgrind -q --error-exitcode=9 \
	        $(BUILD)/tests/test_$$test || exit; \
	done
	for picture in samples/*.png samples/*.ppm samples/*.jpg tests/crashers/*; do \
	    [ ! -e $$picture ] || JSIMD_FORCENONE=1 valgrind -q \
	        --error-exitcode=9 $(BUILD)/gimgxf -q --sandbox=off --tolerant rotate90 --format png $$picture - >/dev/null; \
	    [ $$? != 9 ] || exit 9; \
	done
# What reads the source; the answers say why what it finds is none.
ANALYZED := -DHAVE_CUDA=0 -DHAVE_ISAL=1 -DHAVE_SANDBOX=1 -DLOADED='""' \
            $(foreach n,TIFF WEBP BROTLIENC BROTLIDEC JXL,-D$n_SONAME='""')
ANALYZED_SRC = $(filter %.c,$(LIB_SRC) $(CLI_SRC))
ANALYZED_FLAGS = $(filter-out -MMD -MP $(ALIGNED) $(HARD_CFLAGS) $(CFLAGS),$(ALL_CFLAGS)) \
                 $(ANALYZED) -O1
check-analyze:
	cppcheck -q --enable=warning,portability --inline-suppr --std=c11 -I. \
	    --error-exitcode=1 --suppressions-list=tests/support/cppcheck-answers \
	    --suppress=missingIncludeSystem $(ANALYZED) cli codecs cuda/*.c cuda/cpu
	mkdir -p $(BUILD)
	printf '%s\n' $(ANALYZED_SRC) | xargs -P$$(nproc) -n1 gcc $(ANALYZED_FLAGS) \
	    -fanalyzer -fdiagnostics-path-format=none -c -o /dev/null \
	    2>$(BUILD)/gcc-found && \
	    tests/support/unanswered tests/support/gcc-answers <$(BUILD)/gcc-found
	printf '%s\n' $(ANALYZED_SRC) | xargs -P$$(nproc) -I{} clang-tidy --quiet {} \
	    -- $(ANALYZED_FLAGS) >$(BUILD)/tidy-found 2>/dev/null && \
	    tests/support/unanswered tests/support/tidy-answers <$(BUILD)/tidy-found
# Machines of 32 bits, with the high byte first, and without x86's vectors, by qemu.
# Their libraries are unpacked below the build, and nothing is installed but what
# deps-ports names. A test's clock_gettime() takes the place of that of libc.
check-i386: TRIPLET := i686-linux-gnu
check-i386: TARGET_CFLAGS := -msse2 -mfpmath=sse
check-s390x: TRIPLET := s390x-linux-gnu
check-s390x: EMULATOR := qemu-s390x
check-arm64: TRIPLET := aarch64-linux-gnu
check-arm64: EMULATOR := qemu-aarch64
check-i386 check-s390x check-arm64: check-%:
	tests/support/port-libraries $* build-$*/deps
	@$(MAKE) BUILD=build-$* DEPS=build-$*/deps CC=$(TRIPLET)-gcc \
	    AR=$(TRIPLET)-ar CUDA=0 ISAL=0 HARDEN=0 LDFLAGS='-static -z muldefs' \
	    CFLAGS='-O2 -g -Werror $(TARGET_CFLAGS)' all tests
	@BUILD=build-$* EMULATOR='$(EMULATOR)' tests/run test_ fuzz_ corpus
# On a machine with a GPU.
check-gpu: $(BUILD)/gimgxf tests
	@BUILD=$(BUILD) CUDA_REQUIRED=1 tests/run
	for tool in memcheck racecheck initcheck synccheck; do \
	    compute-sanitizer --tool $$tool --error-exitcode 9 \
	        --target-processes all $(BUILD)/tests/test_stage || exit; \
	done
# A fresh Debian: as root, as another user, and without Landlock. Not among the
# others, as it takes an archive of Debian.
check-bare:
	@tests/bare bookworm
	@tests/bare trixie
# What sorts, cases and reads letters in other ways; the last one is nowhere.
LOCALES := LANG=C LANG=C.UTF-8 LANG=tr_TR.UTF-8 LC_ALL=tr_TR.UTF-8 LC_ALL=xx_XX
check-locale: $(BUILD)/gimgxf tests
	mkdir -p $(BUILD)/locale
	localedef -i tr_TR -f UTF-8 $(BUILD)/locale/tr_TR.UTF-8
	for locale in $(LOCALES); do \
	    echo "With $$locale"; \
	    env -u LANG -u LC_ALL LOCPATH=$(abspath $(BUILD))/locale $$locale \
	        BUILD=$(BUILD) tests/run rules test- || exit; \
	done
# Each page is clean for groff and mandoc, and has a line that whatis can read.
check-man:
	for page in $(MAN_PAGES); do \
	    man --warnings -E UTF-8 -l -Tutf8 $$page 2>&1 >/dev/null | \
	        (! grep .) || exit; \
	    ! command -v mandoc >/dev/null || mandoc -Tlint -W warning $$page || exit; \
	    lexgrog $$page || exit; \
	done
# All tiers, and what came of each into TESTING.md.
tiers: $(BUILD)/gimgxf
	+@BUILD=$(BUILD) tests/tiers $(TIERS)

# Looks for inputs that break the code: each fuzz target for FUZZ seconds. They go
# on from what FUZZ_CORPUS keeps, and begin with the samples, the corpus of
# pictures where it is there, and what broke something before. A target that
# finds something fails; `make -k fuzz` runs the others all the same.
FUZZ ?= 60
FUZZ_CORPUS ?= build-fuzz/corpus
FUZZERS := $(patsubst tests/fuzz/%.c,%,$(wildcard tests/fuzz/*.c))
fuzz: $(FUZZERS:%=fuzz-%)
fuzz-%:
	@$(MAKE) BUILD=build-fuzz CC=clang CUDA=0 \
	    CFLAGS='-O1 -g -DFUZZING -fsanitize=fuzzer-no-link,address,undefined \
	        -fno-sanitize-recover=all' \
	    LDFLAGS=-fsanitize=fuzzer build-fuzz/tests/$*
	@BUILD=build-fuzz FUZZ_CORPUS=$(FUZZ_CORPUS) tests/fuzz/run $* $(FUZZ)
# Which functions the inputs of FUZZ_CORPUS reach.
COVERED := build-fuzz-coverage/tests
fuzz-coverage:
	@$(MAKE) BUILD=build-fuzz-coverage CC=clang CUDA=0 HARDEN=0 \
	    CFLAGS='-O1 -g -fprofile-instr-generate -fcoverage-mapping' \
	    $(FUZZERS:%=$(COVERED)/%)
	rm -f $(COVERED)/*.profraw
	for target in $(FUZZERS); do \
	    find $(FUZZ_CORPUS)/$$target tests/crashers -type f -print0 | \
	        LLVM_PROFILE_FILE=$(COVERED)/$$target-%p.profraw \
	        xargs -0 -n 4000 $(COVERED)/$$target || exit; \
	done
	llvm-profdata merge -o $(COVERED)/all.profdata $(COVERED)/*.profraw
	llvm-cov export -skip-expansions -instr-profile=$(COVERED)/all.profdata \
	    $(FUZZERS:%=-object $(COVERED)/%) | tests/fuzz/coverage
