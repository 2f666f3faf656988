# A thin face over the CMake presets and tools/. Every target can be the first command after a clone.
.PHONY: help setup run test bench bench-full micro soak docs format tidy clean
.DEFAULT_GOAL := help

# Configured by the preset named first unless it was configured before, and built.
build = { test -f build/$(2)/build.ninja || cmake --preset $(1) >/dev/null; } && cmake --build --preset $(2) --target

help:
	@echo 'make setup   install the Debian packages and the Python environment that are missing (tools/setup --help: fewer of them)'
	@echo 'make run     build release and start the full-stack application on port 8080 (KATANA_PORT overrides; KATANA_TIMES=1: where the time went)'
	@echo 'make test    build and pass every test (tools/test --help lists the stages)'
	@echo 'make bench   the quick laboratory suite, at most 10 minutes: lab/results/latest/report.html'
	@echo 'make bench-full  every experiment with its full phases: hours'
	@echo 'make micro   component benchmarks beside their rivals: a table per system, and lab/results/micro.json'
	@echo 'make soak    ten minutes of mixed load, and twenty kills: memory, descriptors and every acknowledged write'
	@echo 'make docs    the documents as a site that works from disk: build/site/index.html'
	@echo 'make format  clang-format over all C++ files'
	@echo 'make tidy    layers, bans, sizes and contracts (tools/tidy --help lists the checks)'
	@echo 'make clean   remove build/'

setup:
	@tools/setup

run:
	@tools/setup run
	@tools/compile run release fullstack
	@exec build/release/fullstack --port "$${KATANA_PORT:-8080}"

test:
	@tools/setup test
	@tools/test

# Only what is measured, and the generator: the micro-benchmarks are `make micro`.
bench_programs = hello_world_server ablation_server fullstack katana-load floor_epoll floor_uring
e2e_out = lab/results/latest/e2e

bench:
	@tools/setup bench
	@$(call build,bench,bench) $(bench_programs) e2e_benchmarks -- --quiet
	@status=0; lab/katana-lab run --quick || status=1; \
	build/bench/e2e_benchmarks --quick --benchmark_out=$(e2e_out).json --benchmark_out_format=json >$(e2e_out).log || status=1; \
	lab/e2e/report.py $(e2e_out).json --out $(e2e_out).md --command 'e2e_benchmarks --quick' && echo 'wrote $(e2e_out).md' || status=1; \
	exit $$status

bench-full:
	@tools/setup bench
	@$(call build,bench,bench) $(bench_programs) -- --quiet
	@lab/katana-lab run

micro:
	@tools/setup bench
	@$(call build,bench,bench) katana_micro_programs -- --quiet
	@lab/micro/run.py

soak:
	@tools/setup test
	@$(call build,run,release) fullstack -- --quiet
	@KATANA_BUILD=build/release KATANA_SOAK_S="$${KATANA_SOAK_S:-600}" .venv/bin/python -m pytest -q -o cache_dir=build/pytest tests/soak

docs:
	@tools/setup docs
	@tools/site

format:
	@tools/setup test
	@tools/format

tidy:
	@tools/setup test
	@tools/tidy

clean:
	rm -rf build

# SPDX-License-Identifier: Apache-2.0
