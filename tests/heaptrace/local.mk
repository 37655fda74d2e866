# SPDX-License-Identifier: GPL-3.0-or-later
t_layout_SOURCES += \
	tests/heaptrace/test_heap_wire.c
t_formats_SOURCES += \
	tests/heaptrace/test_block_addresses.c
