/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Names as their languages write them; see demangle.h.
 *
 * A mangled name of a hundred bytes can stand for gigabytes, as it may refer to its own parts. The
 * library has no limit on that, but hands out its text piece by piece: past OUTPUT_MAX we jump out of
 * it. It holds nothing but stack then (but for a few bytes of Rust's non-ASCII names). Its own limit
 * on recursion stays on, so that names of some thousand bytes stay as they are.
 */
#include "config.h"

#include "elf/demangle.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#if HAVE_LIBIBERTY_DEMANGLE_H
#include <libiberty/demangle.h>
#else
#include <demangle.h>
#endif

#include "base/mem.h"

#define INPUT_MAX  8192
#define OUTPUT_MAX (16u << 10)

struct sink {
	VEC(char) text;
	jmp_buf too_long;
};

static void take(const char *s, size_t n, void *arg)
{
	struct sink *k = arg;

	if (n > OUTPUT_MAX - k->text.n)
		longjmp(k->too_long, 1);
	vec_reserve(&k->text, k->text.n + n + 1);
	memcpy(k->text.at + k->text.n, s, n);
	k->text.n += n;
}

/* Fills k; false when name is no name of that language. */
static int run(const char *name, int options, struct sink *k)
{
	int rust = strncmp(name, "_R", 2) == 0 || strstr(name, "17h");

	if (setjmp(k->too_long))
		return 0;
	if (rust && rust_demangle_callback(name, options, take, k))
		return 1;
	vec_clear(&k->text);
	return cplus_demangle_v3_callback(name, options, take, k);
}

char *demangle(const char *name, enum demangle_style style)
{
	struct sink k = { .text = { 0 } };
	int options = style == DEMANGLE_FULL ? DMGL_PARAMS | DMGL_ANSI : 0;

	if (name[0] != '_' || strlen(name) > INPUT_MAX)
		return NULL;
	/* Tables and guards (_ZT…, _ZG…) have no return type; types in their names do, and keep it. */
	if (options && strncmp(name, "_ZT", 3) != 0 && strncmp(name, "_ZG", 3) != 0)
		options |= DMGL_RET_DROP;
	if (!run(name, options, &k) || k.text.n == 0) {
		vec_done(&k.text);
		return NULL;
	}
	k.text.at[k.text.n] = '\0';
	return k.text.at;
}
