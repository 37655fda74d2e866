/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names of the kernel's code at once; see kernel_names.h. */
#include "config.h"

#include "symbols/kernel_names.h"

#include <stdlib.h>

#include "base/mem.h"
#include "symbols/search/debug_file_search.h"
#include "symbols/space/dso.h"
#include "symbols/symbol_source.h"

struct kernel_names {
	const struct debug_file_search *finder;
	struct dso_table *dsos;
	struct kernel *kernel;              /* owned */
	VEC(struct symbol_source *) source; /* by dso; NULL: not opened; owned */
};

struct kernel_names *kernel_names_new(const struct debug_file_search *f, struct dso_table *dsos)
{
	struct kernel_names *k = xcalloc(1, sizeof(*k));

	*k = (struct kernel_names){ .finder = f, .dsos = dsos, .kernel = kernel_new() };
	return k;
}

void kernel_names_free(struct kernel_names *k)
{
	if (!k)
		return;
	for (size_t i = 0; i < k->source.n; i++)
		symbol_source_free(k->source.at[i]);
	vec_done(&k->source);
	kernel_free(k->kernel);
	free(k);
}

static struct symbol_source *source_of(struct kernel_names *k, uint32_t number)
{
	struct dso d, main_kernel;
	struct debug_file_search f = *k->finder;

	while (k->source.n <= number)
		vec_push(&k->source, NULL);
	if (k->source.at[number])
		return k->source.at[number];
	d = dso_table_get(k->dsos, number);
	/* Symbols that the recording brings are looked up by the thread that names. */
	f.recorded = NULL;
	k->source.at[number] = symbol_source_open(
		&f, &d, k->kernel, dso_table_kernel(k->dsos, &main_kernel) ? &main_kernel : NULL);
	return k->source.at[number];
}

const char *kernel_names_find(struct kernel_names *k, uint32_t dso, uint64_t address,
			      uint64_t *offset)
{
	struct symbol_source *s = source_of(k, dso);
	const char *name = NULL;

	if (symbol_source_find(s, address, &name) != NAME_NONE)
		*offset = symbol_source_offset(s, address);
	return name;
}
