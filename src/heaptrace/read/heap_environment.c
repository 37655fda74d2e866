/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names that people look for in a recording of a heap; all others may be secret, and are counted. */
#include "config.h"

#include "heaptrace/read/heap_environment.h"

#include "base/mem.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Values of a file that are longer say nothing more. */
#define MOST_VALUE 1024u

/* With a '_' at its end: all that begin so. */
static const char *const bearing[] = {
	/* allocators */
	"GLIBC_TUNABLES",
	"MALLOC_",
	"MALLOC_CONF",
	"_RJEM_MALLOC_CONF",
	"JE_MALLOC_CONF",
	"MIMALLOC_",
	"TCMALLOC_",
	"G_SLICE",
	"G_DEBUG",
	"GLIBCXX_FORCE_NEW",
	"GLIBCXX_TUNABLES",
	"ASAN_OPTIONS",
	"UBSAN_OPTIONS",
	/* which code runs */
	"LD_",
	"PROFTOP_",
	/* how interpreters allocate, and how many threads there are */
	"PYTHONMALLOC",
	"PYTHONMALLOCSTATS",
	"PYTHONHASHSEED",
	"PERL_DESTRUCT_LEVEL",
	"NODE_OPTIONS",
	"RUBYOPT",
	"RUBY_GC_",
	"JAVA_TOOL_OPTIONS",
	"GOGC",
	"GOMEMLIMIT",
	"GOMAXPROCS",
	"OMP_",
	"OPENBLAS_NUM_THREADS",
	"MKL_NUM_THREADS",
	"RAYON_NUM_THREADS",
};

static bool bears(const char *name, size_t n)
{
	for (size_t i = 0; i < sizeof(bearing) / sizeof(bearing[0]); i++) {
		size_t len = strlen(bearing[i]);
		bool begins = bearing[i][len - 1] == '_';

		if (n >= len && memcmp(name, bearing[i], len) == 0 && (begins || n == len))
			return true;
	}
	return false;
}

/* One variable, n bytes. False: it does not concern heaps. */
static bool tell(struct profile *p, capture_id c, const char *variable, size_t n)
{
	const char *equals = memchr(variable, '=', n);
	size_t n_name = equals ? (size_t)(equals - variable) : n, n_value = n - n_name;
	char *name, *value;

	if (!equals || !bears(variable, n_name))
		return false;
	n_value = n_value - 1 < MOST_VALUE ? n_value - 1 : MOST_VALUE;
	name = xstrndup(variable, n_name);
	value = xstrndup(equals + 1, n_value);
	build_fact(p, c, "environment", name, FACT_PLAIN, "%s", value);
	free(name);
	free(value);
	return true;
}

void heap_environment_tell(struct profile *p, capture_id c, const struct heap_text *text)
{
	const char *at = (const char *)text->at;
	uint64_t n_others = 0;
	size_t left = text->n;

	while (left > 0) {
		size_t n = strnlen(at, left), step = n < left ? n + 1 : n;

		if (n > 0 && !tell(p, c, at, n))
			n_others++;
		at += step;
		left -= step;
	}
	if (n_others)
		build_fact(p, c, "environment", "others", FACT_PLAIN,
			   "%" PRIu64 ", kept in the file", n_others);
}
