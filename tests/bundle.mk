# The bundle's own Makefile: nothing is built, all runs from here. See `make help`.
.DEFAULT_GOAL := help
export LD_LIBRARY_PATH := $(CURDIR)/lib:$(LD_LIBRARY_PATH)

help:
	@echo 'bin/dfc         the compiler; bin/dfc --help'
	@echo 'make gpu-check  the flows on the GPU of this machine, compared with the cpu'
	@echo 'make check      unit tests and the programs that are compiled, run and compared'
	@echo 'make demo       finds nuclei in a picture and edges in a photo, and simulates the graphs of the thesis; results in demo/'

gpu-check:
	@tests/gpu_check.sh $(CURDIR)
check:
	@mkdir -p logs && tests/run.sh $(CURDIR)
demo:
	@examples/demo.sh $(CURDIR) demo
.PHONY: help gpu-check check demo
