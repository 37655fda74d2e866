/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Names as their languages write them: C++ (Itanium ABI), Rust (legacy and v0).
 */
#ifndef PROFTOP_ELF_DEMANGLE_H
#define PROFTOP_ELF_DEMANGLE_H

enum demangle_style {
	DEMANGLE_FULL, /* with arguments, without the return type; clone suffixes as "[clone .cold]" */
	DEMANGLE_BARE /* without arguments, which is what perf compares and shows */
};

/*
 * The demangled name, which the caller frees, or NULL when it is not a mangled name, is broken, or
 * would be unreasonably long. Safe for names that were made to hurt.
 */
char *demangle(const char *name, enum demangle_style style);

#endif
