/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Nodes of the tree of stacks are summed to items: what a function costs itself at a line, or what it costs at a line to call another. A
 * function that calls itself directly is no item: its cost is the function's already, and readers would add it again.
 */
#include "config.h"

#include "formats/callgrind/callgrind_write.h"

#include "base/compare.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/sum.h"
#include "formats/write/export_stacks.h"
#include "formats/write/text_out.h"
#include "formats/write/type_sums.h"
#include "query/analysis.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NO_CALLEE UINT32_MAX

/* A function of the file: a key of the analysis, or the last one for frames of none. */
struct item {
	uint32_t function; /* who pays */
	uint32_t callee;   /* NO_CALLEE: itself */
	uint32_t file;     /* string_id where the line is */
	uint32_t line;
};

struct writer {
	const struct analysis *a;
	const struct profile *p;
	struct export_stacks stacks;
	struct type_sums sums;
	VEC(struct item) items;
	VEC(int64_t) values; /* [items.n][types] */
	struct map by_item;
	int64_t *self;      /* [nodes][types]; owned, as what follows */
	uint32_t *frame_of; /* [functions] a frame that describes it, or EXPORT_GONE */
	bool *named;        /* [functions] its name has been written */
	bool *file_named;   /* [n_strings] likewise */
	bool *object_named; /* [n_modules] likewise */
	struct text_out out;
};

/* What the analysis shows comes first, as readers show the first event. */
static size_t type_at(const struct writer *w, size_t k)
{
	size_t shown = w->sums.shown < w->sums.types.n ? w->sums.shown : 0;

	return k == 0 ? shown : k <= shown ? k - 1 : k;
}

static size_t n_types(const struct writer *w)
{
	return w->sums.types.n;
}

/* Sums. */

static bool same_item(const void *things, uint32_t value, const void *key)
{
	return memcmp((const struct item *)things + value, key, sizeof(struct item)) == 0;
}

static int64_t *values_of(struct writer *w, const struct item *item)
{
	uint64_t hash = hash_u64(hash_pair(item->function, item->callee) ^
				 hash_pair(item->file, item->line));
	uint32_t i = map_find(&w->by_item, hash, same_item, w->items.at, item);

	if (i == MAP_NONE) {
		i = (uint32_t)w->items.n;
		map_add(&w->by_item, hash, i);
		vec_push(&w->items, *item);
		for (size_t k = 0; k < n_types(w); k++)
			vec_push(&w->values, 0);
	}
	return &w->values.at[i * n_types(w)];
}

static uint32_t function_of(const struct writer *w, uint32_t node)
{
	uint32_t key = w->stacks.frames.at[w->stacks.nodes.at[node].frame].key;

	return key == KEY_NONE ? w->a->keys.n : key;
}

/* The item of a node's frame; where it calls nothing, of its own cost. */
static struct item item_of(const struct writer *w, uint32_t node, uint32_t callee)
{
	const struct export_frame *f = &w->stacks.frames.at[w->stacks.nodes.at[node].frame];

	return (struct item){ .function = function_of(w, node),
			      .callee = callee,
			      .file = f->file.v,
			      .line = f->line ? f->line : f->declared };
}

static void add(int64_t *to, const int64_t *from, size_t n)
{
	for (size_t k = 0; k < n; k++)
		to[k] = sum_of(to[k], from[k]);
}

/* What ends at each node, by stacks, which makes the nodes. */
static void sum_nodes(struct writer *w)
{
	size_t n = n_types(w), cap = 0;

	for (size_t i = 0; i < w->sums.sums.n; i++) {
		uint32_t node = export_stacks_framed(&w->stacks, w->sums.sums.at[i].stack);

		if (w->stacks.nodes.n > cap) {
			size_t more = w->stacks.nodes.n + w->stacks.nodes.n / 2;

			w->self = xreallocarray(w->self, more * n, sizeof(*w->self));
			memset(w->self + cap * n, 0, (more - cap) * n * sizeof(*w->self));
			cap = more;
		}
		if (node != EXPORT_GONE)
			add(w->self + node * n, &w->sums.values.at[i * n], n);
	}
}

/* From the innermost node outward: what a node has, its caller pays for the call. */
static void sum_items(struct writer *w)
{
	size_t n = n_types(w);

	for (uint32_t i = (uint32_t)w->stacks.nodes.n; i-- > 1;) {
		struct item own = item_of(w, i, NO_CALLEE);

		w->frame_of[own.function] = w->stacks.nodes.at[i].frame;
		add(values_of(w, &own), w->self + i * n, n);
	}
	for (uint32_t i = (uint32_t)w->stacks.nodes.n; i-- > 1;) {
		uint32_t up = w->stacks.nodes.at[i].parent, function = function_of(w, i);

		if (up != 0) {
			struct item call = item_of(w, up, function);

			if (call.function != function)
				add(values_of(w, &call), w->self + i * n, n);
		}
		add(w->self + up * n, w->self + i * n, n);
	}
}

/* Text. */

/* "fn=(7) name" the first time, then "fn=(7)". */
static void put_name(struct writer *w, const char *key, uint32_t id, bool *named, const char *name)
{
	text_out(&w->out, key);
	text_out(&w->out, "=(");
	text_out_int(&w->out, (int64_t)id + 1);
	text_out_char(&w->out, ')');
	if (!*named) {
		text_out_char(&w->out, ' ');
		text_out_line(&w->out, *name ? name : "???");
		*named = true;
	}
	text_out_char(&w->out, '\n');
}

static void put_file(struct writer *w, const char *key, uint32_t file)
{
	put_name(w, key, file, &w->file_named[file],
		 profile_string(w->p, (string_id){ file }, NULL));
}

static void put_object(struct writer *w, const char *key, uint32_t function)
{
	uint32_t module = w->stacks.frames.at[w->frame_of[function]].module;

	put_name(w, key, module, &w->object_named[module],
		 profile_string(w->p, profile_module(w->p, (module_id){ module })->path, NULL));
}

static void put_function(struct writer *w, const char *key, uint32_t function)
{
	put_name(w, key, function, &w->named[function],
		 w->stacks.frames.at[w->frame_of[function]].name);
}

static uint32_t file_of(const struct writer *w, uint32_t function)
{
	return w->stacks.frames.at[w->frame_of[function]].file.v;
}

static void put_costs(struct writer *w, uint32_t line, const int64_t *values)
{
	text_out_int(&w->out, line);
	for (size_t k = 0; k < n_types(w); k++) {
		text_out_char(&w->out, ' ');
		text_out_int(&w->out, values[type_at(w, k)] > 0 ? values[type_at(w, k)] : 0);
	}
	text_out_char(&w->out, '\n');
}

static bool costs(const struct writer *w, uint32_t item)
{
	for (size_t k = 0; k < n_types(w); k++)
		if (w->values.at[item * n_types(w) + k] > 0)
			return true;
	return false;
}

static void put_item(struct writer *w, uint32_t i, uint32_t *file)
{
	const struct item *item = &w->items.at[i];
	uint32_t callee = item->callee;

	if (!costs(w, i))
		return;
	if (item->file != *file) {
		put_file(w, "fe", item->file);
		*file = item->file;
	}
	if (callee != NO_CALLEE) {
		put_object(w, "cob", callee);
		put_file(w, "cfi", file_of(w, callee));
		put_function(w, "cfn", callee);
		text_out(&w->out, "calls=1 ");
		text_out_int(&w->out, w->stacks.frames.at[w->frame_of[callee]].declared);
		text_out_char(&w->out, '\n');
	}
	put_costs(w, item->line, &w->values.at[i * n_types(w)]);
}

static int compare_items(const void *a, const void *b, void *items)
{
	const struct item *s = (const struct item *)items + *(const uint32_t *)a;
	const struct item *t = (const struct item *)items + *(const uint32_t *)b;

	return COMPARE(s->function, t->function) ?: COMPARE(s->file, t->file) ?:
	       COMPARE(s->line, t->line) ?: COMPARE(t->callee, s->callee);
}

static void put_functions(struct writer *w)
{
	uint32_t n = (uint32_t)w->items.n, *order = xmalloc((n + 1) * sizeof(*order));
	uint32_t function = NO_CALLEE, file = 0;

	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	qsort_r(order, n, sizeof(*order), compare_items, w->items.at);
	for (uint32_t i = 0; i < n; i++) {
		const struct item *item = &w->items.at[order[i]];

		if (item->function != function) {
			function = item->function;
			file = file_of(w, function);
			text_out_char(&w->out, '\n');
			put_object(w, "ob", function);
			put_file(w, "fl", file);
			put_function(w, "fn", function);
		}
		put_item(w, order[i], &file);
	}
	free(order);
}

/* Names of events are words of letters there. */
static void put_events(struct writer *w)
{
	text_out(&w->out, "events:");
	for (size_t k = 0; k < n_types(w); k++) {
		text_out_char(&w->out, ' ');
		for (const char *c = w->sums.types.at[type_at(w, k)].name; *c; c++) {
			bool letter = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
				      (*c >= '0' && *c <= '9');

			text_out_char(&w->out, letter ? *c : '_');
		}
	}
	text_out(&w->out, "\nsummary:");
	for (size_t k = 0; k < n_types(w); k++) {
		int64_t total = w->self ? w->self[type_at(w, k)] : 0;

		text_out_char(&w->out, ' ');
		text_out_int(&w->out, total > 0 ? total : 0);
	}
	text_out_char(&w->out, '\n');
}

static void put_all(struct writer *w)
{
	const char *path = profile_string(w->p, profile_part(w->p, (part_id){ 0 })->path, NULL);
	size_t n_functions = w->a->keys.n + 1;

	w->frame_of = xmalloc(n_functions * sizeof(*w->frame_of));
	memset(w->frame_of, 0xff, n_functions * sizeof(*w->frame_of));
	w->named = xcalloc(n_functions, sizeof(bool));
	w->file_named = xcalloc(w->a->counts.n_strings + 1u, sizeof(bool));
	w->object_named = xcalloc(w->a->counts.n_modules + 1u, sizeof(bool));
	sum_nodes(w);
	sum_items(w);
	text_out(&w->out, "# callgrind format\nversion: 1\ncreator: proftop " VERSION "\ncmd: ");
	text_out_line(&w->out, path);
	text_out(&w->out, "\npositions: line\n");
	put_events(w);
	put_functions(w);
}

static void writer_done(struct writer *w)
{
	type_sums_done(&w->sums);
	export_stacks_done(&w->stacks);
	vec_done(&w->items);
	vec_done(&w->values);
	map_done(&w->by_item);
	free(w->self);
	free(w->frame_of);
	free(w->named);
	free(w->file_named);
	free(w->object_named);
	free(w);
}

int callgrind_write(const struct analysis *a, const struct write_options *o, FILE *to,
		    struct err *e)
{
	struct writer *w = xcalloc(1, sizeof(*w));
	int rc, written = 0;

	(void)o;
	w->a = a;
	w->p = a->profile;
	text_out_init(&w->out, to);
	rc = export_stacks_init(&w->stacks, a, EXPORT_LOCATIONS);
	if (rc == 0)
		rc = type_sums_make(&w->sums, a);
	if (rc == 0) {
		put_all(w);
		written = text_out_done(&w->out, e);
	}
	writer_done(w);
	return rc ? err_set(e, rc, "cannot go through the samples") : written;
}
