# dfc: one flat Makefile. `make help` lists what there is to make.
#
#   BUILD=release|debug|asan|ubsan|tsan|coverage|fuzz   kind of build, each in its own build/$(BUILD)/
#   CUDA=0                leave CUDA out although nvcc is there
#   OPENCL=0              leave OpenCL out although its headers are there
#   MPICC=                leave the plug-in for MPI out although mpicc is there; MPICC=PATH takes that one
#   CFLAGS, LDFLAGS       yours, added last
#   V=1                   show the commands

BUILD    ?= release
BUILDDIR ?= build/$(BUILD)
PREFIX   ?= /usr/local
VERSION  := 0.1.0
NVCC     ?= $(firstword $(shell command -v nvcc 2>/dev/null) $(wildcard /usr/local/cuda/bin/nvcc))
MPICC    ?= $(shell command -v mpicc 2>/dev/null)
T        ?=

.DEFAULT_GOAL := all
.SUFFIXES:
MAKEFLAGS += --no-builtin-rules
ifeq ($(MAKELEVEL)$(filter -j%,$(MAKEFLAGS)),0)
MAKEFLAGS += -j$(shell nproc 2>/dev/null || echo 1)
endif
Q := $(if $(V),,@)
comma := ,

# ---- what is built how ----

SAN_asan  := -fsanitize=address -fno-omit-frame-pointer
SAN_ubsan := -fsanitize=undefined -fno-sanitize-recover=undefined
SAN_tsan  := -fsanitize=thread
# clang's, for libFuzzer; in addition it finds floats that are converted to an integer type which cannot hold them
SAN_fuzz := -fsanitize=fuzzer-no-link,address,undefined,float-cast-overflow -fno-sanitize-recover=all -fno-omit-frame-pointer
# Line numbers for backtraces and profilers; BUILD=debug has everything for debuggers.
OPT_release := -O2 -g1 -DNDEBUG
OPT_debug   := -O0 -g3
OPT_asan    := -O1 -g
OPT_ubsan   := -O1 -g
OPT_tsan    := -O1 -g
OPT_fuzz    := -O1 -g
OPT_coverage := -O0 -g -DNDEBUG --coverage -fprofile-update=atomic
# In a release build the tests' own code is compiled without optimisation, and linked by gold, if it is installed, without debug information. This
# takes a third of the time; BUILD=debug is for debuggers.
QUICK_CC := $(if $(filter release,$(BUILD)),-O0)
QUICK_LD := $(if $(filter release,$(BUILD)),-Wl$(comma)-S $(if $(shell command -v ld.gold),-fuse-ld=gold))
ifeq ($(OPT_$(BUILD)),)
$(error BUILD=$(BUILD) is not one of release, debug, asan, ubsan, tsan, coverage, fuzz)
endif

SANITIZE := $(SAN_$(BUILD))
WARN   := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes
OBJ    := $(BUILDDIR)/obj
BIN    := $(BUILDDIR)/bin
LIB    := $(BUILDDIR)/lib
INC    := $(BUILDDIR)/include
STD    := $(BUILDDIR)/share/dfc/std
# Floating point without contraction: planners and the evaluator give the same digits on every machine.
FLAGS  := -std=c11 -D_GNU_SOURCE -ffp-contract=off -fPIC -fvisibility=hidden -ffunction-sections -fdata-sections -pthread $(WARN) $(OPT_$(BUILD)) \
          $(SANITIZE) -I. -I$(OBJ)/dsl
DEFS   := -DDFC_VERSION='"$(VERSION)"' -DDFC_DEFAULT_CFLAGS='"$(SANITIZE)"'

ifeq ($(CUDA),0)
NVCC :=
endif
# nvcc itself knows best where its toolkit is (it may be a wrapper in another folder). Debian's has its headers in /usr.
CUDA_HOME := $(if $(NVCC),$(realpath $(shell $(NVCC) --dryrun -x cu -E /dev/null 2>&1 | sed -n 's/^...TOP=//p')) /usr)
CUDA_HOME := $(firstword $(foreach d,$(CUDA_HOME),$(if $(wildcard $(d)/include/cuda_runtime_api.h),$(d))))

pc = $(shell pkg-config $(1) $(2) 2>/dev/null)
GV_CFLAGS := $(call pc,--cflags,libgvc libcgraph)
GV_LIBS   := $(or $(call pc,--libs,libgvc libcgraph),-lgvc -lcgraph -lcdt)
LIBS      := -lmetis $(GV_LIBS) -ljansson -lsqlite3 -lhwloc -lm -ldl -lrt

# ---- sources: a new file is found by its folder ----

# The front end and what gives times for other sizes are also linked into programs with dynamic params; what only the
# dfc command needs, SQLite above all, stays out of them.
src          = $(wildcard $(1)/*.c $(1)/*/*.c)
CUDA_SRC     := $(call src,runtime/cuda)
STD_SRC      := $(call src,runtime/std)
MPI_SRC      := $(call src,runtime/mpi)
# Only headers are needed: programs load libOpenCL when they run.
OPENCL_SRC   := $(call src,runtime/opencl)
HAVE_OPENCL  := $(if $(filter 0,$(OPENCL)),,$(shell echo '\#include <CL/cl.h>' | $(CC) -E -x c - >/dev/null 2>&1 && echo 1))
RUNTIME_SRC  := $(filter-out $(CUDA_SRC) $(STD_SRC) $(MPI_SRC) $(if $(HAVE_OPENCL),,$(OPENCL_SRC)),$(call src,runtime)) $(call src,memmgr)
PLAN_SRC     := $(call src,partition)
FRONT_SRC    := $(call src,dsl) $(foreach room,types formula proof fusion declare elab count divide front,$(call src,compiler/$(room))) $(call src,profiles/estimate)
DRIVER_SRC   := $(filter-out $(FRONT_SRC),$(call src,compiler) $(call src,profiles))
MAIN_SRC     := compiler/commands/main.c
# dfc wrap reads debug information with libdw; without that it says so, and all else is built.
DW_SRC       := compiler/wrap/prototypes_dwarf.c
HAVE_DW      := $(shell pkg-config --exists libdw 2>/dev/null && echo 1)
ifeq ($(HAVE_DW),)
DRIVER_SRC   := $(filter-out $(DW_SRC),$(DRIVER_SRC))
endif

obj = $(patsubst %.c,$(OBJ)/%.o,$(1))
PARSER_OBJ := $(OBJ)/dsl/lexer.o $(OBJ)/dsl/parser.o

LIBRARIES := $(LIB)/libdf.a $(LIB)/libdfplan.a $(LIB)/libdffront.a $(if $(CUDA_HOME),$(LIB)/libdf-cuda.a)
# Programs load it when they run on many machines; it is built by the site's own MPI, and libdf knows nothing of it but an interface.
MPI_PLUGIN := $(if $(MPICC),$(LIB)/libdf-mpi.so)
HEADERS := $(INC)/df.h $(INC)/df_cuda.h $(INC)/df_opencl.h $(INC)/df_io.h $(INC)/df_math.h $(INC)/df_formula.h $(INC)/df_formula_gpu.h $(INC)/df_formula_host.h \
           $(INC)/df_opencl_c.h $(INC)/df_strips.h $(INC)/df_plan.h
# What programs import, and dfc compiles into them.
STD_COPIED := $(addprefix $(STD)/,$(notdir $(wildcard runtime/std/*.c runtime/std/*.cu runtime/std/*.h runtime/std/*.df)))
STD_DF := $(addprefix $(STD)/,raw.df npy.df png.df jpeg.df tiff.df csv.df records.df)
STD_IMAGE := $(patsubst runtime/std/%.df.in,$(STD)/%.df,$(wildcard runtime/std/*.df.in))
IMPORTS := $(STD_COPIED) $(STD)/elements.def $(STD_DF) $(STD_IMAGE)
# The Python package. dfc copies graphs.py into the modules that it makes.
PYTHON_DIR := $(BUILDDIR)/share/dfc/python/dfc
PYTHON    := $(addprefix $(PYTHON_DIR)/,$(notdir $(wildcard compiler/python/dfc/*.py)))
UNIT_SRC  := $(filter-out $(if $(HAVE_OPENCL),,tests/unit/runtime/opencl/%),$(wildcard tests/unit/*/test_*.c tests/unit/*/*/test_*.c))
UNIT      := $(patsubst %.c,$(BUILDDIR)/tests/%,$(notdir $(UNIT_SRC)))
UNIT_HELP := $(OBJ)/libunit.a
FUZZ      := $(patsubst tests/fuzz/%.c,$(BUILDDIR)/tests/%,$(wildcard tests/fuzz/fuzz_*.c))

.PHONY: all deps deps-told demo check check-asan check-ubsan check-tsan check-inner check-long check-streams check-streams-long check-formulas check-formulas-cross check-formulas-here check-model check-rehearse check-math check-same coverage mutate gpu-check gpu-kit gpu-report bench bench-scale bench-filters bench-taps bench-image bench-edits bundle bundle-inner install \
        uninstall fuzz fuzz-inner clean help lib tests demo-inner bench-inner bench-scale-inner bench-filters-inner bench-taps-inner bench-image-inner bench-edits-inner graphs results results-inner thesis-results thesis-results-inner map-results map-results-inner stream-results stream-results-inner stream-ranks stream-nodes tuning-results tuning-results-inner pictures pictures-inner \
        examples-check examples-bench examples-check-inner examples-bench-inner
.DELETE_ON_ERROR:

all: $(BIN)/dfc $(LIBRARIES) $(MPI_PLUGIN) $(HEADERS) $(IMPORTS) $(PYTHON) $(BUILDDIR)/pkgconfig
	@$(if $(HAVE_DW),:,echo 'dfc wrap is left out: it needs libdw (libdw-dev), which is not installed')
	@$(if $(HAVE_OPENCL),:,echo 'the OpenCL back end is left out: it needs CL/cl.h (opencl-headers), which is not installed or was left out by OPENCL=0')
	@$(if $(MPI_PLUGIN),:,echo 'libdf-mpi.so is left out: it needs mpicc (libopenmpi-dev), which is not installed or was left out by MPICC=')

lib: $(LIBRARIES) $(HEADERS)

help:
	@echo 'make            build dfc and libdf into $(BUILDDIR)/'
	@echo 'make demo       finds nuclei in a picture and edges in a photo, and simulates the thesis'"'"'s graphs; within a minute, results in build/demo/'
	@echo 'make check      all tests (installs what is missing); T=name builds for and runs the tests whose name has it in, T==NAME that one; several may be named'
	@echo 'make check-asan, check-ubsan, check-tsan   the same under a sanitizer'
	@echo 'make check-long all tests with what they leave out of make check, and more random graphs, N=1000 of them, also in less GPU memory than they need,'
	@echo '                graphs of 10^6 nodes, examples-check FULL=1, what check-streams-long and check-streams SESSIONS=500 do, every variant of PNG and TIFF, each failure of a device at every call, each failure of a file at every call, more of explain --what-if,'
	@echo '                runs that are killed 100 times (on an OpenCL device 50 times), and ranks in each way, OpenCL kernels in Oclgrind, make gpu-kit with all its steps in an empty root,'
	@echo '                a job of Slurm that its time limit stops, 100,000 inputs for each of five readers of files (clang), and what a second of waiting costs (less than 10 ms of a core)'
	@echo 'make check-rehearse  graphs of a folder (DIR=) rehearsed in real time, against what is predicted; minutes, or LIMIT= seconds a run'
	@echo 'make check-formulas  N=5000 random programs of formulas, by what dfc makes of them and by an interpreter, compared to the bit; FROM=1201 goes on there;'
	@echo '                CROSS=aarch64 has N=200 cross-compiled, and runs them under qemu-user'
	@echo 'make check-streams  N=2000 random programs with empty tokens, extents of each wave, accs, state and divided nodes; FROM=1201 goes on there;'
	@echo '                SESSIONS=500 has libraries instead, called by sessions: with calls that fail, are stopped or forked, and arrays that are reused'
	@echo 'make check-streams-long  10^5 waves in the shape of NBIA (WAVES=), and a volume of four times the GPU'"'"'s memory, under every policy; minutes'
	@echo 'make check-math  the largest error of each math function of formulas: f32 over all arguments, f64 over N=100000000, NAME=exp TYPE=f32 that one;'
	@echo '                and how fast exp is beside the C library'
	@echo 'make check-model the models of the job queue and of the protocol between processes, with spin: each holds, and fails without any of its rules'
	@echo 'make coverage   which lines and branches the tests reach, a row per room; UPDATE=1 into docs/results/coverage.md'
	@echo 'make mutate     changes an operator or a constant in N=60 places, one at a time, and says which of them the tests notice;'
	@echo '                SEED=1, ONLY=runtime/engine'
	@echo 'make gpu-check  the same flows on a real GPU, compared with the cpu; skipped and counted where there is none'
	@echo 'make gpu-report registers, spills, local memory, occupancy, bytes and instructions of all kernels for GPUs, as ptxas sees them, into docs/results/gpu.md'
	@echo 'make gpu-kit    build/gpu-kit/: all programs of gpu-check and of the GPU bench, to be carried to a machine with a GPU and run there by run.sh'
	@echo 'make examples-check  each application of examples/ against its oracle; T=name takes one; FULL=1 tries every policy'
	@echo 'make examples-bench  each application beside what one would use today; PEERS=1 installs what it is compared with'
	@echo 'make bench      figures of this machine, with oneTBB, OpenMP, StarPU and Concurrency Kit beside them where installed; QUICK=1, UPDATE=1'
	@echo 'make bench-filters  filter chains as formulas beside Halide (libhalide14-0-dev) and OpenCV (libopencv-dev), where installed; QUICK=1'
	@echo 'make bench-taps  formulas of 9 to 241 taps: of constants, of extents, along rows and columns; LEVEL=v3'
	@echo 'make bench-image  functions of std/image.df beside scikit-image, SciPy and OpenCV, where installed; H=480 W=640'
	@echo 'make bench-edits  CPU seconds of one turn of editing: a graph compiled, run, edited, run again; N=5 runs of each'
	@echo 'make bench-scale  planning from 10^3 to 10^5 nodes on one core: gp, METIS alone, heft'
	@echo 'make check-same the same placements and simulations from every BUILD and compiler, byte for byte'
	@echo 'make graphs     the 99 graphs with costs that results simulates, into build/graphs/ (GRAPHS=)'
	@echo 'make results    tables and plots of docs/scheduling.md into build/results/; UPDATE=1 into the page; DAGS=dir adds its graphs'
	@echo 'make thesis-results  figures 5.1 to 5.4 of the thesis, simulated, into docs/results/thesis/; a minute'
	@echo 'make tuning-results  pipelines that drift at random, tuned and with the best mapping that stays (docs/results/tuning.md); N=1000 samples from number FIRST=1 on'
	@echo 'make map-results  mappings of stages to unlike processors, ours beside the optimum, BSC, DPM and HeDPM; N=20 pipelines of 30 stages for each line'
	@echo 'make stream-results  DDFCFS, DDWRR and ODDS beside the figures of Anthill: writes docs/results/streams.md'
	@echo 'make stream-ranks   the same policies for real: four ranks over MPI whose workers wait in place of computing; about two minutes'
	@echo 'make stream-nodes   DDWRR and ODDS in a program, on like nodes with a core and an emulated GPU; about two minutes'
	@echo 'make pictures   every kind of picture at 5, 50, 300 and 5,000 nodes into docs/results/pictures/; SVG, and what Chromium makes of it, into'
	@echo '                build/pictures/; a minute or two'
	@echo 'make fuzz       libFuzzer for FUZZ_S=60 seconds on the parser, on whole programs and on the files that are read (clang); T=files runs'
	@echo '                that one; says executions, coverage and findings'
	@echo 'make deps       install the Debian packages needed, or print the line to type'
	@echo 'make bundle     build/bundle/: runs on a Linux x86-64 machine that has only a C compiler and nvcc'
	@echo 'make install    into PREFIX=$(PREFIX) (DESTDIR= honoured), with docs, manual pages, examples and completions; make uninstall'
	@echo 'make clean      remove $(BUILDDIR)'
	@echo 'options:        BUILD=release|debug|asan|ubsan|tsan|coverage  CUDA=0  OPENCL=0  MPICC=  CFLAGS= LDFLAGS=  V=1'

# ---- packages ----

PACKAGES := gcc g++ libc6-dev make flex bison pkg-config libmetis-dev libgraphviz-dev graphviz libhwloc-dev libopenblas-dev \
            libfftw3-dev libcmocka-dev libdw-dev libsqlite3-dev libjansson-dev libpng-dev libtiff-dev libjpeg-dev librsvg2-bin python3
# What dfc and its tests do without, and then say so: OpenCL's headers, a driver that runs on every CPU, and a simulator that checks kernels.
OPTIONAL := opencl-headers pocl-opencl-icd oclgrind

# What `make check-formulas CROSS=aarch64` needs besides. The architecture's name in Debian differs from that in the names of compilers. The -dev
# packages of METIS cannot be installed for two architectures; a shared library and the native headers are enough.
DEBIAN_aarch64 := arm64
ifneq ($(CROSS),)
ifeq ($(DEBIAN_$(CROSS)),)
$(error CROSS=$(CROSS) is not aarch64)
endif
PACKAGES += gcc-$(CROSS)-linux-gnu qemu-user libhwloc15:$(DEBIAN_$(CROSS)) libmetis5:$(DEBIAN_$(CROSS))
endif

# Shell: $$missing is what is missing of $(1); where nothing is, or nobody can tell, that is the end.
FIND_MISSING = command -v dpkg-query >/dev/null || { echo 'deps: no dpkg here; these are $(2): $(1)'; exit 0; }; \
	there=" $$(dpkg-query -W -f='$${Status}=$${Package}:$${Architecture} ' $(1) 2>/dev/null)"; missing=''; here="$$(dpkg --print-architecture)"; \
	for p in $(1); do case "$$there" in *" ok installed=$$p "* | *" ok installed=$$p:$$here "* | *" ok installed=$$p:all "*) ;; \
	    *) missing="$$missing $$p" ;; esac; done; \
	[ -n "$$missing" ] || exit 0
# Where nothing is missing, neither apt-get nor sudo is called; else one line says what is installed, before it is. What is optional is installed if that is
# possible without a question, and is no error if it is not.
deps:
	@$(call FIND_MISSING,$(PACKAGES),needed); \
	if [ "$$(id -u)" = 0 ]; then as=''; elif sudo -n true 2>/dev/null; then as='sudo -n'; else \
	    echo "Missing packages. Type this, then make again:"; echo "    sudo apt-get install -y$$missing"; exit 1; fi; \
	echo "deps: apt-get installs what is missing:$$missing"; \
	$(if $(CROSS),$$as dpkg --add-architecture $(DEBIAN_$(CROSS)) &&) $$as apt-get update -qq && DEBIAN_FRONTEND=noninteractive $$as apt-get install -y -qq --no-install-recommends$$missing >/dev/null || { \
	    echo "That failed. Type this, then make again:"; echo "    sudo apt-get install -y$$missing"; exit 1; }
	@$(call FIND_MISSING,$(OPTIONAL),optional); as='sudo -n'; [ "$$(id -u)" != 0 ] || as=''; \
	if [ "$$(id -u)" != 0 ] && ! sudo -n true 2>/dev/null; then echo "deps: the tests of OpenCL are skipped without$$missing"; exit 0; fi; \
	echo "deps: apt-get installs what is optional:$$missing"; $$as apt-get update -qq; \
	for p in $$missing; do DEBIAN_FRONTEND=noninteractive $$as apt-get install -y -qq --no-install-recommends $$p >/dev/null || echo "deps: left out: $$p"; done

# For what must run without a network: says what is missing, and goes on, because not everything needs all of it.
deps-told:
	@$(call FIND_MISSING,$(PACKAGES),needed); echo "These packages are missing, and nothing is installed without a network: make deps installs$$missing"

# ---- objects and libraries ----

$(OBJ)/dsl/parser.c $(OBJ)/dsl/parser.h &: dsl/parser.y
	@mkdir -p $(OBJ)/dsl
	$(Q)bison -Werror -o $(OBJ)/dsl/parser.c --defines=$(OBJ)/dsl/parser.h $<
$(OBJ)/dsl/lexer.c $(OBJ)/dsl/lexer.h &: dsl/lexer.l
	@mkdir -p $(OBJ)/dsl
	$(Q)flex -o $(OBJ)/dsl/lexer.c --header-file=$(OBJ)/dsl/lexer.h $<
$(OBJ)/dsl/lexer.o $(OBJ)/dsl/parser.o: $(OBJ)/dsl/%.o: $(OBJ)/dsl/%.c $(OBJ)/dsl/lexer.h $(OBJ)/dsl/parser.h $(OBJ)/flags
	$(Q)$(CC) $(FLAGS) -Wno-missing-prototypes -Wno-unused-but-set-variable -MMD -MP $(CFLAGS) -c -o $@ $<
$(call obj,$(wildcard dsl/*.c)): $(OBJ)/dsl/lexer.h $(OBJ)/dsl/parser.h

$(OBJ)/flags: FORCE
	@mkdir -p $(OBJ); echo '$(CC) $(FLAGS) $(DEFS) $(CFLAGS) $(CUDA_HOME) $(HAVE_OPENCL)' | cmp -s - $@ || echo '$(CC) $(FLAGS) $(DEFS) $(CFLAGS) $(CUDA_HOME) $(HAVE_OPENCL)' > $@
FORCE:

$(call obj,$(CUDA_SRC)): EXTRA = -Werror -isystem $(CUDA_HOME)/include
$(call obj,$(PLAN_SRC)): EXTRA = $(GV_CFLAGS)
# What only the dfc command needs, but for code of formulas and simulations, runs for microseconds: -O1 compiles it in 7 tenths of the time.
ONCE_SRC := $(filter-out $(foreach room,cluster generate schedule,compiler/$(room)/%),$(filter compiler/%,$(DRIVER_SRC)))
$(call obj,$(ONCE_SRC)): EXTRA = $(if $(filter release,$(BUILD)),-O1)
ifeq ($(BUILD),fuzz)
$(call obj,$(call src,compiler/elab)): EXTRA = -include tests/fuzz/limits.h
endif
$(OBJ)/%.o: %.c $(OBJ)/flags
	@mkdir -p $(@D)
	$(Q)$(CC) $(FLAGS) $(DEFS) $(EXTRA) -MMD -MP $(CFLAGS) -c -o $@ $<

$(LIB)/libdf.a: $(call obj,$(RUNTIME_SRC))
# The kernels that measure a GPU, with none of C++'s runtime; for all architectures, as --gpu-arch=all.
CUDA_LOOPS := $(OBJ)/runtime/cuda/cuda_loops.o
$(CUDA_LOOPS): runtime/cuda/cuda_loops.cu runtime/cuda/cuda_loops.h runtime/device/gauge.h $(OBJ)/flags
	@mkdir -p $(@D)
	$(Q)$(NVCC) -O2 -std=c++14 --fmad=false -arch=all-major -Wno-deprecated-gpu-targets --threads=0 -I. \
	    -Xcompiler=-fPIC,-fvisibility=hidden,-fno-exceptions,-fno-rtti,-fno-threadsafe-statics -c -o $@ $<

$(LIB)/libdf-cuda.a: $(call obj,$(CUDA_SRC)) $(CUDA_LOOPS)
$(LIB)/libdfplan.a: $(call obj,$(PLAN_SRC))
$(LIB)/libdffront.a: $(call obj,$(FRONT_SRC)) $(PARSER_OBJ)
$(LIB)/libdfdriver.a: $(call obj,$(filter-out $(MAIN_SRC),$(DRIVER_SRC)))
$(LIB)/%.a:
	@mkdir -p $(@D)
	$(Q)rm -f $@ && ar rcsD $@ $^
	$(ADD_GCOV)
# A program is linked with libdf.a by whoever makes it, who knows nothing of coverage: so that library brings gcov's own part.
ifeq ($(BUILD),coverage)
$(LIB)/libdf.a: ADD_GCOV = @printf '%s\n' 'open $@' 'addlib $(shell $(CC) -print-file-name=libgcov.a)' save end | ar -M
endif

$(call obj,$(MPI_SRC)): $(OBJ)/%.o: %.c $(OBJ)/flags
	@mkdir -p $(@D)
	$(Q)$(MPICC) $(FLAGS) -MMD -MP $(CFLAGS) -c -o $@ $<
$(LIB)/libdf-mpi.so: $(call obj,$(MPI_SRC))
	@mkdir -p $(@D)
	$(Q)$(MPICC) $(FLAGS) -shared -o $@ $^ $(LDFLAGS)

$(INC)/df.h: runtime/df.h
$(INC)/df_cuda.h: runtime/df_cuda.h
$(INC)/df_opencl.h: runtime/df_opencl.h
$(INC)/df_io.h: runtime/df_io.h
$(INC)/df_math.h: runtime/df_math.h
$(INC)/df_formula.h: runtime/df_formula.h
$(INC)/df_formula_gpu.h: runtime/df_formula_gpu.h
$(INC)/df_formula_host.h: runtime/df_formula_host.h
$(INC)/df_opencl_c.h: runtime/df_opencl_c.h
$(INC)/df_strips.h: runtime/df_strips.h
$(INC)/df_plan.h: partition/df_plan.h
$(HEADERS):
	@mkdir -p $(@D)
	$(Q)cp $< $@
$(STD)/elements.def: runtime/elements.def
	@mkdir -p $(@D)
	$(Q)cp $< $@
$(STD_COPIED): $(STD)/%: runtime/std/%
	@mkdir -p $(@D)
	$(Q)cp $< $@
$(PYTHON): $(PYTHON_DIR)/%: compiler/python/dfc/%
	@mkdir -p $(@D)
	$(Q)cp $< $@
$(STD_DF): $(STD)/%.df: runtime/std/kernels.sh runtime/elements.def
	@mkdir -p $(@D)
	$(Q)sh $< $* > $@
$(STD_IMAGE): $(STD)/%.df: runtime/std/image.sh runtime/std/%.df.in runtime/elements.def
	@mkdir -p $(@D)
	$(Q)sh $< runtime/std/$*.df.in > $@

# prototypes.h refers to the reader weakly, so it is asked for by name.
DW_LINK   = $(if $(HAVE_DW),-Wl$(comma)-u$(comma)dfc_prototypes_read)
CUDA_LINK = $(if $(CUDA_HOME),-Wl$(comma)-u$(comma)dfr_cuda_ops$(comma)-u$(comma)dfr_cuda_enqueue_loop $(LIB)/libdf-cuda.a -L$(CUDA_HOME)/lib64 -L$(CUDA_HOME)/lib -lcudart_static)
OPENCL_LINK = $(if $(HAVE_OPENCL),-Wl$(comma)-u$(comma)dfr_opencl_ops)
LINK_ALL  = $(LIB)/libdfdriver.a $(LIB)/libdffront.a $(LIB)/libdfplan.a $(CUDA_LINK) $(LIB)/libdf.a

$(BIN)/dfc: $(call obj,$(MAIN_SRC)) $(LIB)/libdfdriver.a $(LIBRARIES)
	@mkdir -p $(@D)
	$(Q)$(CC) $(FLAGS) -Wl,--gc-sections -Wl,--disable-new-dtags,-rpath,'$$ORIGIN/../lib' -o $@ $(call obj,$(MAIN_SRC)) $(DW_LINK) $(OPENCL_LINK) $(LINK_ALL) $(LIBS) $(if $(HAVE_DW),$(call pc,--libs,libdw)) $(LDFLAGS)

# The same for a machine with an older glibc than Graphviz's layout needs: it writes DOT, and no SVG.
$(BUILDDIR)/gpu/dfc: $(call obj,$(MAIN_SRC) tests/gpu/no_graphviz.c) $(LIB)/libdfdriver.a $(LIBRARIES)
	@mkdir -p $(@D)
	$(Q)$(CC) $(FLAGS) -Wl,--gc-sections -Wl,--as-needed -Wl,--disable-new-dtags,-rpath,'$$ORIGIN/../lib' -o $@ $(filter %.o,$^) $(OPENCL_LINK) $(LINK_ALL) \
	    $(filter-out -lgvc,$(LIBS)) $(LDFLAGS)

# ---- pkg-config files, in the build tree as in an installation ----

.PHONY: $(BUILDDIR)/pkgconfig
$(BUILDDIR)/pkgconfig:
	@mkdir -p $(LIB)/pkgconfig
	@printf '%s\n' 'prefix=$${pcfiledir}/../..' 'libdir=$${prefix}/lib' 'includedir=$${prefix}/include' '' 'Name: libdf' \
	  'Description: runtime for static dataflow graphs on CPUs and GPUs' 'Version: $(VERSION)' \
	  'Libs: -L$${libdir} -ldf -lhwloc -pthread -lm -ldl -lrt' 'Cflags: -I$${includedir}' > $(LIB)/pkgconfig/libdf.pc
	@printf '%s\n' 'prefix=$${pcfiledir}/../..' 'libdir=$${prefix}/lib' '' 'Name: libdfplan' \
	  'Description: planner of dfc: partitioning and placement of dataflow graphs' 'Version: $(VERSION)' 'Requires: libdf' \
	  'Libs: -L$${libdir} -ldfplan -lmetis' > $(LIB)/pkgconfig/libdfplan.pc
ifneq ($(CUDA_HOME),)
	@printf '%s\n' 'prefix=$${pcfiledir}/../..' 'libdir=$${prefix}/lib' '' 'Name: libdf-cuda' \
	  'Description: CUDA back end of libdf' 'Version: $(VERSION)' 'Requires: libdf' \
	  'Libs: -Wl,-u,dfr_cuda_ops -L$${libdir} -ldf-cuda -L$(CUDA_HOME)/lib64 -L$(CUDA_HOME)/lib -lcudart_static' > $(LIB)/pkgconfig/libdf-cuda.pc
endif

# ---- tests ----

# What tests need besides `all`, by name. T=name, as tests/run.sh takes it, chooses those with it in their name, and T==name one; T='a =b' chooses both.
unit = $(addprefix $(BUILDDIR)/tests/test_,$(1))
NEEDS_e2e-fuzz := $(FUZZ) $(BUILDDIR)/tests/make_seeds
NEEDS_e2e-formulas := $(BUILDDIR)/tests/formula_oracle
NEEDS_e2e-fuse := $(NEEDS_e2e-formulas)
NEEDS_e2e-opencl := $(if $(HAVE_OPENCL),$(call unit,opencl))
NEEDS_e2e-cuda := $(call unit,cuda)
NEEDS_e2e-cuda_versions := $(call unit,cuda_streams cuda_mock cuda_machine)
NEEDS_e2e-gpu_kit := $(call unit,cuda emu) $(if $(CUDA_HOME),$(BUILDDIR)/gpu/dfc)
chosen = $(if $(T),$(foreach n,$(1),$(if $(strip $(foreach w,$(T),$(if $(filter =%,$(w)),$(filter $(patsubst =%,%,$(w)),$(n)),$(findstring $(w),$(n))))),$(n))),$(1))
E2E := $(patsubst tests/e2e/t_%.sh,e2e-%,$(wildcard tests/e2e/t_*.sh))
tests: all $(patsubst unit-%,$(BUILDDIR)/tests/test_%,$(call chosen,$(patsubst $(BUILDDIR)/tests/test_%,unit-%,$(UNIT)))) $(foreach t,$(call chosen,$(E2E)),$(NEEDS_$(t)))

RIG_OBJ := $(call obj,$(wildcard tests/rig/*.c tests/rig/pipelines/*.c))
$(RIG_OBJ): EXTRA = $(QUICK_CC)
$(addprefix $(OBJ)/tests/rig/,run_rig.o steps_rig.o): EXTRA =         # what they run takes longer than their compilation
$(UNIT_HELP): $(RIG_OBJ) $(call obj,$(wildcard tests/formula/*.c))
	$(Q)rm -f $@ && ar rcsD $@ $^

# The interpreter of formulas; the archive has the program that compares it with a library of dfc's, whose calls tests/formula/compare.py writes.
$(BUILDDIR)/tests/libformula.a: $(call obj,$(wildcard tests/formula/*.c) tests/formula/program/compare.c)
	@mkdir -p $(@D)
	$(Q)rm -f $@ && ar rcsD $@ $^
$(BUILDDIR)/tests/formula_oracle: $(call obj,tests/formula/program/no_calls.c) $(BUILDDIR)/tests/libformula.a $(LIBRARIES)
	$(Q)$(CC) $(FLAGS) $(CFLAGS) -o $@ $(filter-out $(LIB)/libdf-cuda.a $(LIB)/libdfplan.a $(LIB)/libdf.a,$(filter %.o %.a,$^)) $(LIB)/libdf.a -lm $(LDFLAGS)

# The CUDA back end on a stand-in for the CUDA runtime, which goes before the real one: where CUDA's headers are.
MOCK_OBJ := $(if $(CUDA_HOME),$(call obj,$(wildcard tests/mock/*.c)))
$(MOCK_OBJ): EXTRA = -isystem $(CUDA_HOME)/include -fvisibility=default $(QUICK_CC)
unit_obj = $(filter %/$(1).o,$(UNIT_OBJ))
UNIT_OBJ := $(call obj,$(UNIT_SRC))
$(UNIT_OBJ): EXTRA = -UNDEBUG -Itests/rig $(GV_CFLAGS) $(QUICK_CC)
ON_MOCK := $(addprefix $(BUILDDIR)/tests/test_cuda_,mock times machine figures streams)
$(ON_MOCK): MOCK = $(MOCK_OBJ) -Wl,--export-dynamic-symbol='cublas*'
$(ON_MOCK): QUICK_LD =                          # gold exports no symbols by a pattern
$(ON_MOCK): $(MOCK_OBJ)

# Where threads meet in a run, compiled so that schedules can be explored, goes before what libdf.a has of it.
STEPS_SRC := $(foreach name,run run_workers engine ending worker list ports steal wake gang deque policy ahead policy_ws shared_deque policy_eager policy_dmda policy_static policy_speedup \
               policy_ddwrr unit_queue order sorted queue heap space skips,$(filter %/$(name).c,$(RUNTIME_SRC)))
STEPS_OBJ := $(patsubst %.c,$(OBJ)/steps/%.o,$(STEPS_SRC))
$(STEPS_OBJ): EXTRA = $(QUICK_CC)
$(STEPS_OBJ): $(OBJ)/steps/%.o: %.c $(OBJ)/flags
	@mkdir -p $(@D)
	$(Q)$(CC) $(FLAGS) $(DEFS) -Itests/rig -include tests/rig/steps_runtime.h $(EXTRA) -MMD -MP $(CFLAGS) -c -o $@ $<
$(BUILDDIR)/tests/test_run_steps: MOCK = $(STEPS_OBJ)
$(BUILDDIR)/tests/test_run_steps: $(STEPS_OBJ)

# What it hears of the watchdog's limits.
$(BUILDDIR)/tests/test_measure: MOCK = -Wl,--wrap=dfr_watchdog_limit

# Keys of their tables have one hash (tests/rig/colliding.h).
$(addprefix $(BUILDDIR)/tests/test_,builder formula_check front proof): MOCK = -Wl,--wrap=dfr_hash_fold
# Its allocations fail, one after the other.
$(BUILDDIR)/tests/test_front_memory: MOCK = -Wl,--wrap=dfc_alloc

# Tests that are carried to another machine: they find their libraries there, and those that call no CUDA have none in them.
$(addprefix $(BUILDDIR)/tests/test_,cuda emu engine): CARRY_LINK = -Wl,--as-needed -Wl,--disable-new-dtags,-rpath,'$$ORIGIN/../lib'
$(addprefix $(BUILDDIR)/tests/test_,emu engine): CUDA_LINK =

.SECONDEXPANSION:
$(UNIT): $(BUILDDIR)/tests/%: $$(call unit_obj,$$*) $(UNIT_HELP) $(LIB)/libdfdriver.a $(LIBRARIES)
	@mkdir -p $(@D)
	$(Q)$(CC) $(FLAGS) $(CFLAGS) $(QUICK_LD) $(CARRY_LINK) -o $@ $< $(MOCK) $(UNIT_HELP) $(LINK_ALL) $(LIBS) -lcmocka $(LDFLAGS)

# The sub-make starts after deps, so that pkg-config and nvcc are looked for when they are there.
check: deps
	@$(MAKE) --no-print-directory check-inner
check-asan check-ubsan check-tsan: deps
	@$(MAKE) --no-print-directory check-inner BUILD=$(@:check-%=%) BUILDDIR=build/$(@:check-%=%)
check-inner: tests
	@tests/run.sh $(BUILDDIR) '$(T)'
check-long: deps
	@$(MAKE) --no-print-directory tests
	@date +%s >$(BUILDDIR)/check-long.begun
	@DF_LONG=1 DF_TEST_LIMIT_S=3600 tests/run.sh $(BUILDDIR)
	@DF_RANDOM_GRAPHS=$(or $(N),1000) DF_TEST_LIMIT_S=36000 tests/run.sh $(BUILDDIR) random
	@tests/random/room.sh $(BUILDDIR) $(or $(N),1000)
	@python3 tests/random/streams.py $(BUILDDIR) --programs=$(or $(N),1000) --keep=$(BUILDDIR)/streams-failed
	@python3 tests/random/streams.py $(BUILDDIR) --sessions=500 --keep=$(BUILDDIR)/streams-failed
	@python3 tests/random/streams_long.py $(BUILDDIR)
	@FULL=1 $(MAKE) --no-print-directory examples-check-inner
	@LARGE=all tests/run.sh $(BUILDDIR) large
	@DF_FAULTS=all DF_TEST_LIMIT_S=3600 tests/run.sh $(BUILDDIR) faults
	@SLOW_S=10 tests/run.sh $(BUILDDIR) wrong
	@BENCH_PEERS='oneTBB OpenMP StarPU' tests/run.sh $(BUILDDIR) =e2e-bench
	@SLURM_STRIKE=limit tests/run.sh $(BUILDDIR) =e2e-slurm
	@GPU_STEPS=all DF_TEST_LIMIT_S=3600 tests/run.sh $(BUILDDIR) =e2e-gpu_steps
	@WHATIF=all DF_TEST_LIMIT_S=3600 tests/run.sh $(BUILDDIR) =e2e-whatif
	@IMAGE_FILES=all DF_TEST_LIMIT_S=3600 tests/run.sh $(BUILDDIR) =e2e-image_files
	@RESUME_CHAINS=100 DF_TEST_LIMIT_S=3600 tests/run.sh $(BUILDDIR) =e2e-resume
	@INTERRUPT_RUNS=200 DF_TEST_LIMIT_S=3600 tests/run.sh $(BUILDDIR) =e2e-interrupt
	@WAITING_MS=10 tests/run.sh $(BUILDDIR) =unit-comm
	@WAITING_MS=10 tests/run.sh $(BUILDDIR) =e2e-mpi
	@KILLED=100 DF_TEST_LIMIT_S=14400 tests/run.sh $(BUILDDIR) =e2e-killed
	@DF_LONG=1 KILLED=50 DF_TEST_LIMIT_S=3600 tests/run.sh $(BUILDDIR) =e2e-opencl_faults
	@NETWORKS=all DF_TEST_LIMIT_S=14400 tests/run.sh $(BUILDDIR) =e2e-networks
	@$(MAKE) --no-print-directory check-inner BUILD=asan BUILDDIR=build/asan T=faults
	@if command -v clang >/dev/null; then for reader in 2 9 : ';' '<'; do FUZZ_READER=$$reader FUZZ_RUNS=100000 $(MAKE) --no-print-directory fuzz T=files FUZZ_S=1800 || exit 1; done; \
	    else echo 'skip fuzz: no clang'; fi
	@$(if $(NVCC),$(MAKE) --no-print-directory gpu-kit && tests/gpu/chroot.sh build/gpu-kit --device=emu 1-7 && tests/gpu/chroot.sh build/gpu-kit 1-7,echo 'skip gpu-kit: no nvcc')
	@echo "check-long took $$((($$(date +%s) - $$(cat $(BUILDDIR)/check-long.begun)) / 60)) minutes"
# Runs the tests (T=name: those) on a build that counts; a failed test is told, and does not keep the table back.
coverage: deps
	@$(MAKE) --no-print-directory tests BUILD=coverage BUILDDIR=build/coverage
	@find build/coverage -name '*.gcda' -delete
	@DF_TEST_LIMIT_S=900 tests/run.sh build/coverage '$(T)' >build/coverage/tests.txt; grep -A5 'not ok\|[1-9] failed' build/coverage/tests.txt >&2; true
	@python3 tests/coverage.py build/coverage $(if $(UPDATE),docs/results/coverage.md)
mutate: deps
	@python3 tests/mutate.py --n=$(or $(N),60) --seed=$(or $(SEED),1) --only='$(ONLY)' --cc='$(CC)'
# Rehearses the graphs of a folder (DIR) and compares with what is predicted; minutes. RUNS=5 JOBS=4 TABLE=FILE.md
check-rehearse: deps
	@$(MAKE) --no-print-directory all
	@DFC_PROFILE=/nonexistent/profile.db python3 tests/rehearse.py $(BIN)/dfc $(or $(DIR),examples/graphs) $(if $(RUNS),--runs=$(RUNS)) $(if $(JOBS),--jobs=$(JOBS)) $(if $(LIMIT),--limit=$(LIMIT)) $(if $(TABLE),--table=$(TABLE)) $(if $(FAMILIES),--families=$(FAMILIES)) $(if $(SAVE),--save=$(SAVE))
# Formulas against the interpreter of tests/formula/: its cases, the filters of examples/ on 200 sizes, and N=5000 random programs from number
# FROM=1 on, beside N/10 with accs and N/10 with bounded extents; what differs is kept in formulas-failed/. MODES=';-O1': other options of dfc, each set for all programs.
# CROSS=aarch64: dfc runs here, compiles N=200 of them with the cross compiler, and qemu-user runs them: the same bits on another processor.
check-formulas: deps
	@$(MAKE) --no-print-directory $(if $(CROSS),check-formulas-cross,check-formulas-here)
CROSS_DIR := build/$(CROSS)
CROSS_RUN = CC='$(CROSS)-linux-gnu-gcc -L$(abspath $(CROSS_DIR)/lib)' DFC_CACHE=none python3 tests/formula/compare.py $(CROSS_DIR) --runner=qemu-$(CROSS) --jobs=$$(nproc) --keep=$(CROSS_DIR)/formulas-failed
check-formulas-cross: all
	@$(MAKE) --no-print-directory lib $(CROSS_DIR)/tests/libformula.a BUILDDIR=$(CROSS_DIR) CC=$(CROSS)-linux-gnu-gcc CUDA=0 MPICC=
	@mkdir -p $(CROSS_DIR)/bin && cp $(BIN)/dfc $(CROSS_DIR)/bin/dfc
	@ln -sf /usr/lib/$(CROSS)-linux-gnu/libmetis.so.5 $(CROSS_DIR)/lib/libmetis.so && ln -sf /usr/lib/$(CROSS)-linux-gnu/libhwloc.so.15 $(CROSS_DIR)/lib/libhwloc.so
	@$(CROSS_RUN) --cases tests/formula/cases/*.df
	@$(CROSS_RUN) --programs=$(or $(N),200) --first=$(or $(FROM),1)
	@$(CROSS_RUN) --accs --programs=$$(($(or $(N),200) / 10)) --first=$(or $(FROM),1) --modes=';--parts=3'
	@$(CROSS_RUN) --bounded --programs=$$(($(or $(N),200) / 10)) --first=$(or $(FROM),1) --refused=0.2
check-formulas-here: tests
	@DFC_CACHE=none python3 tests/formula/compare.py $(BUILDDIR) --all-levels --modes='$(or $(MODES),;--no-fuse)' --cases tests/formula/cases/*.df
	@rm -rf $(BUILDDIR)/filters && mkdir $(BUILDDIR)/filters && python3 tests/formula/filters.py $(BUILDDIR)/filters
	@DFC_CACHE=none python3 tests/formula/compare.py $(BUILDDIR) --modes='$(or $(MODES),;--no-fuse)' --cases $(BUILDDIR)/filters/*.df
	@DFC_CACHE=none python3 tests/formula/compare.py $(BUILDDIR) --wild --programs=500
	@DFC_CACHE=none python3 tests/formula/compare.py $(BUILDDIR) --programs=$(or $(N),5000) --first=$(or $(FROM),1) --jobs=$$(nproc) --modes='$(MODES)' --keep=$(BUILDDIR)/formulas-failed
	@DFC_CACHE=none python3 tests/formula/compare.py $(BUILDDIR) --accs --programs=$$(($(or $(N),5000) / 10)) --first=$(or $(FROM),1) --jobs=$$(nproc) --modes='$(or $(MODES),;--parts=3)' --keep=$(BUILDDIR)/formulas-failed
	@DFC_CACHE=none python3 tests/formula/compare.py $(BUILDDIR) --bounded --programs=$$(($(or $(N),5000) / 10)) --first=$(or $(FROM),1) --jobs=$$(nproc) --modes='$(MODES)' --refused=0.2 --keep=$(BUILDDIR)/formulas-failed
# Random programs of streams, from number FROM=1 on, against tests/random/streams_model.py; what differs is kept in streams-failed/. With SESSIONS=N,
# N libraries that sessions call.
check-streams: all
	@python3 tests/random/streams.py $(BUILDDIR) $(if $(SESSIONS),--sessions=$(SESSIONS),--programs=$(or $(N),2000)) --first=$(or $(FROM),1) --keep=$(BUILDDIR)/streams-failed
check-streams-long: all
	@python3 tests/random/streams_long.py $(BUILDDIR) $(if $(WAVES),--waves=$(WAVES))
# Minutes for a function. The coefficients are computed anew, and compared, if Python has mpmath.
check-math: all
	@if python3 -c 'import mpmath' 2>/dev/null; then python3 tests/math/coefficients.py --check; else echo 'skip coefficients: no python3-mpmath here'; fi
	@for level in x86-64 x86-64-v3 'x86-64-v4 -mprefer-vector-width=512'; do echo "$$level:"; $(CC) -O3 -march=$$level -ffp-contract=off -fno-math-errno -fno-trapping-math -fno-builtin \
	    -I$(INC) -o $(BUILDDIR)/math_speed tests/e2e/programs/math/speed.c -lm && $(BUILDDIR)/math_speed || exit 1; done
	$(Q)$(CC) $(FLAGS) $(CFLAGS) -o $(BUILDDIR)/math_check tests/math/check.c -lm
	@$(BUILDDIR)/math_check $(or $(N),100000000) $(NAME) $(if $(NAME),$(TYPE))
check-model:
	@tests/model/run.sh $(BUILDDIR)
gpu-check: deps-told
	@$(MAKE) --no-print-directory all $(BUILDDIR)/tests/test_cuda
	@tests/gpu_check.sh $(BUILDDIR)

# BEFORE=TREE is a built source tree of another time, whose kernels are shown beside today's.
gpu-report: deps
	@$(MAKE) --no-print-directory all
	@python3 tests/gpu/report.py $(BUILDDIR) $(if $(BEFORE),--before=$(BEFORE)) --update=docs/results/gpu.md

# Each kind of build by each compiler there is; the first one's outputs are the others' reference. SAME="release debug" for fewer.
SAME ?= release debug asan ubsan release-clang debug-clang
check-same: deps
	@mkdir -p build/same; first=''; bad=0; \
	for kind in $(SAME); do build=$${kind%-clang}; cc='$(CC)'; dir=build/$$kind; \
	    case $$kind in *-clang) cc=clang; command -v clang >/dev/null || { echo "skip $$kind: no clang here"; continue; } ;; esac; \
	    $(MAKE) --no-print-directory all BUILD=$$build BUILDDIR=$$dir CC=$$cc || exit 1; \
	    ASAN_OPTIONS=detect_leaks=0 tests/same.sh $$dir/bin/dfc build/same/$$kind || exit 1; \
	    if [ -z "$$first" ]; then first=$$kind; echo "$$kind: $$(ls build/same/$$kind | wc -l) files"; \
	    elif diff -rq build/same/$$first build/same/$$kind; then echo "$$kind: the same bytes as $$first"; \
	    else echo "$$kind: differs from $$first"; bad=1; fi; done; exit $$bad

demo: deps
	@$(MAKE) --no-print-directory demo-inner
demo-inner: all
	@examples/demo.sh $(BUILDDIR) build/demo

# examples/NAME/check.sh and bench.sh, of each example that has one: both take BUILDDIR and a folder to write into. T=name takes one example. FULL=1: examples/policies.sh.
examples-check examples-bench: examples-%: deps
	@$(MAKE) --no-print-directory examples-$*-inner
examples-check-inner examples-bench-inner: examples-%-inner: all
	@failed=; for script in $(wildcard examples/*$(T)*/$*.sh); do name=$$(basename $$(dirname $$script)); echo "== $$name"; \
	    mkdir -p build/examples/$$name; $$script $(BUILDDIR) build/examples/$$name || failed="$$failed $$name"; done; \
	[ -z "$$failed" ] || { echo "examples-$*: failed:$$failed"; exit 1; }

bench: deps
	@$(MAKE) --no-print-directory bench-inner
bench-inner: tests
	@tests/bench/run.sh $(BUILDDIR)

bench-scale: deps
	@$(MAKE) --no-print-directory bench-scale-inner
bench-scale-inner: all
	$(Q)$(CC) -std=c11 -D_GNU_SOURCE -O2 -o $(BUILDDIR)/layered examples/graphs/layered.c -lm
	@python3 tests/bench/scale.py $(BIN)/dfc $(BUILDDIR)/layered examples/graphs/study.df $(N)

bench-filters: deps
	@$(MAKE) --no-print-directory bench-filters-inner
bench-filters-inner: all
	@tests/bench/filters.sh $(BUILDDIR)

bench-taps: deps
	@$(MAKE) --no-print-directory bench-taps-inner
bench-taps-inner: all
	@CC='$(CC)' python3 tests/bench/taps.py $(BUILDDIR) --level=$(LEVEL)

bench-image: deps
	@$(MAKE) --no-print-directory bench-image-inner
bench-image-inner: all
	@/usr/bin/python3 tests/bench/image.py $(BUILDDIR) --height=$(or $(H),480) --width=$(or $(W),640)
bench-edits: deps
	@$(MAKE) --no-print-directory bench-edits-inner
bench-edits-inner: all
	@tests/bench/edit_cycle.sh $(BUILDDIR)

# The graphs of all families that results simulates, as files, into GRAPHS.
graphs:
	@examples/graphs/families.sh $(or $(GRAPHS),build/graphs)

results: deps
	@$(MAKE) --no-print-directory results-inner
results-inner: all
	@tests/bench/results.sh $(BUILDDIR) build/results

thesis-results: deps
	@$(MAKE) --no-print-directory thesis-results-inner
thesis-results-inner: all
	@python3 examples/studies/thesis.py $(BUILDDIR) docs/results/thesis

# Mappings of stages (docs/results/mapping.md): N=20 pipelines of 30 stages for each line.
map-results: deps
	@$(MAKE) --no-print-directory map-results-inner
map-results-inner: all $(BUILDDIR)/mapping
	@python3 tests/bench/mapping.py $(BUILDDIR) $(or $(N),20)
$(BUILDDIR)/mapping: tests/bench/mapping.c tests/rig/pipelines/pipeline_rig.c $(LIBRARIES)
	$(Q)$(CC) $(FLAGS) $(CFLAGS) -Itests/rig -o $@ $(filter %.c,$^) $(LIB)/libdfplan.a $(LIB)/libdf.a -lm -ldl -lrt $(LDFLAGS)

# Streams by demand: writes docs/results/streams.md, .csv and .svg.
stream-results: deps
	@$(MAKE) --no-print-directory stream-results-inner
stream-results-inner: all
	@python3 examples/studies/streams.py $(BUILDDIR)
# The same policies on four ranks over MPI, whose workers wait in place of computing.
stream-ranks: deps
	@$(MAKE) --no-print-directory lib
	@tests/bench/stream_ranks.sh $(BUILDDIR) build/stream-ranks
# DDWRR and ODDS in a program, on like nodes with a core and an emulated GPU.
stream-nodes: all
	@tests/bench/stream_nodes.sh $(BUILDDIR) build/stream-nodes
# Pipelines that drift (docs/results/tuning.md): N=1000 of them, from number FIRST=1 on.
tuning-results: deps
	@$(MAKE) --no-print-directory tuning-results-inner
tuning-results-inner: $(BUILDDIR)/tuning
	@$(BUILDDIR)/tuning $(or $(N),1000) $(or $(FIRST),1)
$(BUILDDIR)/tuning: tests/bench/tuning.c tests/rig/pipelines/drift_rig.c tests/rig/pipelines/pipeline_rig.c $(LIBRARIES)
	$(Q)$(CC) $(FLAGS) $(CFLAGS) -Itests/rig -o $@ $(filter %.c,$^) $(LIB)/libdfplan.a $(LIB)/libdf.a -lm -ldl -lrt $(LDFLAGS)

pictures: deps
	@$(MAKE) --no-print-directory pictures-inner
pictures-inner: all
	@tests/pictures/make.sh $(BUILDDIR) docs/results/pictures build/pictures

# In BUILD=fuzz libFuzzer drives the fuzz targets; in other builds they read the files that are named to them.
$(call obj,$(wildcard tests/fuzz/*.c)): EXTRA = -UNDEBUG
FUZZ_MAIN := $(OBJ)/tests/fuzz/fuzz.o $(OBJ)/tests/fuzz/$(if $(filter fuzz,$(BUILD)),mutate_numbers,replay).o
$(BUILDDIR)/tests/fuzz_files: FUZZ_WRAP = $(foreach name,dfw_machine_name dfr_learn_machine,-Wl,--wrap=$(name))
$(FUZZ): $(BUILDDIR)/tests/%: $(OBJ)/tests/fuzz/%.o $(FUZZ_MAIN) $(LIB)/libdfdriver.a $(LIBRARIES)
	@mkdir -p $(@D)
	$(Q)$(CC) $(FLAGS) $(CFLAGS) $(if $(filter fuzz,$(BUILD)),-fsanitize=fuzzer) $(FUZZ_WRAP) $(QUICK_LD) -o $@ $< $(FUZZ_MAIN) $(DW_LINK) $(OPENCL_LINK) $(LINK_ALL) $(LIBS) $(if $(HAVE_DW),$(call pc,--libs,libdw)) $(LDFLAGS)
$(BUILDDIR)/tests/make_seeds: $(OBJ)/tests/fuzz/make_seeds.o $(OBJ)/tests/fuzz/fuzz.o $(LIB)/libdfdriver.a $(LIBRARIES)
	@mkdir -p $(@D)
	$(Q)$(CC) $(FLAGS) $(CFLAGS) $(QUICK_LD) -o $@ $(filter %.o,$^) $(LINK_ALL) $(LIBS) $(LDFLAGS)

FUZZ_S ?= 60
fuzz: deps
	@echo 'int LLVMFuzzerTestOneInput(const char *d, unsigned long n) { return d && n ? 0 : 0; }' | \
	    clang -fsanitize=fuzzer -x c -o /dev/null - 2>/dev/null || { echo 'fuzz: clang with libFuzzer is needed: sudo apt-get install -y clang libclang-rt-dev'; exit 1; }
	@$(MAKE) --no-print-directory fuzz-inner BUILD=fuzz BUILDDIR=build/fuzz CUDA=0 CC='$(if $(findstring clang,$(CC)),$(CC),clang)'
fuzz-inner: $(FUZZ) $(BUILDDIR)/tests/make_seeds
	@tests/fuzz/run.sh $(BUILDDIR) $(FUZZ_S) '$(T)'

# ---- installation and bundle ----

HERE_FILES = $(BIN)/dfc $(LIBRARIES) $(HEADERS)
# The README stands beside docs/, so that its links hold.
DOC_DIR       = $(DESTDIR)$(PREFIX)/share/doc/dfc
DOC_FILES     = README.md NEWS.md CONTRIBUTING.md SECURITY.md LICENSE $(wildcard docs/*.md docs/*/*.* docs/*/*/*.*)
EXAMPLE_DIR   = $(DESTDIR)$(PREFIX)/share/dfc
EXAMPLE_FILES = $(filter-out %.pyc $(patsubst %/,%,$(wildcard examples/*/ examples/*/*/)),$(wildcard examples/*.sh examples/*/* examples/*/*/*))
MAN_DIR       = $(DESTDIR)$(PREFIX)/share/man/man1
BASH_FILE     = $(DESTDIR)$(PREFIX)/share/bash-completion/completions/dfc
ZSH_FILE      = $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_dfc
# install_tree FILES,DIR: one command for the files of each folder.
install_tree = $(foreach folder,$(sort $(dir $(1))),install -D -m 644 -t $(2)/$(folder) $(foreach file,$(1),$(if $(filter $(folder),$(dir $(file))),$(file))) &&) true
install: all
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/lib/pkgconfig $(DESTDIR)$(PREFIX)/include \
	    $(DESTDIR)$(PREFIX)/share/dfc/std $(DESTDIR)$(PREFIX)/share/dfc/python/dfc
	install -m 755 $(BIN)/dfc $(DESTDIR)$(PREFIX)/bin/
	install -m 644 $(LIBRARIES) $(MPI_PLUGIN) $(DESTDIR)$(PREFIX)/lib/
	install -m 644 $(HEADERS) $(DESTDIR)$(PREFIX)/include/
	install -m 644 $(IMPORTS) $(DESTDIR)$(PREFIX)/share/dfc/std/
	install -m 644 $(PYTHON) $(DESTDIR)$(PREFIX)/share/dfc/python/dfc/
	install -m 644 $(LIB)/pkgconfig/*.pc $(DESTDIR)$(PREFIX)/lib/pkgconfig/
	@$(call install_tree,$(DOC_FILES),$(DOC_DIR))
	@$(call install_tree,$(EXAMPLE_FILES),$(EXAMPLE_DIR))
	install -d $(dir $(BASH_FILE)) $(dir $(ZSH_FILE))
	$(BIN)/dfc --completion=bash > $(BASH_FILE)
	$(BIN)/dfc --completion=zsh > $(ZSH_FILE)
	install -d $(MAN_DIR)
	$(BIN)/dfc --man > $(MAN_DIR)/dfc.1
	@for name in $$($(BIN)/dfc --man | sed -n 's/^.BR dfc\\-\([a-z]*\) (1)$$/\1/p' | sort -u); do $(BIN)/dfc --man=$$name > $(MAN_DIR)/dfc-$$name.1 || exit 1; done
uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/dfc $(addprefix $(DESTDIR)$(PREFIX)/lib/,$(notdir $(LIBRARIES) $(LIB)/libdf-mpi.so)) \
	    $(addprefix $(DESTDIR)$(PREFIX)/include/,$(notdir $(HEADERS))) $(addprefix $(DESTDIR)$(PREFIX)/lib/pkgconfig/,libdf.pc libdfplan.pc libdf-cuda.pc)
	rm -f $(BASH_FILE) $(ZSH_FILE) $(MAN_DIR)/dfc.1 $(MAN_DIR)/dfc-*.1 $(addprefix $(EXAMPLE_DIR)/std/,$(notdir $(IMPORTS))) \
	    $(addprefix $(EXAMPLE_DIR)/python/dfc/,$(notdir $(PYTHON)))
	@rm -f $(addprefix $(DOC_DIR)/,$(DOC_FILES)) $(addprefix $(EXAMPLE_DIR)/,$(EXAMPLE_FILES))
	@for folder in $(DOC_DIR) $(EXAMPLE_DIR); do [ ! -d $$folder ] || find $$folder -type d -empty -delete; done

bundle: deps
	@$(MAKE) --no-print-directory bundle-inner
bundle-inner: all $(addprefix $(BUILDDIR)/tests/test_,cuda emu engine parse)
	@NVCC=$(or $(NVCC),none) tests/bundle.sh $(BUILDDIR) build/bundle
gpu-kit: deps
	@$(MAKE) --no-print-directory bundle-inner $(BUILDDIR)/gpu/dfc
	@NVCC=$(or $(NVCC),none) tests/gpu/kit.sh $(BUILDDIR) build/bundle build/gpu-kit

clean:
	rm -rf $(BUILDDIR)

-include $(wildcard $(foreach below,* */* */*/* */*/*/*,$(OBJ)/$(below)/*.d))
