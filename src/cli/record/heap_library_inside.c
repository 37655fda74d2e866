/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The heap library's file, packed by xz, as make leaves it in the directory that the compiler is run in. */
__asm__(".section .rodata, \"a\"\n"
	".balign 16\n"
	".globl heap_library_begin, heap_library_end\n"
	".hidden heap_library_begin, heap_library_end\n"
	"heap_library_begin:\n"
	".incbin \"heap_library.xz\"\n"
	"heap_library_end:\n"
	".previous\n");

extern const unsigned char heap_library_begin[], heap_library_end[];
