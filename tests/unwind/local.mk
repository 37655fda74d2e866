# SPDX-License-Identifier: GPL-3.0-or-later
t_unwind_SOURCES += \
	tests/unwind/test_cfi.c \
	tests/unwind/test_epilogue.c \
	tests/unwind/test_stitch.c \
	tests/unwind/test_walk.c
