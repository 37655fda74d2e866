# SPDX-License-Identifier: GPL-3.0-or-later
EXTRA_DIST += src/record/heap/patch/README.md
libproftop_heap_so_SOURCES += \
	src/record/heap/patch/allocators.c src/record/heap/patch/allocators.h \
	src/record/heap/patch/patch_allocators.c src/record/heap/patch/patch_allocators.h \
	src/record/heap/patch/code_module.c src/record/heap/patch/code_module.h \
	src/record/heap/patch/elf_symbols.c src/record/heap/patch/elf_symbols.h \
	src/record/heap/patch/patched_hooks.c src/record/heap/patch/patched_hooks.h \
	src/record/heap/patch/trampoline.c src/record/heap/patch/trampoline.h \
	src/record/heap/patch/x86_code.c src/record/heap/patch/x86_code.h
