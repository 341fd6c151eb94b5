# gimgxf: rotate, mirror and transpose pictures.
#
#   make deps          install what is missing (apt; as root or through sudo)
#   make               build build/gimgxf, with CUDA where nvcc is found
#   make demo          turn a sample picture
#   make check-quick   the unit tests and the main scripts: for every change
#   make check         all tests; JOBS=N: so many at a time
#   make install       to PREFIX, below DESTDIR; uninstall takes it away again
#   make clean         remove what was built
#   make help          this, the further tests, the benchmarks and the packages
#
#   V=1                print whole commands
#   CUDA=1 | CUDA=0    insist on CUDA, or never call nvcc
#   ISAL=0             do without ISA-L, which makes PNG faster
#   TIFF=0 WEBP=0 BROTLI=0 JXL=0
#                      do without libtiff, libwebp, brotli, libjxl
#   ARCHS="90 100"     the GPUs to compile for
#   HARDEN=0           without what makes a fault harder to exploit
#   DEPS=DIR           libraries also in DIR/usr, where none can be installed
#   BUILD=DIR          where to build
#   CC, CFLAGS, CXX, CXXFLAGS, NVCCFLAGS, LDFLAGS: as everywhere
#
# The folder BUILD remembers what was chosen, until something else is, or make clean:
# `make CUDA=0` and then `make install` build once.

BUILD   ?= build
PREFIX  ?= /usr/local
DESTDIR ?=
VERSION := 1.0.0
GOALS   := $(or $(MAKECMDGOALS),all)

.PHONY: FORCE all check check-quick demo install uninstall clean format help
all:

# As many commands at a time as there are processors, if no -j says otherwise.
ifeq ($(MAKELEVEL)$(filter -j% --jobserver%,$(MAKEFLAGS)),0)
MAKEFLAGS += -j$(shell nproc 2>/dev/null || echo 1)
endif
MAKEFLAGS += --no-builtin-rules --no-print-directory

# say WHAT: a short line in place of the command that stands behind it.
SILENT := $(findstring s,$(filter-out -%,$(firstword $(MAKEFLAGS))))
say = $(if $(filter 1,$(V)),,@$(if $(SILENT),,printf '%-4s %s\n' $(1) $(or $(2),$@);))

# Several goals, as `make deps check` or `make clean all`, are done one after the
# other, since one decides what the next finds; but what only builds is built at once.
ifneq ($(and $(word 2,$(GOALS)),$(filter-out all tests $(BUILD)/%,$(GOALS))),)
.PHONY: $(GOALS)
$(firstword $(GOALS)):
	@for goal in $(GOALS); do $(MAKE) $$goal || exit; done
$(wordlist 2,$(words $(GOALS)),$(GOALS)): $(firstword $(GOALS))
	@:
else

# ---- What was chosen, and what is here --------------------------------------

CHOICES := CC CFLAGS CXX CXXFLAGS NVCCFLAGS LDFLAGS CUDA ARCHS ISAL TIFF WEBP BROTLI JXL \
           HARDEN DEPS
given = $(filter command environment,$(firstword $(origin $(1))))
-include $(BUILD)/choices
REMEMBERED := $(strip $(foreach v,$(CHOICES),$(if $(call given,$(v)),,\
    $(if $(filter file,$(origin chosen_$(v))),$(v)))))
CHOSEN := $(REMEMBERED) $(foreach v,$(CHOICES),$(if $(call given,$(v)),$(v)))
$(foreach v,$(REMEMBERED),$(eval $(v) = $(value chosen_$(v))))

NVCC := $(or $(shell command -v nvcc 2>/dev/null),$(wildcard /usr/local/cuda/bin/nvcc))
CUDA ?= $(if $(NVCC),1,0)
ARCHS ?= 75 80 86 89 90 100 120

BUILDS := $(filter-out deps deps-% dist deb clean format uninstall help,$(GOALS))

ifneq ($(filter-out 0 1,$(CUDA)),)
$(error CUDA=$(CUDA): it is 0 or 1)
endif
ifeq ($(CUDA),1)
ifeq ($(NVCC)$(if $(BUILDS),,none),)
$(error CUDA=1, but nvcc was not found in PATH or /usr/local/cuda/bin)
endif
FOUND := CUDA build, $(NVCC), sm $(ARCHS)
else
FOUND := CPU build$(if $(NVCC),, (no nvcc found))
endif

# ---- How to build -----------------------------------------------------------

# ISA-L is taken where it is found; without it zlib does the same, several times
# slower.
ISAL ?= $(if $(or $(wildcard $(DEPS:%=%/usr/include/isa-l.h)),\
                  $(filter 0,$(shell pkg-config --exists libisal 2>/dev/null; echo $$?))),1,0)
ISAL := $(ISAL)

# The same for those of formats that few pictures have. They are not linked but loaded
# when they are needed, so the program knows what they are called here: TIFF=0 and the
# like do without. DEPS has its own.
has = $(or $(wildcard $(DEPS:%=%/usr/include/$(2)) $(DEPS:%=%/usr/include/*-linux-gnu/$(2)) \
                      /usr/include/$(2)),\
           $(filter 0,$(shell pkg-config --exists $(1) 2>/dev/null; echo $$?)))
soname = $(shell LC_ALL=C readelf -d "$(or $(wildcard $(DEPS:%=%/usr/lib/lib$(1).so) \
    $(DEPS:%=%/usr/lib/*-linux-gnu/lib$(1).so)),$$($(CC) -print-file-name=lib$(1).so))" \
    2>/dev/null | sed -n 's/.*(SONAME).*\[\(.*\)\].*/\1/p')
TIFF ?= $(if $(call has,libtiff-4,tiffio.h),$(call soname,tiff))
WEBP ?= $(if $(call has,libwebp,webp/encode.h),$(call soname,webp))
BROTLI ?= $(if $(call has,libbrotlienc,brotli/encode.h),$(call soname,brotlienc) \
              $(call soname,brotlidec))
JXL ?= $(if $(call has,libjxl,jxl/decode.h),$(call soname,jxl))
override TIFF := $(TIFF:0=)
override WEBP := $(WEBP:0=)
override BROTLI := $(BROTLI:0=)
override JXL := $(JXL:0=)

LIBRARIES := libpng libjpeg zlib nettle $(if $(filter 1,$(ISAL)),libisal)
ifdef DEPS
DEPS_LIB := $(wildcard $(addprefix $(abspath $(DEPS))/usr/lib,/ /*-linux-gnu))
DEPS_CFLAGS := $(addprefix -isystem ,$(DEPS)/usr/include \
               $(wildcard $(DEPS)/usr/include/*-linux-gnu))
DEPS_LIBS := $(DEPS_LIB:%=-L%) $(DEPS_LIB:%=-Wl,-rpath,%)
endif
LIB_CFLAGS := $(shell pkg-config --cflags $(LIBRARIES) 2>/dev/null)
LIB_LIBS := $(shell pkg-config --libs $(LIBRARIES) 2>/dev/null || \
                    echo -lpng -ljpeg -lz -lnettle $(if $(filter 1,$(ISAL)),-lisal))

WARNINGS := -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes \
            -Wmissing-prototypes -Wvla -Wwrite-strings
CFLAGS ?= -O2 -g
CXXFLAGS ?= -O2 -g

knows = $(shell $(1) -Werror $(2) -E -x c /dev/null >/dev/null 2>&1 && echo $(2))

# Where a loop begins decides how many lines of the cache it takes, and that by up
# to 1 % of the time of a batch. So it does not depend on what stands before it.
ifneq ($(BUILDS),)
ALIGNED := $(foreach flag,-falign-functions=64 -falign-loops=64,$(call knows,$(CC),$(flag)))
# Nor does an object say where it was built: two builds are byte for byte the same.
PLACELESS := $(call knows,$(CC),-ffile-prefix-map=$(CURDIR)=.)
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
             -MMD -MP $(ALIGNED) $(PLACELESS) $(HARD_CFLAGS) $(CFLAGS)
LINK_FLAGS = $(HARD_LDFLAGS) $(CFLAGS) $(LDFLAGS)
ALL_LIBS = $(DEPS_LIBS) $(LIB_LIBS) -lm -lpthread -ldl

# The GPU code keeps machine code for each of ARCHS, and PTX of the oldest, from
# which the driver makes machine code for any GPU that is not among them.
# Most files have no kernel and launch none: for them one GPU is enough.
NVCCFLAGS ?= -O3
GPUS = $(if $(shell grep -lE '__global__|<<<|\.cuh"' $<),$(ARCHS),$(firstword $(ARCHS)))
ALL_NVCCFLAGS = -std=c++17 -I. -lineinfo --threads 0 \
    -Xcompiler=-Wall,-Wextra $(HARD_NVCCFLAGS) $(NVCCFLAGS) \
    $(foreach a,$(GPUS),-gencode=arch=compute_$(a),code=sm_$(a)) \
    -gencode=arch=compute_$(firstword $(ARCHS)),code=compute_$(firstword $(ARCHS))

LIB_SRC := $(wildcard $(addsuffix /*.c,codecs codecs/* codecs/*/* cuda cuda/*))
ifneq ($(ISAL),1)
LIB_SRC := $(filter-out codecs/deflate/flate_isal.c,$(LIB_SRC))
endif
LIB_SRC := $(filter-out $(if $(TIFF),,codecs/tiff/%) $(if $(WEBP),,codecs/webp/%),\
               $(LIB_SRC))
CLI_SRC := $(wildcard cli/*.c cli/*/*.c)
ifeq ($(CUDA),1)
LIB_SRC += $(wildcard cuda/*.cu cuda/*/*.cu)
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

ifneq ($(BUILDS),)
$(info gimgxf: $(FOUND)$(if $(filter 1,$(ISAL)),, (no ISA-L: PNG will be slower))\
    $(if $(REMEMBERED),(chosen before: $(foreach v,$(REMEMBERED),$(v)="$($(v))"))))
endif

all: $(BUILD)/gimgxf
ifeq ($(GOALS),all)
	@echo 'built $<; try: $< rotate90 samples/f-rgb.png $(BUILD)/f-turned.png'
	@echo 'next: make check (the tests), make install (to $(PREFIX)), make help (the rest)'
endif

# All below cli/, and cli/ without main(), for the program and the tests.
LIB := $(BUILD)/below-cli.a
$(LIB): $(LIB_OBJ)
CLI_LIB := $(BUILD)/cli.a
$(CLI_LIB): $(filter-out %/main.c.o,$(CLI_OBJ))
$(BUILD)/%.a:
	@rm -f $@
	$(call say,AR)$(AR) rcs $@ $^

$(BUILD)/gimgxf: $(call object,cli/main.c) $(CLI_LIB) $(LIB)
	$(call say,LD)$(CC) $(LINK_FLAGS) -o $@ $^ $(ALL_LIBS) $(CUDA_LIBS)

$(BUILD)/%.c.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,CC,$<)$(CC) $(ALL_CFLAGS) -c -o $@ $<

$(BUILD)/%.cu.o: %.cu $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,NVCC,$<)$(NVCC) $(ALL_NVCCFLAGS) -MMD -MP -c -o $@ $<

# The one place where a build knows whether it has CUDA. (Not through CFLAGS,
# which the command line may set and then nothing here can add to.)
$(BUILD)/cuda/backend_choose.c.o: DEFINES := -DHAVE_CUDA=$(CUDA)

# The same for ISA-L.
$(BUILD)/codecs/deflate/flate.c.o: DEFINES := -DHAVE_ISAL=$(ISAL)

# The same for the libraries that are loaded.
name = '"$(word $(1),$(2))"'
have = $(foreach name,TIFF WEBP BROTLI,-DHAVE_$(name)=$(if $($(name)),1,0))
$(call object,codecs/codec.c codecs/foreign.c): DEFINES := $(have)
$(call object,codecs/libraries.c): DEFINES := -DLOADED='"$(strip $(TIFF) $(WEBP) $(BROTLI) $(JXL))"'
$(call object,$(wildcard codecs/jxl/*.c)): DEFINES := $(have) \
    -DBROTLIENC_SONAME=$(call name,1,$(BROTLI)) -DBROTLIDEC_SONAME=$(call name,2,$(BROTLI)) \
    -DJXL_SONAME=$(call name,1,$(JXL))
$(call object,$(wildcard codecs/tiff/*.c)): DEFINES := -DTIFF_SONAME=$(call name,1,$(TIFF))
$(call object,$(wildcard codecs/webp/*.c)): DEFINES := -DWEBP_SONAME=$(call name,1,$(WEBP))

# What the sanitizers do themselves, the sandbox would refuse them.
$(BUILD)/cli/sandbox/sandbox.c.o: DEFINES := \
    -DHAVE_SANDBOX=$(if $(findstring -fsanitize,$(CFLAGS)),0,1)

# Their loops are written for the vectoriser, which -O2 of GCC 12 hardly asks.
$(BUILD)/codecs/image/interleave.c.o $(BUILD)/codecs/png/filter.c.o: ALL_CFLAGS += -O3

# Changes when what decides about the objects does, so that all is built anew. What
# was chosen is noted beside it, for the next make.
DECIDES := $(CC) $(CUDA) $(ISAL) $(TIFF) $(WEBP) $(BROTLI) $(JXL) HARDEN=$(HARDEN) $(ARCHS) $(DEPS) $(NVCCFLAGS) \
           $(VERSION) $(ALIGNED) CFLAGS=$(CFLAGS)$(if $(LDFLAGS), LDFLAGS=$(LDFLAGS))
quoted = '$(subst ','\'',$(1))'
$(BUILD)/flags: FORCE
	@mkdir -p $(@D)
	@echo $(call quoted,$(DECIDES)) | cmp -s - $@ || echo $(call quoted,$(DECIDES)) >$@
	@printf '%s\n' $(foreach v,$(CHOSEN),$(call quoted,chosen_$(v) = $(value $(v)))) \
	    >$(@D)/choices
FORCE:
.SECONDARY:

# What the tests take for granted is that the choice was made here.
CUDA_FORCED := $(if $(filter command environment,$(firstword $(origin CUDA))),$(CUDA),0)
check: $(BUILD)/gimgxf tests
	@BUILD=$(BUILD) CUDA_REQUIRED=$(CUDA_FORCED) tests/run
# What breaks most often, for every change: names, as of tests/run.
QUICK := rules test_ test-newcomer test-docs test-turns test-files test-info test-check \
         test-convert test-limits test-loss test-backend
check-quick: $(BUILD)/gimgxf tests
	@PICTURES=none BUILD=$(BUILD) tests/run $(QUICK)

demo: $(BUILD)/gimgxf
	$(BUILD)/gimgxf -v rotate90 samples/f-rgb.png $(BUILD)/f-turned.png
	@echo 'samples/f-rgb.png, turned, is $(BUILD)/f-turned.png'

DATA = $(DESTDIR)$(PREFIX)/share
ZSH_DIR = $(DATA)/zsh/site-functions
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
	install -Dm644 man/_gimgxf $(ZSH_DIR)/_gimgxf
	install -Dm644 man/gimgxf.fish \
	    $(DATA)/fish/vendor_completions.d/gimgxf.fish
uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/gimgxf $(MAN_INSTALLED) \
	    $(DATA)/bash-completion/completions/gimgxf \
	    $(ZSH_DIR)/_gimgxf \
	    $(DATA)/fish/vendor_completions.d/gimgxf.fish

clean:
	rm -rf build build-*

format:
	git ls-files -co --exclude-standard '*.[ch]' '*.cc' '*.cu' '*.cuh' | xargs clang-format -i

# What the files say at their heads.
help:
	@for file in Makefile mk/tiers.mk mk/bench.mk mk/package.mk; do \
	    sed -n '/^#/!q; s/^# \{0,1\}//p' $$file; echo; \
	done

include mk/tests.mk mk/tiers.mk mk/bench.mk mk/package.mk
-include $(patsubst %.o,%.d,$(LIB_OBJ) $(CLI_OBJ))
endif
