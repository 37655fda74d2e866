# SPDX-License-Identifier: GPL-3.0-or-later
EXTRA_DIST += src/cli/load/README.md
libcli_a_SOURCES += \
	src/cli/load/export_file.c src/cli/load/export_file.h \
	src/cli/load/index_cache.c src/cli/load/index_cache.h \
	src/cli/load/live_save.c src/cli/load/live_save.h \
	src/cli/load/load.c src/cli/load/load.h \
	src/cli/load/load_ahead.c src/cli/load/load_ahead.h \
	src/cli/load/load_heaps.c src/cli/load/load_heaps.h \
	src/cli/load/load_index.c src/cli/load/load_index.h \
	src/cli/load/load_suppressions.c src/cli/load/load_suppressions.h
