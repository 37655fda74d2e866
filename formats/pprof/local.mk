# SPDX-License-Identifier: GPL-3.0-or-later
EXTRA_DIST += formats/pprof/README.md
libformats_a_SOURCES += \
	formats/pprof/pprof.c formats/pprof/pprof.h \
	formats/pprof/pprof_head.c formats/pprof/pprof_head.h \
	formats/pprof/pprof_heap.c formats/pprof/pprof_heap.h \
	formats/pprof/pprof_labels.c formats/pprof/pprof_labels.h \
	formats/pprof/pprof_samples.c formats/pprof/pprof_samples.h \
	formats/pprof/pprof_stacks.c formats/pprof/pprof_stacks.h \
	formats/pprof/pprof_tables.c formats/pprof/pprof_tables.h \
	formats/pprof/pprof_write.c formats/pprof/pprof_write.h
