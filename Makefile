# gimgxf: rotate, mirror and transpose pictures.
#
#   make deps          install what is missing (apt; as root or through sudo)
#   make               build build/gimgxf, with CUDA where nvcc is found
#   make demo          turn a sample picture
#   make check         the tests; check-all: also sanitizers, clang, CUDA=0
#   make install       to PREFIX, below DESTDIR
#
#   CUDA=1 | CUDA=0    insist on CUDA, or never call nvcc
#   ARCHS="90 100"     the GPUs to compile for
#   DEPS=DIR           libraries also in DIR/usr, where none can be installed
#   BUILD=DIR          where to build

BUILD   ?= build
PREFIX  ?= /usr/local
DESTDIR ?=
VERSION := 0.1.0

# ---- What is here -----------------------------------------------------------

NVCC := $(or $(shell command -v nvcc 2>/dev/null),$(wildcard /usr/local/cuda/bin/nvcc))
CUDA ?= $(if $(NVCC),1,0)
ARCHS ?= 75 80 86 89 90 100 120

GOALS := $(or $(MAKECMDGOALS),all)
BUILDS := $(filter-out deps clean format uninstall,$(GOALS))

ifneq ($(filter-out 0 1,$(CUDA)),)
$(error CUDA=$(CUDA): it is 0 or 1)
endif
ifeq ($(CUDA),1)
ifeq ($(NVCC),)
$(error CUDA=1, but there is no nvcc in PATH or /usr/local/cuda/bin)
endif
FOUND := CUDA build, $(NVCC), sm $(ARCHS)
else
FOUND := CPU build$(if $(NVCC),, (no nvcc found))
endif

# ---- How to build -----------------------------------------------------------

LIBRARIES := libpng libjpeg zlib
ifdef DEPS
DEPS_LIB := $(wildcard $(DEPS)/usr/lib $(DEPS)/usr/lib/*-linux-gnu)
DEPS_CFLAGS := -isystem $(DEPS)/usr/include
DEPS_LIBS := $(DEPS_LIB:%=-L%) $(DEPS_LIB:%=-Wl,-rpath,$(CURDIR)/%)
endif
LIB_CFLAGS = $(shell pkg-config --cflags $(LIBRARIES) 2>/dev/null)
LIB_LIBS = $(shell pkg-config --libs $(LIBRARIES) 2>/dev/null || \
                   echo -lpng -ljpeg -lz)

WARNINGS := -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes \
            -Wmissing-prototypes -Wvla -Wwrite-strings
CFLAGS ?= -O2 -g
ALL_CFLAGS = -std=c11 -D_GNU_SOURCE -I. $(WARNINGS) $(DEPS_CFLAGS) \
             $(LIB_CFLAGS) -DGIMGXF_VERSION='"$(VERSION)"' -MMD -MP $(CFLAGS)
ALL_LIBS = $(DEPS_LIBS) $(LIB_LIBS) -lm -lpthread

# The GPU code keeps machine code for each of ARCHS, and PTX of the oldest, from
# which the driver makes machine code for any GPU that is not among them.
NVCCFLAGS ?= -O3
ALL_NVCCFLAGS = -std=c++17 -I. -lineinfo --threads 0 \
    -Xcompiler=-Wall,-Wextra $(NVCCFLAGS) \
    $(foreach a,$(ARCHS),-gencode=arch=compute_$(a),code=sm_$(a)) \
    -gencode=arch=compute_$(firstword $(ARCHS)),code=compute_$(firstword $(ARCHS))

LIB_SRC := $(wildcard codecs/*.c cuda/*.c)
CLI_SRC := $(wildcard cli/*.c)
ifeq ($(CUDA),1)
LIB_SRC += $(wildcard cuda/*.cu)
CUDA_HOME := $(dir $(NVCC))..
CUDA_LIBS := -L$(CUDA_HOME)/lib64 -lcudart_static -ldl -lrt
endif
TEST_SRC := $(wildcard tests/test_*.c)

object = $(addsuffix .o,$(addprefix $(BUILD)/,$(1)))
LIB_OBJ := $(call object,$(LIB_SRC))
CLI_OBJ := $(call object,$(CLI_SRC))
TESTS := $(TEST_SRC:tests/%.c=$(BUILD)/tests/%)

# ---- Targets ----------------------------------------------------------------

.PHONY: all deps demo check check-all tests install uninstall format clean
all: $(BUILD)/gimgxf

ifneq ($(BUILDS),)
$(info gimgxf: $(FOUND))
endif

$(BUILD)/gimgxf: $(CLI_OBJ) $(LIB_OBJ)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(ALL_LIBS) $(CUDA_LIBS)

$(BUILD)/tests/%: $(BUILD)/tests/%.c.o $(LIB_OBJ)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(ALL_LIBS) $(CUDA_LIBS)

$(BUILD)/%.c.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -c -o $@ $<

$(BUILD)/%.cu.o: %.cu $(BUILD)/flags
	@mkdir -p $(@D)
	$(NVCC) $(ALL_NVCCFLAGS) -MMD -MP -c -o $@ $<

# The one place where a build knows whether it has CUDA.
$(BUILD)/cuda/backend.c.o: CFLAGS += -DHAVE_CUDA=$(CUDA)

# Its loops are written for the vectoriser, which -O2 of GCC 12 hardly asks.
$(BUILD)/codecs/planes.c.o: ALL_CFLAGS += -O3

# Changes when the choices do, so that all is built anew.
CHOICES := $(CC) $(CUDA) $(ARCHS) $(DEPS) $(CFLAGS) $(NVCCFLAGS) $(VERSION)
$(BUILD)/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(CHOICES)' | cmp -s - $@ || echo '$(CHOICES)' > $@
FORCE:

tests: $(TESTS)

clean:
	rm -rf build build-*

format:
	clang-format -i $(wildcard */*.[ch] */*.cu)

-include $(patsubst %.o,%.d,$(LIB_OBJ) $(CLI_OBJ) $(call object,$(TEST_SRC)))
