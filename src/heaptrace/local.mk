# SPDX-License-Identifier: GPL-3.0-or-later
EXTRA_DIST += src/heaptrace/README.md
liblayout_a_SOURCES += \
	src/heaptrace/heap_events.c src/heaptrace/heap_events.h \
	src/heaptrace/heap_mailbox.h \
	src/heaptrace/heap_records.c src/heaptrace/heap_records.h \
	src/heaptrace/heap_wire.c src/heaptrace/heap_wire.h
