# SPDX-License-Identifier: GPL-3.0-or-later
EXTRA_DIST += src/heaptrace/read/README.md
libformats_a_SOURCES += \
	src/heaptrace/read/apply_events.c src/heaptrace/read/apply_events.h \
	src/heaptrace/read/apply_records.c src/heaptrace/read/apply_records.h \
	src/heaptrace/read/block_addresses.c src/heaptrace/read/block_addresses.h \
	src/heaptrace/read/heap_blocks.c src/heaptrace/read/heap_blocks.h \
	src/heaptrace/read/heap_environment.c src/heaptrace/read/heap_environment.h \
	src/heaptrace/read/heap_merge.c src/heaptrace/read/heap_merge.h \
	src/heaptrace/read/heap_rates.c src/heaptrace/read/heap_rates.h \
	src/heaptrace/read/heap_readahead.c src/heaptrace/read/heap_readahead.h \
	src/heaptrace/read/heap_rows.c src/heaptrace/read/heap_rows.h \
	src/heaptrace/read/heap_stacks.c src/heaptrace/read/heap_stacks.h \
	src/heaptrace/read/origin_cache.c src/heaptrace/read/origin_cache.h
