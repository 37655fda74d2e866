# SPDX-License-Identifier: GPL-3.0-or-later
EXTRA_DIST += src/record/heap/README.md
libproftop_heap_so_SOURCES += \
	src/base/bytes.c \
	src/base/hash.c \
	src/base/huge_alloc.c \
	src/base/map.c \
	src/base/mem.c \
	src/heaptrace/heap_events.c \
	src/heaptrace/heap_records.c \
	src/heaptrace/heap_wire.c \
	src/record/heap/own_malloc.h \
	src/record/heap/proftop.h \
	src/unwind/cfi.c \
	src/unwind/cfi_program.c \
	src/unwind/cfi_rule.c \
	src/unwind/dwarf_expr.c \
	src/unwind/epilogue.c \
	src/unwind/walk.c
