/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "symbols/symbolize_inlines.h"

#include "base/mem.h"
#include "elf/build_id.h"
#include "profile/builder.h"
#include "symbols/inline_batch.h"
#include "symbols/inline_lookup.h"
#include "symbols/pending_lookups.h"

#include <stdlib.h>
#include <string.h>

/*
 * Inlined frames are looked for while reading goes on where that is cheap: in small files, whose parts
 * that had to be unpacked are kept, and each time only if there is far more to ask than before. Few are asked
 * when no more of them come, but not often: each time the units that they are in are read again.
 */
#define AHEAD_LEAST        8u
#define AHEAD_GROWTH       4u
#define AHEAD_FEW          4u
#define AHEAD_FILE_BYTES   (UINT64_C(16) << 20)
#define AHEAD_PACKED_BYTES (UINT64_C(8) << 20)

/* Inlined frames of a module that were asked for while more is being read. */
struct ahead {
	uint32_t below; /* locations below this */
	uint32_t n;     /* how many */
	uint32_t few;   /* at the last look there were so few to ask that they waited for more */
	uint32_t n_few; /* how often few were asked */
	bool open;      /* its debug information is kept for the next time */
	struct inline_batch *inlining; /* with what was found out in it; NULL: not open; owned */
};

struct symbolize_inlines {
	struct profile *p;                   /* borrowed */
	capture_id capture;                  /* whose facts are written */
	VEC(struct inline_lookup *) inlines; /* by module_id; NULL: none; owned */
	uint32_t inlined;                    /* locations below this were asked for */
	uint32_t looked_ahead;          /* locations below this were there at the last look ahead */
	struct pending_lookups waiting; /* of them, those that wait for more of their kind */
	bool few_wait;                  /* for more, at that look; see struct ahead */
	uint64_t ahead_bytes;           /* packed debug information that was opened ahead */
	VEC(struct ahead) ahead;        /* by module_id; shorter than that: none of the rest */
};

struct symbolize_inlines *symbolize_inlines_new(struct profile *p, capture_id c)
{
	struct symbolize_inlines *x = xcalloc(1, sizeof(*x));

	x->p = p;
	x->capture = c;
	return x;
}

/* Closes what was opened ahead of a module. */
static void forget_ahead(struct symbolize_inlines *x, uint32_t m)
{
	struct ahead *a = m < x->ahead.n ? &x->ahead.at[m] : NULL;

	if (!a || !a->open)
		return;
	inline_batch_free(a->inlining);
	a->inlining = NULL;
	inline_lookup_close(x->inlines.at[m]);
	a->open = false;
}

void symbolize_inlines_free(struct symbolize_inlines *x)
{
	if (!x)
		return;
	for (size_t i = 0; i < x->inlines.n; i++)
		symbolize_inlines_drop(x, (uint32_t)i);
	vec_done(&x->inlines);
	vec_done(&x->ahead);
	pending_lookups_done(&x->waiting);
	free(x);
}

void symbolize_inlines_take(struct symbolize_inlines *x, uint32_t module, struct inline_lookup *in)
{
	while (x->inlines.n <= module)
		vec_push(&x->inlines, NULL);
	x->inlines.at[module] = in;
}

bool symbolize_inlines_has(const struct symbolize_inlines *x, uint32_t module)
{
	return module < x->inlines.n && x->inlines.at[module];
}

void symbolize_inlines_drop(struct symbolize_inlines *x, uint32_t module)
{
	if (!symbolize_inlines_has(x, module))
		return;
	forget_ahead(x, module);
	inline_lookup_free(x->inlines.at[module]);
	x->inlines.at[module] = NULL;
}

const struct build_id *symbolize_inlines_lacks_shared(const struct symbolize_inlines *x,
						      uint32_t module)
{
	return symbolize_inlines_has(x, module) ? inline_lookup_lacks_shared(x->inlines.at[module])
						: NULL;
}

/* Adds locations with a function, in modules with debug information, that were not asked for. */
static void collect(const struct symbolize_inlines *x, uint32_t begin, uint32_t end,
		    struct pending_lookups *wants)
{
	struct location_columns c;

	profile_locations(x->p, &c);
	for (uint32_t i = begin; i < end; i++) {
		struct want w = { .module = c.module[i], .location = i };

		if (w.module == 0 || location_function(&c, i) == ID_NONE ||
		    !symbolize_inlines_has(x, w.module))
			continue;
		if (w.module < x->ahead.n && i < x->ahead.at[w.module].below)
			continue;
		w.address = c.address[i];
		vec_push(&wants->all, w);
	}
	pending_lookups_sort(wants);
}

static int inline_group(struct inline_batch *of, const struct want *w, size_t n_wants,
			unsigned threads, const struct progress *progress)
{
	uint64_t *offsets = xmalloc(n_wants * sizeof(*offsets));
	uint32_t *locations = xmalloc(n_wants * sizeof(*locations));
	int rc;

	for (size_t i = 0; i < n_wants; i++) {
		offsets[i] = w[i].address;
		locations[i] = w[i].location;
	}
	rc = inline_batch_run(of, offsets, locations, n_wants, threads, progress);
	free(offsets);
	free(locations);
	return rc;
}

/* The first wants of a module, while more of them come; waits: they are not asked for yet. */
static int group_ahead(struct symbolize_inlines *x, const struct want *w, size_t n_wants,
		       uint32_t below, bool *waits, const struct progress *progress)
{
	struct inline_lookup *in = x->inlines.at[w[0].module];
	struct ahead *a;
	int rc;

	*waits = false;
	if (!in)
		return 0;
	while (x->ahead.n <= w[0].module)
		vec_push(&x->ahead, ((struct ahead){ .below = 0 }));
	a = &x->ahead.at[w[0].module];
	if (!a->open && (inline_lookup_file_bytes(in) > AHEAD_FILE_BYTES ||
			 x->ahead_bytes + inline_lookup_packed_bytes(in) > AHEAD_PACKED_BYTES))
		return 0;
	if (!a->open) {
		x->ahead_bytes += inline_lookup_packed_bytes(in);
		a->inlining = inline_batch_new(x->p, (module_id){ w[0].module }, in, true);
		a->open = true;
	}
	if (n_wants < AHEAD_LEAST || n_wants / AHEAD_GROWTH < a->n) {
		*waits = true;
		if (a->n_few == AHEAD_FEW)
			return 0;
		if (n_wants != a->few) {
			a->few = (uint32_t)n_wants;
			x->few_wait = true;
			return 0;
		}
		a->n_few++;
		*waits = false;
	}
	rc = inline_group(a->inlining, w, n_wants, 1, progress);
	if (rc == 0) {
		a->below = below;
		a->n += (uint32_t)n_wants;
	}
	return rc;
}

int symbolize_inlines_ahead(struct symbolize_inlines *x, uint32_t end, bool *few,
			    struct progress *progress)
{
	struct pending_lookups *w = &x->waiting;
	size_t n_waiting = 0;
	bool waits;
	int rc = 0;

	*few = false;
	if (end - x->looked_ahead < AHEAD_LEAST && !x->few_wait)
		return 0;
	/* What is watched for hours has many locations: each is looked at once. */
	collect(x, x->looked_ahead, end, w);
	x->looked_ahead = end;
	x->few_wait = false;
	for (size_t at = 0, n; at < w->all.n && rc == 0; at += n) {
		n = pending_lookups_of_module(w, at);
		rc = group_ahead(x, w->all.at + at, n, end, &waits, progress);
		if (!waits)
			continue;
		memmove(w->all.at + n_waiting, w->all.at + at, n * sizeof(*w->all.at));
		n_waiting += n;
	}
	w->all.n = n_waiting;
	*few = x->few_wait;
	return rc;
}

/* The last wants of a module. Debug information is large: one module's at a time. */
static int inline_rest(struct symbolize_inlines *x, const struct want *w, size_t n_wants,
		       const struct progress *progress)
{
	uint32_t m = w[0].module;
	struct inline_batch *kept = m < x->ahead.n ? x->ahead.at[m].inlining : NULL, *of = kept;
	int rc;

	if (!kept)
		of = inline_batch_new(x->p, (module_id){ m }, x->inlines.at[m], false);
	rc = inline_group(of, w, n_wants, 2, progress);
	if (!kept)
		inline_batch_free(of);
	forget_ahead(x, m);
	inline_lookup_close(x->inlines.at[m]);
	return rc;
}

/* What is left in debug information: that it is damaged, or that parts of it are elsewhere. */
static int state_debug_info(struct symbolize_inlines *x)
{
	uint64_t n_damaged = 0, n_missing = 0, n_shared = 0, n_by_libdw = 0;
	char hex[BUILD_ID_HEX_BYTES] = "";

	for (size_t i = 0; i < x->inlines.n; i++) {
		if (!symbolize_inlines_has(x, (uint32_t)i))
			continue;
		if (symbolize_inlines_lacks_shared(x, (uint32_t)i) && n_shared++ == 0)
			build_id_hex(hex, symbolize_inlines_lacks_shared(x, (uint32_t)i));
		n_damaged += inline_lookup_n_damaged(x->inlines.at[i]);
		n_missing += inline_lookup_n_missing(x->inlines.at[i]);
		n_by_libdw += inline_lookup_n_by_libdw(x->inlines.at[i]);
	}
	if (n_damaged + n_missing + n_shared + n_by_libdw == 0)
		return 0;
	builder_begin(x->p);
	if (n_by_libdw > 0)
		build_fact(x->p, x->capture, "symbols", "by libdw", FACT_PLAIN,
			   "%llu unit%s of debug information that proftop does not read itself",
			   (unsigned long long)n_by_libdw, n_by_libdw == 1 ? "" : "s");
	if (n_damaged > 0)
		build_fact(x->p, x->capture, "symbols", "debug information", FACT_MISSING,
			   "%llu part%s of it could not be read to the end, as it is damaged or "
			   "there is no memory for it; functions that were inlined there may be "
			   "missing",
			   (unsigned long long)n_damaged, n_damaged == 1 ? "" : "s");
	if (n_shared > 0)
		build_fact(
			x->p, x->capture, "symbols", "shared debug information", FACT_MISSING,
			"what dwz moved out of that of %llu module%s was not found (build-id %s); "
			"functions that were inlined there have no names",
			(unsigned long long)n_shared, n_shared == 1 ? "" : "s", hex);
	if (n_missing > 0)
		build_fact(x->p, x->capture, "symbols", "split debug information", FACT_MISSING,
			   "%llu .dwo file%s or part%s of a .dwp not found; functions that were "
			   "inlined there are missing",
			   (unsigned long long)n_missing, n_missing == 1 ? "" : "s",
			   n_missing == 1 ? " was" : "s were");
	return builder_end(x->p);
}

int symbolize_inlines_run(struct symbolize_inlines *x, uint32_t end, struct progress *progress)
{
	struct pending_lookups w = { 0 };
	int rc = 0;

	collect(x, x->inlined, end, &w);
	for (size_t at = 0, n; at < w.all.n && rc == 0; at += n) {
		n = pending_lookups_of_module(&w, at);
		rc = inline_rest(x, w.all.at + at, n, progress);
	}
	pending_lookups_done(&w);
	for (size_t i = 0; i < x->ahead.n; i++)
		forget_ahead(x, (uint32_t)i);
	x->ahead_bytes = 0;
	if (rc == 0)
		x->inlined = end;
	return rc ? rc : state_debug_info(x);
}
