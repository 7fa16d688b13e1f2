# Two commands to start with: 'make run' shows Trireme at work, 'make check' tests it.  Both install
# what is missing first (Debian, Ubuntu).  The rest is thin: CMake does the building.
BUILD ?= build
PREFIX ?= /usr/local
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
CMAKE_FLAGS ?=
TESTS ?=
TORTURE_SECONDS ?= 3600
TORTURE ?=
TRIREME_MATRICES ?= $(wildcard ../shared/matrices)
export TRIREME_MATRICES

# Ninja where it is there, looked for when a recipe runs: setup may just have installed it.
cmake = $$(command -v ninja >/dev/null && echo env CMAKE_GENERATOR=Ninja) cmake
configure = $(cmake) -S . -B $(1) $(2) $(CMAKE_FLAGS) >$(1)/configure.log || { cat $(1)/configure.log; exit 1; }
build = @mkdir -p $(1) && $(call configure,$(1),$(2)) && cmake --build $(1) -j $(JOBS) $(3)
# A build to use has kernels for the GPUs of this machine; one to test has those that CMake chooses.
use = $(call build,$(BUILD),-DTRIREME_BUILD_TESTS=OFF $$(tools/gpu_flags $(CMAKE_FLAGS)))

.PHONY: help run check check-quick setup build test bench install uninstall wheel packages site format lint analyze asan tsan fuzz torture clean
.DEFAULT_GOAL := help

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' $(MAKEFILE_LIST) | expand -t 21
	@echo "Variables: BUILD=$(BUILD) PREFIX=$(PREFIX) JOBS=$(JOBS) CMAKE_FLAGS='-DTRIREME_WITH_HDF5=OFF ...'"

run: setup ## install what is missing, build for this machine, show a solve
	$(use)
	@tools/demo $(BUILD)/cli/trireme $(BUILD)/demo

check: setup test ## install what is missing, build, test

check-quick: ## two minutes of tests: what most changes break
	$(call build,$(BUILD),-DTRIREME_BUILD_TESTS=ON -DTRIREME_WITH_CUDA=ON)
	@tests/run $(BUILD) -R '^(base|gallery|order|matrix|plan|verify|worker|advice$$|analysis/(levels|growth|substitute)|api/(arguments|conformance/1$$|options|plan)|cli/(syntax|solve)|factor/(ilu0|ic0|lu|refactor)|io/(matrix_market|number|open|read|vectors)|relax/triangle|solve/(columns|extremes|once|threads))'

setup: ## install what is missing
	@tools/setup

build: ## build the library and the command for this machine
	$(use)

test: ## build and run the tests (TESTS='-R io/')
	$(call build,$(BUILD),-DTRIREME_BUILD_TESTS=ON -DTRIREME_WITH_CUDA=ON)
	@tests/run $(BUILD) $(TESTS)

bench: build ## time every method on a suite of matrices (SUITE=...)
	@$(BUILD)/cli/trireme bench $(SUITE)

install: build ## install under PREFIX
	cmake --install $(BUILD) --prefix $(PREFIX)
	@cp $(BUILD)/install_manifest.txt $(BUILD)/installed.txt # tests write the former too

uninstall: ## remove what 'make install' of this build installed
	@cmake -DMANIFEST=$(BUILD)/installed.txt -P cmake/uninstall.cmake

wheel: ## a wheel of the Python package for other machines, in build/wheel (TARGET=manylinux-aarch64)
	@tools/wheel $(if $(TARGET),--target $(TARGET))

packages: ## Debian packages in build/packages, which lintian accepts (ROOT=TREE tests them there); other recipes are checked
	@tools/packages $(if $(ROOT),--root $(ROOT))

site: build ## the site in build/site/html: docs, interfaces, search
	@JOBS=$(JOBS) tools/site $(BUILD)

format: ## put the sources in the project's format
	@tools/format

lint: ## layers, format, shell scripts
	@tools/lint

analyze: ## gcc's static analyzer
	$(call build,$(BUILD),-DTRIREME_BUILD_TESTS=OFF -DTRIREME_WITH_CUDA=ON)
	@JOBS=$(JOBS) tools/analyze $(BUILD)

asan: ## the tests under the address and undefined-behaviour sanitizers
	$(call build,$(BUILD)/asan,--preset asan)
	@tests/run $(BUILD)/asan -E '^(levels|install|setup|reporting|headers|cli/packages|mpi/solve/[124]$$|mpi/relax/[12478]|relax/launches|fuzz/mutate|api/conformance/[1-35]|api/doubling|examples/08)'

tsan: ## the tests that start threads, under the thread sanitizer
	$(call build,$(BUILD)/tsan,--preset tsan,--target tests_of_threads)
	@tools/run_tsan $(BUILD)/tsan

fuzz: ## a minute of random files for the readers
	@tests/fuzz/run 60

torture: ## an hour of attacks (TORTURE_SECONDS=60, TORTURE='--only kills --seed 7')
	$(call build,$(BUILD),-DTRIREME_BUILD_TESTS=ON)
	$(call build,$(BUILD)/asan,--preset asan)
	@tests/torture/run $(BUILD) --asan $(BUILD)/asan --seconds $(TORTURE_SECONDS) $(TORTURE)

clean: ## remove the build directory
	rm -rf $(BUILD)
