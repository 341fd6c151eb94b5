# What measures, and what draws the pictures of the README:
#
#   make bench         on a GPU where there is one; BENCH="OPTION..."
#   make bench-files   whole processes beside other programs, which make deps-bench
#                      installs; bench-png, bench-jpeg: on these
#   make bench-batch   batches, beside other programs and by processors
#   make bench-batch-gpu
#                      batches of JPEG files on a GPU and without it
#   make bench-sandbox what the sandbox and --isolate cost
#   make bench-guard BEFORE=OTHER/gimgxf
#                      what is slower, larger or hungrier than in another build
#   make bench-family BEFORE=OTHER/gimgxf
#                      sizes and times of 300 PNGs that no benchmark was tuned for
#   make bench-tables  the tables of BENCHMARKS.md about whole processes
#   make figures       all of these in one sitting: the tables and the chart that are
#                      written by scripts, and in build/figures, with the machine's
#                      name, what the others are made of
#   make turns chart-kernels chart-files
#                      the pictures of the README; the second also those of all
#                      kernels, on a GPU

.PHONY: turns chart-kernels chart-files bench bench-files bench-png \
        bench-jpeg bench-batch bench-batch-gpu bench-sandbox bench-guard \
        bench-family bench-tables figures

# The pictures of the README: the turns of a sample, the kernels on a GPU (all as they
# are measured, the best as BENCHMARKS.md has them), and whole processes beside those
# that make deps-bench installs.
turns: $(BUILD)/gimgxf
	samples/make-turns $(BUILD)/gimgxf >samples/turns.svg
chart-kernels: $(BUILD)/gimgxf
	$(BUILD)/gimgxf bench --only transpose --json >$(BUILD)/kernels.json
	tests/bench/chart-kernels samples/kernels-h200.svg $(BUILD)/kernels.json
	tests/bench/chart-kernels samples/kernels.svg
chart-files: $(BUILD)/gimgxf
	@BUILD=$(BUILD) tests/bench/chart-files samples/files.svg

bench: $(BUILD)/gimgxf
	$(BUILD)/gimgxf bench $(BENCH)
bench-files: $(BUILD)/gimgxf
	@BUILD=$(BUILD) tests/bench/programs files
	@BUILD=$(BUILD) tests/bench/programs tiff
bench-png: $(BUILD)/gimgxf
	@BUILD=$(BUILD) tests/bench/programs png
	@BUILD=$(BUILD) tests/bench/programs classes
bench-jpeg: $(BUILD)/gimgxf
	@BUILD=$(BUILD) tests/bench/programs jpeg
bench-batch: $(BUILD)/gimgxf
	@BUILD=$(BUILD) tests/bench/batch
bench-sandbox: $(BUILD)/gimgxf
	@BUILD=$(BUILD) tests/bench/batch $(addprefix safe-,one small serve png jpeg)
# All tables of BENCHMARKS.md about whole processes on a small machine, and the chart.
bench-tables: $(BUILD)/gimgxf
	@BUILD=$(BUILD) tests/bench/tables
# The tables, and what those of BENCHMARKS.md that no script writes are made of.
figures: bench-tables turns
	@mkdir -p $(BUILD)/figures; failed=0; export BUILD=$(BUILD); \
	gpu=$$($(BUILD)/gimgxf --version | grep '^GPU [0-9]'); \
	for command in '$(BUILD)/gimgxf bench' '$(MAKE) bench-sandbox' \
	    $${gpu:+'$(MAKE) bench-batch-gpu'}; do \
	    out=$(BUILD)/figures/$$(basename "$${command#* }"); \
	    { date +%Y-%m-%d; nproc; sed -n 's/^model name.*: //p' /proc/cpuinfo | sort -u; \
	      echo "$$gpu"; uptime; $$command; } >"$$out" 2>&1 && echo "made $$out" || \
	    { failed=1; echo "$$command failed: $$out says why"; }; \
	done; exit $$failed
# Beside another build, BEFORE=OTHER/gimgxf.
bench-guard: $(BUILD)/gimgxf
	@$(if $(BEFORE),,$(error bench-guard needs BEFORE=OTHER/gimgxf))
	@BUILD=$(BUILD) tests/bench/guard $(BEFORE) $(BUILD)/gimgxf
bench-family: $(BUILD)/gimgxf
	@$(if $(BEFORE),,$(error bench-family needs BEFORE=OTHER/gimgxf))
	@BUILD=$(BUILD) tests/bench/guard $(BEFORE) $(BUILD)/gimgxf family
bench-batch-gpu: $(BUILD)/gimgxf
	@BUILD=$(BUILD) PLACE=$${PLACE:-/dev/shm/gimgxf-bench} tests/bench/batch \
	    gpu $(addprefix gpu-,optimized 12mp odd mixed)
