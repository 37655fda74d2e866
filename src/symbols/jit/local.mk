# SPDX-License-Identifier: GPL-3.0-or-later
EXTRA_DIST += src/symbols/jit/README.md
libsymbols_a_SOURCES += \
	src/symbols/jit/jit_code.c src/symbols/jit/jit_code.h \
	src/symbols/jit/jit_dump.c src/symbols/jit/jit_dump.h \
	src/symbols/jit/jit_map.c src/symbols/jit/jit_map.h \
	src/symbols/jit/jit_unwind.c src/symbols/jit/jit_unwind.h
