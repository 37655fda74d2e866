/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Open sources in the order of their use; see open_sources.h. */
#include "config.h"

#include "open_sources.h"

#include <assert.h>
#include <stdlib.h>

#include "mem.h"
#include "source.h"

/* The source of a module. */
struct kept {
	struct source *source; /* NULL: not open; owned */
	uint64_t bytes;        /* that it held when it was last used */
	uint64_t used;         /* when that was, by uses of all of them */
};

struct open_sources {
	VEC(struct kept) of; /* by module_id */
	uint64_t most_bytes; /* of all */
	uint64_t bytes;      /* sum of what each held */
	uint64_t n_uses;     /* of all */
};

struct open_sources *open_sources_new(uint64_t most_bytes)
{
	struct open_sources *o = xcalloc(1, sizeof(*o));

	o->most_bytes = most_bytes;
	return o;
}

void open_sources_free(struct open_sources *o)
{
	if (!o)
		return;
	for (size_t i = 0; i < o->of.n; i++)
		source_free(o->of.at[i].source);
	vec_done(&o->of);
	free(o);
}

struct source *open_sources_find(const struct open_sources *o, uint32_t module)
{
	return module < o->of.n ? o->of.at[module].source : NULL;
}

void open_sources_add(struct open_sources *o, uint32_t module, struct source *s)
{
	while (o->of.n <= module)
		vec_push(&o->of, (struct kept){ .source = NULL });
	assert(!o->of.at[module].source);
	o->of.at[module] = (struct kept){ .source = s };
}

/* The one that was not used for longest and holds anything. There is one while bytes are held. */
static uint32_t oldest(const struct open_sources *o)
{
	const struct kept *of = o->of.at;
	size_t found = o->of.n;

	for (size_t i = 0; i < o->of.n; i++)
		if (of[i].bytes > 0 && (found == o->of.n || of[i].used < of[found].used))
			found = i;
	assert(found < o->of.n);
	return (uint32_t)found;
}

void open_sources_used(struct open_sources *o, uint32_t module)
{
	struct kept *k = &o->of.at[module];

	o->bytes -= k->bytes;
	k->bytes = source_bytes(k->source);
	k->used = ++o->n_uses;
	/* All others would have to go for it. */
	if (k->bytes > o->most_bytes) {
		k->bytes = 0;
		open_sources_close(o, module);
		return;
	}
	o->bytes += k->bytes;
	while (o->bytes > o->most_bytes)
		open_sources_close(o, oldest(o));
}

void open_sources_close(struct open_sources *o, uint32_t module)
{
	struct kept *k = module < o->of.n ? &o->of.at[module] : NULL;

	if (!k)
		return;
	o->bytes -= k->bytes;
	source_free(k->source);
	*k = (struct kept){ .source = NULL };
}
