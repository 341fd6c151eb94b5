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
#   make bench-guard BEFORE=OTHER/gimgxf
#                      what is slower, larger or hungrier than in another build
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

object = $(addsuffix .o,$(addprefix $(BUILD)/,$(1)))
LIB_OBJ := $(call object,$(LIB_SRC))
CLI_OBJ := $(call object,$(CLI_SRC))

# ---- Targets ----------------------------------------------------------------

.PHONY: FORCE all check demo install uninstall clean format
all: $(BUILD)/gimgxf

ifneq ($(BUILDS),)
$(info gimgxf: $(FOUND)$(if $(filter 1,$(ISAL)),, (no ISA-L: PNG will be slower)))
endif

# All below cli/, and cli/ without main(), for the program and the tests.
LIB := $(BUILD)/below-cli.a
$(LIB): $(LIB_OBJ)
CLI_LIB := $(BUILD)/cli.a
$(CLI_LIB): $(filter-out %/main.c.o,$(CLI_OBJ))
$(BUILD)/%.a:
	@rm -f $@
	$(AR) rcs $@ $^

$(BUILD)/gimgxf: $(call object,cli/main.c) $(CLI_LIB) $(LIB)
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

# What the tests take for granted is that the choice was made here.
CUDA_FORCED := $(if $(filter command environment,$(firstword $(origin CUDA))),$(CUDA),0)
check: $(BUILD)/gimgxf tests
	@BUILD=$(BUILD) CUDA_REQUIRED=$(CUDA_FORCED) tests/run

demo: $(BUILD)/gimgxf
	$(BUILD)/gimgxf -v rotate90 samples/f-rgb.png $(BUILD)/f-turned.png
	@echo 'samples/f-rgb.png, turned, is $(BUILD)/f-turned.png'

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

clean:
	rm -rf build build-*

format:
	git ls-files '*.[ch]' '*.cc' '*.cu' '*.cuh' | xargs clang-format -i

include mk/package.mk mk/tests.mk mk/tiers.mk mk/bench.mk
-include $(patsubst %.o,%.d,$(LIB_OBJ) $(CLI_OBJ))
