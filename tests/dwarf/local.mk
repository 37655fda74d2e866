# SPDX-License-Identifier: GPL-3.0-or-later
t_symbols_SOURCES += \
	tests/dwarf/test_debug_info.c
