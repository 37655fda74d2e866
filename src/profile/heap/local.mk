# SPDX-License-Identifier: GPL-3.0-or-later
EXTRA_DIST += src/profile/heap/README.md
libprofile_a_SOURCES += \
	src/profile/heap/boundary.c src/profile/heap/boundary.h \
	src/profile/heap/heap.c src/profile/heap/heap.h \
	src/profile/heap/heap_builder.h \
	src/profile/heap/heap_compact.c \
	src/profile/heap/heap_compact_facts.c \
	src/profile/heap/heap_moments.c src/profile/heap/heap_moments.h \
	src/profile/heap/heap_packed.c src/profile/heap/heap_packed.h \
	src/profile/heap/heap_tops.c src/profile/heap/heap_tops.h \
	src/profile/heap/heap_append.h
