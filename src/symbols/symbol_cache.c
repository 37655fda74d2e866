/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Open sources in the order of their use; see symbol_cache.h. */
#include "config.h"

#include "symbols/symbol_cache.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "symbols/symbol_source.h"

/* The source of a module. */
struct kept {
	struct symbol_source *source; /* NULL: not open; owned */
	uint64_t bytes;               /* that it held when it was last used */
	uint64_t used;                /* when that was, by uses of all of them */
};

struct symbol_cache {
	VEC(struct kept) of; /* by module_id */
	uint64_t most_bytes; /* of all */
	uint64_t bytes;      /* sum of what each held */
	uint64_t n_uses;     /* of all */
};

struct symbol_cache *symbol_cache_new(uint64_t most_bytes)
{
	struct symbol_cache *o = xcalloc(1, sizeof(*o));

	o->most_bytes = most_bytes;
	return o;
}

void symbol_cache_free(struct symbol_cache *o)
{
	if (!o)
		return;
	for (size_t i = 0; i < o->of.n; i++)
		symbol_source_free(o->of.at[i].source);
	vec_done(&o->of);
	free(o);
}

struct symbol_source *symbol_cache_find(const struct symbol_cache *o, uint32_t module)
{
	return module < o->of.n ? o->of.at[module].source : NULL;
}

void symbol_cache_add(struct symbol_cache *o, uint32_t module, struct symbol_source *s)
{
	while (o->of.n <= module)
		vec_push(&o->of, (struct kept){ .source = NULL });
	assert(!o->of.at[module].source);
	o->of.at[module] = (struct kept){ .source = s };
}

/* The one that was not used for longest and holds anything. There is one while bytes are held. */
static uint32_t oldest(const struct symbol_cache *o)
{
	const struct kept *of = o->of.at;
	size_t found = o->of.n;

	for (size_t i = 0; i < o->of.n; i++)
		if (of[i].bytes > 0 && (found == o->of.n || of[i].used < of[found].used))
			found = i;
	assert(found < o->of.n);
	return (uint32_t)found;
}

void symbol_cache_used(struct symbol_cache *o, uint32_t module)
{
	struct kept *k = &o->of.at[module];

	o->bytes -= k->bytes;
	k->bytes = symbol_source_bytes(k->source);
	k->used = ++o->n_uses;
	/* All others would have to go for it. */
	if (k->bytes > o->most_bytes) {
		k->bytes = 0;
		symbol_cache_close(o, module);
		return;
	}
	o->bytes += k->bytes;
	while (o->bytes > o->most_bytes)
		symbol_cache_close(o, oldest(o));
}

void symbol_cache_close(struct symbol_cache *o, uint32_t module)
{
	struct kept *k = module < o->of.n ? &o->of.at[module] : NULL;

	if (!k)
		return;
	o->bytes -= k->bytes;
	symbol_source_free(k->source);
	*k = (struct kept){ .source = NULL };
}
