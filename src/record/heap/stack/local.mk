# SPDX-License-Identifier: GPL-3.0-or-later
EXTRA_DIST += src/record/heap/stack/README.md
libproftop_heap_so_SOURCES += \
	src/record/heap/stack/live_go.c src/record/heap/stack/live_go.h \
	src/record/heap/stack/live_headers.c src/record/heap/stack/live_headers.h \
	src/record/heap/stack/live_maps.c src/record/heap/stack/live_maps.h \
	src/record/heap/stack/live_modules.c src/record/heap/stack/live_modules.h \
	src/record/heap/stack/live_rules.c src/record/heap/stack/live_rules.h \
	src/record/heap/stack/live_stack.c src/record/heap/stack/live_stack.h \
	src/record/heap/stack/live_walk.c src/record/heap/stack/live_walk.h \
	src/record/heap/stack/stack_cache.c src/record/heap/stack/stack_cache.h \
	src/record/heap/stack/stack_trie.c src/record/heap/stack/stack_trie.h
