# SPDX-License-Identifier: GPL-3.0-or-later
EXTRA_DIST += src/elf/README.md
libsymbols_a_SOURCES += \
	src/elf/build_id.c src/elf/build_id.h \
	src/elf/demangle.c src/elf/demangle.h \
	src/elf/elf_compressed.c src/elf/elf_compressed.h \
	src/elf/elf_decompress.c src/elf/elf_decompress.h \
	src/elf/elf_file.c src/elf/elf_file.h \
	src/elf/elf_relocate.c src/elf/elf_relocate.h \
	src/elf/elf_symtab.c src/elf/elf_symtab.h \
	src/elf/frame_tables.c src/elf/frame_tables.h \
	src/elf/function_starts.c src/elf/function_starts.h \
	src/elf/inflate_stream.c src/elf/inflate_stream.h \
	src/elf/lazy_bytes.c src/elf/lazy_bytes.h \
	src/elf/module_layout.c src/elf/module_layout.h \
	src/elf/plt.c src/elf/plt.h \
	src/elf/segments.c src/elf/segments.h \
	src/elf/symtab.c src/elf/symtab.h
