# SPDX-License-Identifier: GPL-3.0-or-later
t_formats_SOURCES += \
	tests/input/test_input.c
