# The programs that `make check` runs.

.PHONY: tests
TEST_SRC := $(shell find tests/unit tests/fuzz -name '*_*.c' | sort)
ifneq ($(CUDA),1)
TEST_SRC := $(filter-out %/test_scan_cuda.c %/test_idat_cuda.c,$(TEST_SRC))
endif
# The programs stand side by side, whatever the folders of their sources.
TESTS := $(addprefix $(BUILD)/tests/,$(basename $(notdir $(TEST_SRC))))

# What the tests share, main() of the unit tests among it.
TEST_LIB := $(BUILD)/tests/support.a
$(TEST_LIB): $(call object,$(wildcard tests/support/*.c))

.SECONDEXPANSION:
$(TESTS): $$(call object,$$(filter %/$$(@F).c,$(TEST_SRC))) $(TEST_LIB) \
          $(CLI_LIB) $(LIB)
	$(call say,LD)$(CC) $(LINK_FLAGS) -o $@ $^ $(ALL_LIBS) $(CUDA_LIBS)

# The test that calls CUDA itself.
$(BUILD)/tests/unit/cuda/jpeg/test_scan_cuda.c.o: ALL_CFLAGS += -isystem $(CUDA_HOME)/include

# What takes the place of malloc(), and of the clock: see there.
PRELOADED := $(BUILD)/tests/starve.so $(BUILD)/tests/hurries.so \
             $(BUILD)/tests/faults.so
$(PRELOADED): $(BUILD)/tests/%.so: tests/support/preload/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,LD)$(CC) -std=c11 -D_GNU_SOURCE $(WARNINGS) -O2 -g -shared -fPIC -o $@ $< -ldl

# The program, with a backend "cuda" that is the host.
ON_HOST := $(BUILD)/on-host/gimgxf
$(ON_HOST): $(call object,cli/main.c tests/on_host/backend_choose.c) \
            $(TEST_LIB) $(CLI_LIB) $(LIB)
	@mkdir -p $(@D)
	@ln -sfn ../tests $(@D)/tests
	$(call say,LD)$(CC) $(LINK_FLAGS) -o $@ $^ $(ALL_LIBS) $(CUDA_LIBS)

# Both, with a decoder that does what a picture says.
BROKEN := $(BUILD)/broken/gimgxf $(BUILD)/on-host/broken/gimgxf
BROKEN_OBJ := $(call object,cli/main.c tests/broken/hdr.c)
$(BUILD)/broken/gimgxf: $(BROKEN_OBJ) $(CLI_LIB) $(LIB)
$(BUILD)/on-host/broken/gimgxf: $(BROKEN_OBJ) \
    $(call object,tests/on_host/backend_choose.c) $(TEST_LIB) $(CLI_LIB) $(LIB)
$(BROKEN):
	@mkdir -p $(@D)
	$(call say,LD)$(CC) $(LINK_FLAGS) -o $@ $^ $(ALL_LIBS) $(CUDA_LIBS)

# The program, on a runtime of CUDA that is the host and whose calls can fail.
ifeq ($(CUDA),1)
FAKE_GPU := $(BUILD)/fake-gpu/gimgxf
$(FAKE_GPU): $(call object,cli/main.c tests/fake_gpu/backend_choose.c \
                           tests/fake_gpu/cuda_runtime.c tests/fake_gpu/kernels.cu) \
             $(TEST_LIB) $(CLI_LIB) $(LIB)
	@mkdir -p $(@D)
	@ln -sfn ../tests $(@D)/tests
	$(call say,LD)$(CC) $(LINK_FLAGS) -o $@ $^ $(ALL_LIBS) $(CXX_LIB)
$(BUILD)/tests/fake_gpu/cuda_runtime.c.o: ALL_CFLAGS += -isystem $(CUDA_HOME)/include
endif

tests: $(TESTS) $(PRELOADED) $(ON_HOST) $(FAKE_GPU) $(BROKEN)

-include $(patsubst %.o,%.d,$(call object,$(TEST_SRC) $(wildcard tests/*/*.c)))
