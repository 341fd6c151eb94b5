# gimgxf: rotate, mirror and transpose pictures.
#
#   make deps          install what is missing (apt; as root or through sudo)
#   make               build build/gimgxf, with CUDA where nvcc is found
#   make demo          turn a sample picture
#   make bench         measure, on a GPU where there is one; BENCH="OPTION..."
#   make bench-cpu     measure the CPU beside OpenCV and libyuv, where they are
#                      installed, as make deps-bench does
#   make bench-files   measure whole processes beside other programs, which
#                      make deps-bench installs; bench-png, bench-jpeg: on these
#   make turns chart-kernels chart-files
#                      draw the pictures of the README, the second on a GPU
#   make bench-batch   measure batches, beside other programs and by processors
#   make bench-sandbox measure what the sandbox and --isolate cost
#   make bench-batch-gpu
#                      measure batches of JPEG files on a GPU and without it
#   make check         the tests; check-all: also the whole corpus, clang,
#                      CUDA=0 and sanitizers, after make deps-all
#   make check-i386 check-s390x check-arm64
#                      on 32 bits, big endian and ARM, after make deps-ports
#   make check-engines the scripts for many machines, on Slurm, sshd and GNU
#                      parallel, which it installs and starts; as root
#   make install       to PREFIX, below DESTDIR
#   make deb           build a Debian package, build/gimgxf_VERSION_ARCH.deb, from
#                      the tree; it needs what make deps-deb installs
#
#   CUDA=1 | CUDA=0    insist on CUDA, or never call nvcc
#   ISAL=0             do without ISA-L, which makes PNG faster
#   NETTLE=0           do without nettle, which makes digests faster
#   ARCHS="90 100"     the GPUs to compile for
#   HARDEN=0           without what makes a fault harder to exploit
#   DEPS=DIR           libraries also in DIR/usr, where none can be installed
#   BUILD=DIR          where to build

BUILD   ?= build
PREFIX  ?= /usr/local
DESTDIR ?=
VERSION := 0.9.0

# ---- What is here -----------------------------------------------------------

NVCC := $(or $(shell command -v nvcc 2>/dev/null),$(wildcard /usr/local/cuda/bin/nvcc))
CUDA ?= $(if $(NVCC),1,0)
ARCHS ?= 75 80 86 89 90 100 120

GOALS := $(or $(MAKECMDGOALS),all)
BUILDS := $(filter-out deps deps-all deps-bench deps-deb deps-ports deb clean format uninstall,$(GOALS))

ifneq ($(filter-out 0 1,$(CUDA)),)
$(error CUDA=$(CUDA): it is 0 or 1)
endif
ifeq ($(CUDA),1)
ifeq ($(NVCC),)
$(error CUDA=1, but nvcc was not found in PATH or /usr/local/cuda/bin)
endif
FOUND := CUDA build, $(NVCC), sm $(ARCHS)
else
FOUND := CPU build$(if $(NVCC),, (no nvcc found))
endif

# ---- How to build -----------------------------------------------------------

# ISA-L is taken where it is found, or about to be installed; without it zlib
# does the same, several times slower.
ISAL ?= $(if $(or $(filter deps,$(GOALS)),\
                  $(wildcard $(DEPS:%=%/usr/include/isa-l.h)),\
                  $(filter 0,$(shell pkg-config --exists libisal; echo $$?))),1,0)

# The same of nettle, without which digests are slower.
NETTLE ?= $(if $(or $(filter deps,$(GOALS)),\
                    $(wildcard $(DEPS:%=%/usr/include/nettle/sha2.h)),\
                    $(filter 0,$(shell pkg-config --exists nettle; echo $$?))),1,0)

LIBRARIES := libpng libjpeg zlib $(if $(filter 1,$(ISAL)),libisal) \
             $(if $(filter 1,$(NETTLE)),nettle)
ifdef DEPS
DEPS_LIB := $(wildcard $(addprefix $(abspath $(DEPS))/usr/lib,/ /*-linux-gnu))
DEPS_CFLAGS := $(addprefix -isystem ,$(DEPS)/usr/include \
               $(wildcard $(DEPS)/usr/include/*-linux-gnu))
DEPS_LIBS := $(DEPS_LIB:%=-L%) $(DEPS_LIB:%=-Wl,-rpath,%)
endif
# stb_image_write is one header, which is compiled into one file.
STB := $(firstword $(wildcard $(DEPS:%=%/usr/include/stb)) \
           $(patsubst -I%,%,$(shell pkg-config --cflags-only-I stb 2>/dev/null)) \
           /usr/include/stb)
LIB_CFLAGS = $(shell pkg-config --cflags $(LIBRARIES) 2>/dev/null)
LIB_LIBS = $(shell pkg-config --libs $(LIBRARIES) 2>/dev/null || \
                   echo -lpng -ljpeg -lz $(if $(filter 1,$(ISAL)),-lisal) \
                        $(if $(filter 1,$(NETTLE)),-lnettle))

WARNINGS := -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes \
            -Wmissing-prototypes -Wvla -Wwrite-strings
CFLAGS ?= -O2 -g
CXXFLAGS ?= -O2 -g

knows = $(shell $(1) -Werror $(2) -E -x c /dev/null >/dev/null 2>&1 && echo $(2))

# Where a loop begins decides how many lines of the cache it takes, and that by up
# to 1 % of the time of a batch. So it does not depend on what stands before it.
ifneq ($(BUILDS),)
ALIGNED := $(foreach flag,-falign-functions=64 -falign-loops=64,$(call knows,$(CC),$(flag)))
endif

# What makes a fault harder to exploit, as far as the compilers know it. CFLAGS
# and LDFLAGS come later, so they have the last word. The sanitizers check more
# themselves; FORTIFY wants an optimizer, and is set only once.
HARDEN ?= $(if $(findstring -fsanitize,$(CFLAGS)),0,1)
ifeq ($(HARDEN)$(if $(BUILDS),,0),1)
protections = $(foreach flag,-fstack-protector-strong -fstack-clash-protection \
    -fcf-protection=full,$(call knows,$(1),$(flag))) -fPIE
PROTECTIONS := $(call protections,$(CC))
HARD_CFLAGS := $(PROTECTIONS) \
    $(if $(findstring _FORTIFY_SOURCE,$(CFLAGS)),,\
    $(if $(filter -O1 -O2 -O3 -Os,$(CFLAGS)),-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3))
HARD_NVCCFLAGS := $(addprefix -Xcompiler=,$(if $(filter 1,$(CUDA)),$(call protections,$(CXX))))
HARD_LDFLAGS := -pie -Wl,-z,relro,-z,now,-z,noexecstack
endif
ALL_CFLAGS = -std=c11 -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -D_TIME_BITS=64 -I. $(WARNINGS) $(DEPS_CFLAGS) \
             $(LIB_CFLAGS) -DGIMGXF_VERSION='"$(VERSION)"' $(DEFINES) \
             -MMD -MP $(ALIGNED) $(HARD_CFLAGS) $(CFLAGS)
LINK_FLAGS = $(HARD_LDFLAGS) $(CFLAGS) $(LDFLAGS)
ALL_LIBS = $(DEPS_LIBS) $(LIB_LIBS) -lm -lpthread

# The GPU code keeps machine code for each of ARCHS, and PTX of the oldest, from
# which the driver makes machine code for any GPU that is not among them.
NVCCFLAGS ?= -O3
ALL_NVCCFLAGS = -std=c++17 -I. -lineinfo --threads 0 \
    -Xcompiler=-Wall,-Wextra $(HARD_NVCCFLAGS) $(NVCCFLAGS) \
    $(foreach a,$(ARCHS),-gencode=arch=compute_$(a),code=sm_$(a)) \
    -gencode=arch=compute_$(firstword $(ARCHS)),code=compute_$(firstword $(ARCHS))

LIB_SRC := $(wildcard $(addsuffix /*.c,codecs codecs/* codecs/*/* cuda cuda/*))
ifneq ($(ISAL),1)
LIB_SRC := $(filter-out codecs/deflate/flate_isal.c,$(LIB_SRC))
endif
LIB_SRC := $(filter-out codecs/base/sha256_$(if $(filter 1,$(NETTLE)),own,nettle).c,\
                        $(LIB_SRC))
CLI_SRC := $(wildcard cli/*.c cli/*/*.c)
ifeq ($(CUDA),1)
LIB_SRC += $(wildcard cuda/*/*.cu)
CUDA_HOME := $(dir $(NVCC))..
# nvcc's launch stubs need two functions of the C++ runtime. Linked statically
# they cost nothing; the shared library costs every start half a millisecond.
CXX_LIB := $(or $(filter /%,$(shell $(CC) -print-file-name=libstdc++.a)),-lstdc++)
CUDA_LIBS := -L$(CUDA_HOME)/lib64 -lcudart_static $(CXX_LIB) -ldl -lrt
endif
TEST_SRC := $(shell find tests/unit tests/fuzz -name '*_*.c' | sort)
ifneq ($(CUDA),1)
TEST_SRC := $(filter-out %/test_kernels.c %/test_scan_cuda.c,$(TEST_SRC))
endif

object = $(addsuffix .o,$(addprefix $(BUILD)/,$(1)))
LIB_OBJ := $(call object,$(LIB_SRC))
CLI_OBJ := $(call object,$(CLI_SRC))
# The programs stand side by side, whatever the folders of their sources.
TESTS := $(addprefix $(BUILD)/tests/,$(basename $(notdir $(TEST_SRC))))

# ---- Targets ----------------------------------------------------------------

.PHONY: FORCE all deps deps-all deps-bench deps-deb deps-ports demo deb check-deb turns chart-kernels chart-files bench bench-cpu bench-files bench-png bench-jpeg bench-batch bench-batch-gpu bench-sandbox \
        check check-all check-whole check-clang check-cpu check-sanitize \
        check-ubsan check-tsan check-levels check-valgrind check-analyze check-i386 \
        check-s390x check-arm64 check-gpu check-engines check-man check-faults fuzz fuzz-coverage tests install \
        uninstall format clean
all: $(BUILD)/gimgxf

ifneq ($(BUILDS),)
$(info gimgxf: $(FOUND)$(if $(filter 1,$(ISAL)),, (no ISA-L: PNG will be slower)))
endif

# All below cli/, and cli/ without main(), for the program and the tests.
LIB := $(BUILD)/below-cli.a
$(LIB): $(LIB_OBJ)
CLI_LIB := $(BUILD)/cli.a
$(CLI_LIB): $(filter-out %/main.c.o,$(CLI_OBJ))
# What the tests share, main() of the unit tests among it.
TEST_LIB := $(BUILD)/tests/support.a
$(TEST_LIB): $(call object,$(wildcard tests/support/*.c))
$(LIB) $(CLI_LIB) $(TEST_LIB):
	@rm -f $@
	$(AR) rcs $@ $^

$(BUILD)/gimgxf: $(call object,cli/main.c) $(CLI_LIB) $(LIB)
	$(CC) $(LINK_FLAGS) -o $@ $^ $(ALL_LIBS) $(CUDA_LIBS)

.SECONDEXPANSION:
$(TESTS): $$(call object,$$(filter %/$$(@F).c,$(TEST_SRC))) $(TEST_LIB) \
          $(CLI_LIB) $(LIB)
	$(CC) $(LINK_FLAGS) -o $@ $^ $(ALL_LIBS) $(CUDA_LIBS)

$(BUILD)/%.c.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -c -o $@ $<

$(BUILD)/%.cu.o: %.cu $(BUILD)/flags
	@mkdir -p $(@D)
	$(NVCC) $(ALL_NVCCFLAGS) -MMD -MP -c -o $@ $<

# The one place where a build knows whether it has CUDA. (Not through CFLAGS,
# which the command line may set and then nothing here can add to.)
$(BUILD)/cuda/backend_choose.c.o: DEFINES := -DHAVE_CUDA=$(CUDA)

# The same for ISA-L.
$(BUILD)/codecs/deflate/flate.c.o: DEFINES := -DHAVE_ISAL=$(ISAL)

# What the sanitizers do themselves, the sandbox would refuse them.
$(BUILD)/cli/sandbox/sandbox.c.o: DEFINES := \
    -DHAVE_SANDBOX=$(if $(findstring -fsanitize,$(CFLAGS)),0,1)

$(BUILD)/codecs/simple/stb_write.c.o: ALL_CFLAGS += -isystem $(STB)

# The tests that call CUDA themselves.
$(BUILD)/tests/unit/cuda/gpu/test_kernels.c.o \
$(BUILD)/tests/unit/cuda/jpeg/test_scan_cuda.c.o: ALL_CFLAGS += -isystem $(CUDA_HOME)/include

# Their loops are written for the vectoriser, which -O2 of GCC 12 hardly asks.
$(BUILD)/codecs/image/interleave.c.o $(BUILD)/codecs/png/filter.c.o \
$(BUILD)/codecs/jpeg/pixel_rows.c.o \
$(BUILD)/cuda/cpu/portable.c.o: ALL_CFLAGS += -O3

# Changes when the choices do, so that all is built anew.
CHOICES := $(CC) $(CUDA) $(ISAL) $(NETTLE) HARDEN=$(HARDEN) $(ARCHS) $(DEPS) $(NVCCFLAGS) \
           $(VERSION) $(ALIGNED) CFLAGS=$(CFLAGS)
$(BUILD)/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(CHOICES)' | cmp -s - $@ || echo '$(CHOICES)' > $@
FORCE:
.SECONDARY:
ifneq ($(filter deps,$(GOALS)),)
$(BUILD)/flags: | deps
endif

# What takes the place of malloc(), and of the clock: see there.
PRELOADED := $(BUILD)/tests/starve.so $(BUILD)/tests/hurries.so \
             $(BUILD)/tests/faults.so
$(PRELOADED): $(BUILD)/tests/%.so: tests/support/preload/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) -std=c11 -D_GNU_SOURCE $(WARNINGS) -O2 -g -shared -fPIC -o $@ $< -ldl

# The program, with a backend "cuda" that is the host.
ON_HOST := $(BUILD)/on-host/gimgxf
$(ON_HOST): $(call object,cli/main.c tests/on_host/backend_choose.c) \
            $(TEST_LIB) $(CLI_LIB) $(LIB)
	@mkdir -p $(@D)
	@ln -sfn ../tests $(@D)/tests
	$(CC) $(LINK_FLAGS) -o $@ $^ $(ALL_LIBS) $(CUDA_LIBS)

# Both, with a decoder that does what a picture says.
BROKEN := $(BUILD)/broken/gimgxf $(BUILD)/on-host/broken/gimgxf
BROKEN_OBJ := $(call object,cli/main.c tests/broken/hdr.c)
$(BUILD)/broken/gimgxf: $(BROKEN_OBJ) $(CLI_LIB) $(LIB)
$(BUILD)/on-host/broken/gimgxf: $(BROKEN_OBJ) \
    $(call object,tests/on_host/backend_choose.c) $(TEST_LIB) $(CLI_LIB) $(LIB)
$(BROKEN):
	@mkdir -p $(@D)
	$(CC) $(LINK_FLAGS) -o $@ $^ $(ALL_LIBS) $(CUDA_LIBS)

# The program, on a runtime of CUDA that is the host and whose calls can fail.
ifeq ($(CUDA),1)
FAKE_GPU := $(BUILD)/fake-gpu/gimgxf
$(FAKE_GPU): $(call object,cli/main.c tests/fake_gpu/backend_choose.c \
                           tests/fake_gpu/cuda_runtime.c tests/fake_gpu/kernels.cu) \
             $(TEST_LIB) $(CLI_LIB) $(LIB)
	@mkdir -p $(@D)
	@ln -sfn ../tests $(@D)/tests
	$(CC) $(LINK_FLAGS) -o $@ $^ $(ALL_LIBS) $(CXX_LIB)
$(BUILD)/tests/fake_gpu/cuda_runtime.c.o: ALL_CFLAGS += -isystem $(CUDA_HOME)/include

# What leaves others little of a GPU's memory.
FILL_GPU := $(BUILD)/tests/fill_gpu
$(FILL_GPU): $(call object,tests/gpu/fill_gpu.c)
	$(CC) $(LINK_FLAGS) -o $@ $^ $(CUDA_LIBS)
$(BUILD)/tests/gpu/fill_gpu.c.o: ALL_CFLAGS += -isystem $(CUDA_HOME)/include
endif

tests: $(TESTS) $(PRELOADED) $(ON_HOST) $(FAKE_GPU) $(FILL_GPU) $(BROKEN)

# What the tests take for granted is that the choice was made here.
CUDA_FORCED := $(if $(filter command environment,$(firstword $(origin CUDA))),$(CUDA),0)
check: $(BUILD)/gimgxf tests
	@BUILD=$(BUILD) CUDA_REQUIRED=$(CUDA_FORCED) tests/run

# All that check does, over the whole corpus; then with gcc and clang, with and
# without CUDA, warnings being errors; then with the sanitizers.
SANITIZE := -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined \
            -fno-sanitize-recover=all
check-all: check-whole check-clang check-cpu check-sanitize check-ubsan \
           check-tsan check-levels check-valgrind check-analyze check-man check-deb
check-whole: $(BUILD)/gimgxf tests
	@PICTURES=all STARVE=0 FAULTS=1 GPU_FAULTS=1 BUILD=$(BUILD) CUDA_REQUIRED=$(CUDA_FORCED) tests/run
# All that is let fail, of which check takes a part.
check-faults: $(BUILD)/gimgxf tests
	@STARVE=0 FAULTS=1 GPU_FAULTS=1 BUILD=$(BUILD) \
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
	@if ! command -v clang >/dev/null; then \
	    echo 'skipped check-ubsan: clang was not found'; \
	else \
	    $(MAKE) BUILD=build-ubsan CC=clang CUDA=0 CFLAGS='$(UNDEFINED)' \
	        all tests && \
	    UBSAN_OPTIONS=abort_on_error=1:print_stacktrace=1:handle_segv=0 \
	        PICTURES=all \
	        BUILD=build-ubsan tests/run; \
	fi
# What runs on several threads, by the sanitizer for these. It wants addresses to
# be where it expects them.
check-tsan:
	@$(MAKE) BUILD=build-tsan CUDA=0 CFLAGS='-O1 -g -fsanitize=thread' \
	    build-tsan/gimgxf build-tsan/tests/test_stage \
	    build-tsan/tests/test_jpeg_threads build-tsan/tests/test_jpeg_restarts \
	    build-tsan/tests/test_entropy \
	    build-tsan/tests/test_page_cache build-tsan/on-host/gimgxf \
	    build-tsan/tests/test_scan_pipeline \
	    build-tsan/tests/test_resource_limits
	@TSAN_OPTIONS=halt_on_error=1 PICTURES=none BUILD=build-tsan \
	    setarch -R tests/run test_ png-level threads batch serve device-
# Other levels of optimization: each warns of other things, and lays out memory
# in another way.
check-levels:
	for cc in gcc clang; do for level in 0 3; do \
	    $(MAKE) BUILD=build-$$cc-O$$level CC=$$cc CUDA=0 \
	        CFLAGS="-O$$level -g -Werror" all tests && \
	    PICTURES=none BUILD=build-$$cc-O$$level tests/run rules test_ fuzz_ || \
	    exit; \
	done; done
# What reads memory that nobody has written: no sanitizer of gcc tells. (libjpeg's
# vector code reads its own padding, which decides nothing.)
check-valgrind: $(BUILD)/gimgxf tests
	for test in png png_hostile jpeg exif xmp mpf netpbm npy tga bmp hdr; do \
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
ANALYZED := -DHAVE_CUDA=0 -DHAVE_ISAL=1 -DHAVE_SANDBOX=1
ANALYZED_SRC = $(filter %.c,$(LIB_SRC) $(CLI_SRC))
ANALYZED_FLAGS = $(filter-out -MMD -MP $(ALIGNED) $(HARD_CFLAGS) $(CFLAGS),$(ALL_CFLAGS)) \
                 -isystem $(STB) $(ANALYZED) -O1
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
# deps-ports names.
check-i386: TRIPLET := i686-linux-gnu
check-i386: TARGET_CFLAGS := -msse2 -mfpmath=sse
check-s390x: TRIPLET := s390x-linux-gnu
check-s390x: EMULATOR := qemu-s390x
check-arm64: TRIPLET := aarch64-linux-gnu
check-arm64: EMULATOR := qemu-aarch64
check-i386 check-s390x check-arm64: check-%:
	tests/support/port-libraries $* build-$*/deps
	@$(MAKE) BUILD=build-$* DEPS=build-$*/deps CC=$(TRIPLET)-gcc \
	    AR=$(TRIPLET)-ar CUDA=0 ISAL=0 HARDEN=0 LDFLAGS=-static \
	    CFLAGS='-O2 -g -Werror $(TARGET_CFLAGS)' all tests
	@BUILD=build-$* EMULATOR='$(EMULATOR)' tests/run test_ fuzz_ corpus
# On a machine with a GPU.
check-gpu: $(BUILD)/gimgxf tests
	@BUILD=$(BUILD) CUDA_REQUIRED=1 tests/run
	for tool in memcheck racecheck initcheck synccheck; do \
	    compute-sanitizer --tool $$tool --error-exitcode 9 \
	        --target-processes all $(BUILD)/tests/test_stage || exit; \
	done
# The samples for many machines. Not among the others, as it installs daemons and
# starts them.
check-engines: $(BUILD)/gimgxf
	@BUILD=$(BUILD) tests/engines
check-man:
	for page in $(MAN_PAGES); do \
	    man --warnings -E UTF-8 -l -Tutf8 $$page 2>&1 >/dev/null | \
	        (! grep .) || exit; \
	done

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

# Packages of Debian 12 and Ubuntu 24.04: to build, to test, and for check-all.
PACKAGES := gcc make pkg-config libc6-dev libpng-dev libjpeg-dev zlib1g-dev \
            nettle-dev libisal-dev libstb-dev python3 python3-numpy libjpeg-turbo-progs
PACKAGES_ALL := clang man-db imagemagick libvips-tools python3-pil pngcheck \
                libimage-exiftool-perl libclang-rt-14-dev zsh fish \
                valgrind cppcheck clang-tidy strace llvm zip
PACKAGES_PORTS := gcc-i686-linux-gnu libc6-dev-i386-cross gcc-s390x-linux-gnu \
                  libc6-dev-s390x-cross gcc-aarch64-linux-gnu \
                  libc6-dev-arm64-cross qemu-user
PACKAGES_DEB := debhelper dpkg-dev fakeroot lintian
PACKAGES_BENCH := g++ libopencv-core-dev libyuv-dev imagemagick \
                  libvips-tools netpbm graphicsmagick openimageio-tools
deps:
	@tests/support/deps $(PACKAGES)
deps-all: deps
	@tests/support/deps $(PACKAGES_ALL) $(PACKAGES_DEB)
deps-ports: deps
	@tests/support/deps $(PACKAGES_PORTS)
deps-deb: deps
	@tests/support/deps $(PACKAGES_DEB)
deps-bench: deps
	@tests/support/deps $(PACKAGES_BENCH)

demo: $(BUILD)/gimgxf
	$(BUILD)/gimgxf -v rotate90 samples/f-rgb.png $(BUILD)/f-turned.png
	@echo 'samples/f-rgb.png, turned, is $(BUILD)/f-turned.png'

# The pictures of the README: the turns of a sample, the kernels on a GPU, and whole
# processes beside those that make deps-bench installs.
turns: $(BUILD)/gimgxf
	samples/make-turns $(BUILD)/gimgxf >samples/turns.svg
chart-kernels: $(BUILD)/gimgxf
	$(BUILD)/gimgxf bench --only transpose --svg samples/kernels-h200.svg
chart-files: $(BUILD)/gimgxf
	@BUILD=$(BUILD) tests/bench/chart-files samples/files.svg

bench: $(BUILD)/gimgxf
	$(BUILD)/gimgxf bench $(BENCH)
bench-files: $(BUILD)/gimgxf
	@BUILD=$(BUILD) tests/bench/programs files
bench-png: $(BUILD)/gimgxf $(BUILD)/tests/bench/png_encode
	@BUILD=$(BUILD) tests/bench/programs png
	@BUILD=$(BUILD) tests/bench/png-levels
$(BUILD)/tests/bench/png_encode: $(call object,tests/bench/png_encode.c) $(LIB)
	$(CC) $(LINK_FLAGS) -o $@ $^ $(ALL_LIBS) $(CUDA_LIBS)
bench-jpeg: $(BUILD)/gimgxf
	@BUILD=$(BUILD) tests/bench/programs jpeg
bench-batch: $(BUILD)/gimgxf
	@BUILD=$(BUILD) tests/bench/batch
bench-sandbox: $(BUILD)/gimgxf
	@BUILD=$(BUILD) tests/bench/sandbox
bench-batch-gpu: $(BUILD)/gimgxf
	@BUILD=$(BUILD) tests/bench/batch-gpu

# The CPU beside other libraries, each where its header is; Debian's libyuv tells
# pkg-config nothing. What is installed may change, so that is asked each time.
INCLUDES := $(DEPS:%=%/usr/include) /usr/include /usr/local/include
OPENCV := $(firstword $(wildcard $(INCLUDES:%=%/opencv4)))
LIBYUV := $(firstword $(wildcard $(INCLUDES:%=%/libyuv.h)))
RIVALS := tests/bench/rivals.c $(if $(OPENCV),tests/bench/rivals_opencv.cc) \
          $(if $(LIBYUV),tests/bench/rivals_libyuv.c)
RIVALS_LIBS := $(if $(OPENCV),-lopencv_core) $(if $(LIBYUV),-lyuv)
bench-cpu: $(BUILD)/tests/bench/rivals
	$(BUILD)/tests/bench/rivals $(BENCH)
$(BUILD)/tests/bench/rivals.c.o: DEFINES := -DHAVE_OPENCV=$(if $(OPENCV),1,0) \
    -DHAVE_LIBYUV=$(if $(LIBYUV),1,0)
$(BUILD)/tests/bench/rivals.c.o: FORCE
$(BUILD)/tests/bench/rivals: $(call object,$(RIVALS)) $(LIB)
	$(if $(OPENCV),$(CXX),$(CC)) $(LINK_FLAGS) -o $@ $^ \
	    $(RIVALS_LIBS) $(ALL_LIBS) $(CUDA_LIBS)
$(BUILD)/tests/bench/rivals_opencv.cc.o: tests/bench/rivals_opencv.cc $(BUILD)/flags
	@mkdir -p $(@D)
	$(CXX) -std=c++17 -I. -isystem $(OPENCV) $(CXXFLAGS) -MMD -MP -c -o $@ $<

DATA = $(DESTDIR)$(PREFIX)/share
MAN_PAGES := $(wildcard man/*.1 man/*.7)
MAN_INSTALLED = $(patsubst man/%.1,$(DATA)/man/man1/%.1,\
                $(patsubst man/%.7,$(DATA)/man/man7/%.7,$(MAN_PAGES)))
# The pages get the version as they are installed.
install: $(BUILD)/gimgxf
	install -Dm755 $(BUILD)/gimgxf $(DESTDIR)$(PREFIX)/bin/gimgxf
	install -d $(DATA)/man/man1 $(DATA)/man/man7
	install -m644 $(filter %.1,$(MAN_PAGES)) $(DATA)/man/man1
	install -m644 $(filter %.7,$(MAN_PAGES)) $(DATA)/man/man7
	sed -i '/^\.TH/s/"gimgxf"/"gimgxf $(VERSION)"/' $(MAN_INSTALLED)
	install -Dm644 man/gimgxf.bash $(DATA)/bash-completion/completions/gimgxf
	install -Dm644 man/_gimgxf $(DATA)/zsh/site-functions/_gimgxf
	install -Dm644 man/gimgxf.fish \
	    $(DATA)/fish/vendor_completions.d/gimgxf.fish
uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/gimgxf $(MAN_INSTALLED) \
	    $(DATA)/bash-completion/completions/gimgxf \
	    $(DATA)/zsh/site-functions/_gimgxf \
	    $(DATA)/fish/vendor_completions.d/gimgxf.fish

# The package is built from a copy, as debhelper wants its folder at the top. It
# is dated like the list of changes, so that the same tree gives the same package.
SOURCES := Makefile cli codecs cuda tests samples man README.md CHANGELOG.md \
           BENCHMARKS.md SECURITY.md TESTING.md LICENSE
DEB_TREE := $(BUILD)/deb/gimgxf-$(VERSION)
deb:
	rm -rf $(BUILD)/deb
	mkdir -p $(DEB_TREE)
	cp -r $(SOURCES) $(DEB_TREE)
	cp -r .debian $(DEB_TREE)/debian
	printf 'gimgxf (%s) unstable; urgency=medium\n\n%s\n\n -- %s  %s\n' \
	    '$(VERSION)' '  * CHANGELOG.md says what changed.' \
	    "$$(sed -n 's/^Maintainer: //p' .debian/control)" \
	    "$$(date -u -R -r CHANGELOG.md)" >$(DEB_TREE)/debian/changelog
	cd $(DEB_TREE) && CUDA='$(CUDA)' ARCHS='$(ARCHS)' BUILD=build \
	    dpkg-buildpackage -b -us -uc
	mv $(BUILD)/deb/gimgxf_*.deb $(BUILD)
	rm -rf $(BUILD)/deb
# Lintian finds no error in the package, and the program in it turns a picture.
check-deb: deb
	lintian --fail-on error $(BUILD)/gimgxf_$(VERSION)_*.deb
	rm -rf $(BUILD)/unpacked
	dpkg-deb -x $(BUILD)/gimgxf_$(VERSION)_*.deb $(BUILD)/unpacked
	$(BUILD)/unpacked/usr/bin/gimgxf rotate180 samples/f.ppm - | \
	    $(BUILD)/unpacked/usr/bin/gimgxf rotate180 --format ppm - - | \
	    cmp - samples/f.ppm

clean:
	rm -rf build build-*

format:
	git ls-files '*.[ch]' '*.cc' '*.cu' '*.cuh' | xargs clang-format -i

-include $(patsubst %.o,%.d,$(LIB_OBJ) $(CLI_OBJ) $(call object,$(TEST_SRC) $(wildcard tests/support/*.c) $(RIVALS) tests/bench/png_encode.c))
