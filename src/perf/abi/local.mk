# SPDX-License-Identifier: GPL-3.0-or-later
EXTRA_DIST += src/perf/abi/README.md
liblayout_a_SOURCES += \
	src/perf/abi/lazy_stack.c src/perf/abi/lazy_stack.h \
	src/perf/abi/perf_abi.c src/perf/abi/perf_abi.h \
	src/perf/abi/perf_put.c src/perf/abi/perf_put.h \
	src/perf/abi/perf_size.c src/perf/abi/perf_size.h
