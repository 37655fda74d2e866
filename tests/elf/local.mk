# SPDX-License-Identifier: GPL-3.0-or-later
t_symbols_SOURCES += \
	tests/elf/test_demangle.c \
	tests/elf/test_elf_file.c \
	tests/elf/test_function_starts.c \
	tests/elf/test_inflate_stream.c \
	tests/elf/test_symtab.c
