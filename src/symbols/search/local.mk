# SPDX-License-Identifier: GPL-3.0-or-later
EXTRA_DIST += src/symbols/search/README.md
libsymbols_a_SOURCES += \
	src/symbols/search/debug_file_search.c src/symbols/search/debug_file_search.h \
	src/symbols/search/debuginfod.c src/symbols/search/debuginfod.h \
	src/symbols/search/debuginfod_queue.c src/symbols/search/debuginfod_queue.h \
	src/symbols/search/file_archive.c src/symbols/search/file_archive.h \
	src/symbols/search/own_file.c src/symbols/search/own_file.h \
	src/symbols/search/perf_config.c src/symbols/search/perf_config.h \
	src/symbols/search/resolver_options.h
