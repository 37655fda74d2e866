# SPDX-License-Identifier: GPL-3.0-or-later
EXTRA_DIST += src/perf/callchain/README.md
libsymbols_a_SOURCES += \
	src/perf/callchain/callchain.c src/perf/callchain/callchain.h \
	src/perf/callchain/callchain_cache.c src/perf/callchain/callchain_cache.h \
	src/perf/callchain/callchain_intern.c src/perf/callchain/callchain_intern.h \
	src/perf/callchain/frame_marks.c src/perf/callchain/frame_marks.h \
	src/perf/callchain/missing_caller.c src/perf/callchain/missing_caller.h \
	src/perf/callchain/perf_branches.c src/perf/callchain/perf_branches.h \
	src/perf/callchain/perf_deferred.c src/perf/callchain/perf_deferred.h \
	src/perf/callchain/perf_regs.c src/perf/callchain/perf_regs.h \
	src/perf/callchain/user_stacks.c src/perf/callchain/user_stacks.h
