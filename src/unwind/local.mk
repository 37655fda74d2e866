# SPDX-License-Identifier: GPL-3.0-or-later
EXTRA_DIST += src/unwind/README.md
libunwind_a_SOURCES += \
	src/unwind/arch.h \
	src/unwind/cfi.c src/unwind/cfi.h \
	src/unwind/cfi_program.c src/unwind/cfi_program.h \
	src/unwind/cfi_rule.c src/unwind/cfi_rule.h \
	src/unwind/dwarf_expr.c src/unwind/dwarf_expr.h \
	src/unwind/epilogue.c src/unwind/epilogue.h \
	src/unwind/leb.h \
	src/unwind/memory.h \
	src/unwind/stitch.c src/unwind/stitch.h \
	src/unwind/walk.c src/unwind/walk.h
