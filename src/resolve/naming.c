/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Functions for locations; see naming.h.
 *
 * The locations without a name are sorted by module and address, so that each module's symbols are
 * read once and each symbol is written out once. The pen is held for one batch of them at a time.
 */
#include "config.h"

#include "naming.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "build_id.h"
#include "builder.h"
#include "demangle.h"
#include "dso.h"
#include "fetching.h"
#include "find.h"
#include "inlines.h"
#include "inlining.h"
#include "mem.h"
#include "resolver.h"
#include "source.h"
#include "task.h"

#define BATCH              512
#define FACTS_MAX          20u
#define NAME_MAX_BYTES     4096 /* of a name that is no mangled one; the rest is cut */
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
#define KEEP_BYTES         (UINT64_C(4) << 20) /* larger symbol tables are read again if need be */

/* A location to be named. */
struct want {
	uint64_t address;  /* in its module */
	uint32_t module;   /* its module */
	uint32_t location; /* location_id */
};

/* What is known of a module after naming. */
struct tally {
	uint64_t n_locations; /* looked up */
	uint64_t n_named;     /* of them, with a symbol */
	char *reason;         /* why not all; owned */
	bool asked;           /* servers were asked for its debug file, or will be */
	bool unverified;      /* see source_unverified() */
};

/* Inlined frames of a module that were asked for while more is being read. */
struct ahead {
	uint32_t below; /* locations below this */
	uint32_t n;     /* how many */
	uint32_t few;   /* at the last look there were so few to ask that they waited for more */
	uint32_t n_few; /* how often few were asked */
	bool open;      /* its debug information is kept for the next time */
	struct inlining *inlining; /* with what was found out in it; NULL: not open; owned */
};

struct naming {
	struct profile *p;             /* borrowed */
	capture_id capture;            /* whose facts are written */
	struct dso_table *dsos;        /* borrowed */
	const struct finder *f;        /* borrowed */
	struct kernel *kernel;         /* shared by the kernel and its modules; owned */
	uint32_t done;                 /* locations below this were seen to */
	VEC(struct tally) tally;       /* by module_id */
	VEC(struct source *) source;   /* by module_id; NULL: not open; owned */
	VEC(struct inlines *) inlines; /* by module_id; NULL: none; owned */
	VEC(struct want) waiting;      /* for debug files that are to be fetched */
	VEC(uint32_t) undescribed;     /* modules that have names, and wait for what was inlined */
	uint32_t inlined;              /* locations below this were asked for inlined frames */
	uint32_t looked_ahead;         /* locations below this were there at the last look ahead */
	bool few_wait;                 /* for more, at that look; see struct ahead */
	uint64_t ahead_bytes;          /* packed debug information that was opened ahead */
	VEC(struct ahead) ahead;       /* by module_id; shorter than that: none of the rest */
};

/* Answers that wait for the pen. */
struct batch {
	uint32_t location[BATCH]; /* location_id */
	uint32_t name[BATCH];     /* index into text; UINT32_MAX: none */
	char *text[BATCH];        /* names, each once; owned */
	const char *file[BATCH];  /* where they are declared; the source's, or NULL */
	uint32_t line[BATCH];     /* in file */
	size_t n, n_text;
};

struct naming *naming_new(struct profile *p, capture_id c, struct dso_table *dsos,
			  const struct finder *f)
{
	struct naming *n = xcalloc(1, sizeof(*n));

	n->p = p;
	n->capture = c;
	n->dsos = dsos;
	n->f = f;
	n->kernel = kernel_new();
	return n;
}

/* Closes what was opened ahead of a module. */
static void forget_ahead(struct naming *n, uint32_t m)
{
	struct ahead *a = m < n->ahead.n ? &n->ahead.at[m] : NULL;

	if (!a || !a->open)
		return;
	inlining_free(a->inlining);
	a->inlining = NULL;
	inlines_close(n->inlines.at[m]);
	a->open = false;
}

void naming_free(struct naming *n)
{
	if (!n)
		return;
	for (size_t i = 0; i < n->tally.n; i++)
		free(n->tally.at[i].reason);
	for (size_t i = 0; i < n->source.n; i++)
		source_free(n->source.at[i]);
	vec_done(&n->tally);
	vec_done(&n->source);
	for (size_t i = 0; i < n->inlines.n; i++) {
		forget_ahead(n, (uint32_t)i);
		inlines_free(n->inlines.at[i]);
	}
	vec_done(&n->inlines);
	vec_done(&n->waiting);
	vec_done(&n->undescribed);
	vec_done(&n->ahead);
	kernel_free(n->kernel);
	free(n);
}

static int by_place(const void *x, const void *y)
{
	const struct want *a = x, *b = y;

	if (a->module != b->module)
		return a->module < b->module ? -1 : 1;
	return (a->address > b->address) - (a->address < b->address);
}

/*
 * Published locations in order: those without a function, or those with one in modules that have
 * debug information. *n of them; the caller frees.
 */
static struct want *collect(const struct naming *n, const struct profile_counts *counts,
			    bool inlines, size_t *n_out)
{
	struct location_columns c;
	VEC(struct want) wants = { 0 };

	profile_locations(n->p, &c);
	for (uint32_t i = inlines ? n->inlined : n->done; i < counts->n_locations; i++) {
		struct want w = { .module = c.module[i], .location = i };
		bool named = location_function(&c, i) != ID_NONE;

		if (w.module == 0 || named != inlines)
			continue;
		if (inlines && (w.module >= n->inlines.n || !n->inlines.at[w.module]))
			continue;
		if (inlines && w.module < n->ahead.n && i < n->ahead.at[w.module].below)
			continue;
		w.address = c.address[i];
		vec_push(&wants, w);
	}
	if (wants.n > 0)
		qsort(wants.at, wants.n, sizeof(*wants.at), by_place);
	*n_out = wants.n;
	return wants.at;
}

/* "[libc.so.6]" for what has no name; "[kernel]" has its brackets already. */
static string_id made_up_name(struct profile *p, module_id m)
{
	size_t len;
	const char *name = profile_string(p, profile_module(p, m)->name, &len);
	char *text;
	string_id s;

	if (len > 1 && name[0] == '[' && name[len - 1] == ']')
		return profile_module(p, m)->name;
	text = xasprintf("[%s]", name);
	s = build_cstring(p, text);
	free(text);
	return s;
}

/* The function of one address without a symbol, "[libc.so.6 <1a2b>]". */
static function_id unnamed_at(struct profile *p, module_id m, uint32_t location)
{
	const char *name = profile_string(p, profile_module(p, m)->name, NULL);
	struct location_columns c;
	string_id no_file = { 0 };
	function_id f;
	char *text;

	profile_locations(p, &c);
	text = xasprintf("[%s <%" PRIx64 ">]", name, c.address[location]);
	f = build_function(p, build_cstring(p, text), m, FUNCTION_UNRESOLVED, no_file, 0);
	free(text);
	return f;
}

static int hand_in(struct naming *n, module_id m, struct batch *b)
{
	uint32_t function[BATCH], unnamed = ID_NONE;
	string_id no_file = { 0 };
	int r;

	builder_begin(n->p);
	for (size_t i = 0; i < b->n_text; i++) {
		string_id name = build_cstring(n->p, b->text[i]);

		string_id file = b->file[i] ? build_cstring(n->p, b->file[i]) : no_file;

		function[i] = build_function(n->p, name, m, 0, file, b->line[i]).v;
	}
	for (size_t i = 0; i < b->n; i++) {
		function_id f;

		if (b->name[i] == UINT32_MAX && n->f->options->addresses) {
			f = unnamed_at(n->p, m, b->location[i]);
			build_location_function(n->p, (location_id){ b->location[i] }, f);
			continue;
		}
		if (b->name[i] == UINT32_MAX && unnamed == ID_NONE)
			unnamed = build_function(n->p, made_up_name(n->p, m), m,
						 FUNCTION_UNRESOLVED, no_file, 0)
					  .v;
		f.v = b->name[i] == UINT32_MAX ? unnamed : function[b->name[i]];
		build_location_function(n->p, (location_id){ b->location[i] }, f);
	}
	r = builder_end(n->p);
	for (size_t i = 0; i < b->n_text; i++)
		free(b->text[i]);
	b->n = b->n_text = 0;
	return r;
}

static char *write_name(const char *name, enum name_form form)
{
	char *text = form == NAME_PLAIN ? NULL : demangle(name, DEMANGLE_FULL), *out;

	if (!text)
		text = xstrndup(name, strnlen(name, NAME_MAX_BYTES));
	if (form != NAME_PLT)
		return text;
	out = xasprintf("%s@plt", text);
	free(text);
	return out;
}

/* Names the wants of one module; they are sorted by address. */
static int name_module(struct naming *n, struct source *s, const struct want *w, size_t n_wants,
		       struct tally *t, const struct progress *progress)
{
	struct batch *b = xcalloc(1, sizeof(*b));
	module_id m = { w[0].module };
	const char *last = NULL;
	enum name_form last_form = NAME_NONE;
	int r = 0;

	for (size_t i = 0; i < n_wants && r == 0; i++) {
		const char *name = NULL;
		enum name_form form = source_find(s, w[i].address, &name);

		if (form != NAME_NONE && (b->n == 0 || name != last || form != last_form)) {
			b->line[b->n_text] = 0;
			b->file[b->n_text] = source_declared(s, w[i].address, &b->line[b->n_text]);
			b->text[b->n_text++] = write_name(name, form);
		}
		if (form != NAME_NONE) {
			last = name;
			last_form = form;
			t->n_named++;
		}
		b->location[b->n] = w[i].location;
		b->name[b->n++] = form == NAME_NONE ? UINT32_MAX : (uint32_t)b->n_text - 1;
		t->n_locations++;
		if (b->n < BATCH && i + 1 < n_wants)
			continue;
		last = NULL;
		r = hand_in(n, m, b);
		if (r == 0 && progress_cancelled(progress))
			r = -ECANCELED;
	}
	free(b);
	return r;
}

/* Opens what names a module, unless it is open; f says where to look. */
static void open_source(struct naming *n, const struct finder *f, const struct dso *d, uint32_t m)
{
	struct dso main_kernel;
	bool known = dso_table_kernel(n->dsos, &main_kernel);

	while (n->tally.n <= m)
		vec_push(&n->tally, ((struct tally){ .reason = NULL }));
	while (n->source.n <= m)
		vec_push(&n->source, NULL);
	while (n->inlines.n <= m)
		vec_push(&n->inlines, NULL);
	if (!n->source.at[m])
		n->source.at[m] = source_open(f, d, n->kernel, known ? &main_kernel : NULL);
}

static void close_source(struct naming *n, uint32_t m)
{
	source_free(n->source.at[m]);
	n->source.at[m] = NULL;
}

static void take_inlines(struct naming *n, uint32_t m)
{
	if (n->source.at[m] && !n->inlines.at[m])
		n->inlines.at[m] = source_take_inlines(n->source.at[m]);
}

/* The first name of a location is final: those that a debug file may name better have to wait. */
static bool has_to_wait(const struct naming *n, uint32_t m)
{
	return n->f->options->debug_servers && !n->tally.at[m].asked &&
	       source_lacks_debug_file(n->source.at[m]);
}

/* Of what dwz moved out of a module's debug information, if that was not found; else NULL. */
static const struct build_id *lacks_shared(const struct naming *n, uint32_t m)
{
	return n->inlines.at[m] ? inlines_lacks_shared(n->inlines.at[m]) : NULL;
}

/* Names that are good as they are do not wait for what was inlined. */
static void await_inlines(struct naming *n, uint32_t m)
{
	bool lacks = source_lacks_inlines(n->source.at[m]) || lacks_shared(n, m);

	if (!n->f->options->debug_servers || n->f->options->no_inlines || n->tally.at[m].asked ||
	    !lacks)
		return;
	n->tally.at[m].asked = true;
	vec_push(&n->undescribed, m);
}

static int name_group(struct naming *n, const struct want *w, size_t n_wants,
		      const struct progress *progress)
{
	uint32_t m = w[0].module;
	struct tally *t;
	struct dso d;
	int r;

	if (!dso_table_of_module(n->dsos, (module_id){ m }, &d))
		return 0;
	open_source(n, n->f, &d, m);
	if (has_to_wait(n, m)) {
		for (size_t i = 0; i < n_wants; i++)
			vec_push(&n->waiting, w[i]);
		return 0;
	}
	t = &n->tally.at[m];
	take_inlines(n, m);
	r = name_module(n, n->source.at[m], w, n_wants, t, progress);
	await_inlines(n, m);
	t->unverified = source_unverified(n->source.at[m]);
	free(t->reason);
	t->reason = xstrdup(source_reason(n->source.at[m]));
	/* Maps of JITs grow. */
	if (d.kind == DSO_JIT || source_bytes(n->source.at[m]) > KEEP_BYTES)
		close_source(n, m);
	return r;
}

/* A module with addresses that have no name. */
struct loss {
	uint64_t n;      /* of them */
	uint32_t module; /* module_id */
};

static int by_loss(const void *x, const void *y)
{
	const struct loss *a = x, *b = y;

	if (a->n != b->n)
		return a->n < b->n ? 1 : -1;
	return (a->module > b->module) - (a->module < b->module);
}

static void state_losses(struct naming *n, const struct loss *loss, size_t n_losses)
{
	struct profile *p = n->p;

	for (size_t i = 0; i < n_losses && i < FACTS_MAX; i++) {
		const struct tally *t = &n->tally.at[loss[i].module];
		const struct module *m = profile_module(p, (module_id){ loss[i].module });

		build_fact(p, n->capture, "symbols", profile_string(p, m->name, NULL), FACT_MISSING,
			   "%llu of %llu addresses have no name: %s", (unsigned long long)loss[i].n,
			   (unsigned long long)t->n_locations, t->reason);
	}
}

static int state_facts(struct naming *n)
{
	VEC(struct loss) loss = { 0 };
	uint64_t n_all = 0, n_named = 0;
	size_t n_modules = 0, n_unverified = 0;

	for (size_t i = 0; i < n->tally.n; i++) {
		const struct tally *t = &n->tally.at[i];

		n_all += t->n_locations;
		n_named += t->n_named;
		n_modules += t->n_locations > 0;
		n_unverified += t->unverified;
		if (t->n_named < t->n_locations)
			vec_push(&loss, ((struct loss){ .n = t->n_locations - t->n_named,
							.module = (uint32_t)i }));
	}
	if (loss.n > 0)
		qsort(loss.at, loss.n, sizeof(*loss.at), by_loss);
	builder_begin(n->p);
	if (n_all > 0)
		build_fact(n->p, n->capture, "symbols", "names",
			   n_named == n_all ? FACT_GOOD : FACT_PLAIN,
			   "%llu of %llu addresses in %zu module%s have names",
			   (unsigned long long)n_named, (unsigned long long)n_all, n_modules,
			   n_modules == 1 ? "" : "s");
	if (n_unverified > 0)
		build_fact(
			n->p, n->capture, "symbols", "unverified", FACT_PLAIN,
			"%zu module%s recorded without build-id; files were used as they are now",
			n_unverified, n_unverified == 1 ? "" : "s");
	state_losses(n, loss.at, loss.n);
	vec_done(&loss);
	return builder_end(n->p);
}

int naming_run(struct naming *n, struct progress *progress)
{
	struct profile_counts counts;
	size_t n_wants, at = 0, end;
	struct want *w;
	int r = 0, facts;

	profile_counts_read(n->p, &counts);
	w = collect(n, &counts, false, &n_wants);
	while (at < n_wants && r == 0) {
		for (end = at + 1; end < n_wants && w[end].module == w[at].module;)
			end++;
		r = name_group(n, w + at, end - at, progress);
		at = end;
	}
	free(w);
	if (r == 0)
		n->done = counts.n_locations;
	if (n_wants == 0)
		return r;
	facts = state_facts(n);
	return r ? r : facts;
}

/* Opens what names a module anew. */
static void reopen(struct naming *n, const struct finder *f, const struct dso *d, uint32_t m)
{
	close_source(n, m);
	forget_ahead(n, m);
	inlines_free(n->inlines.at[m]);
	n->inlines.at[m] = NULL;
	open_source(n, f, d, m);
	take_inlines(n, m);
}

/* Asks for one module's file, and opens what names the module anew. */
static void fetch_one(struct naming *n, struct fetching *g, uint32_t m)
{
	struct finder with = *n->f;
	char *path = NULL;
	struct dso d;
	int rc;

	n->tally.at[m].asked = true;
	fetching_next(g, (module_id){ m });
	if (!dso_table_of_module(n->dsos, (module_id){ m }, &d))
		return;
	rc = fetching_debug_file(g, &d.build_id,
				 n->source.at[m] && source_lacks_file(n->source.at[m]), &path);
	with.fetched = path;
	if (rc == 0)
		reopen(n, &with, &d, m);
	/* What dwz moved out is found where it is kept. */
	if ((rc == 0 || rc == -ENOENT) && lacks_shared(n, m) &&
	    fetching_shared(g, lacks_shared(n, m)))
		reopen(n, &with, &d, m);
	free(path);
}

static size_t end_of_group(const struct want *w, size_t n, size_t at)
{
	size_t end = at + 1;

	while (end < n && w[end].module == w[at].module)
		end++;
	return end;
}

int naming_fetch(struct naming *n, struct progress *progress)
{
	struct want *w = n->waiting.at;
	size_t n_wants = n->waiting.n, n_modules = n->undescribed.n, end;
	struct fetching *g;
	int rc = 0;

	if (n_wants == 0 && n_modules == 0)
		return 0;
	if (n_wants > 0)
		qsort(w, n_wants, sizeof(*w), by_place);
	for (size_t at = 0; at < n_wants; at = end_of_group(w, n_wants, at))
		n_modules++;
	g = fetching_new(n->p, n->capture, n_modules, progress);
	for (size_t at = 0; at < n_wants && rc == 0; at = end) {
		end = end_of_group(w, n_wants, at);
		fetch_one(n, g, w[at].module);
		rc = progress_cancelled(progress) ? -ECANCELED
						  : name_group(n, w + at, end - at, progress);
	}
	for (size_t i = 0; i < n->undescribed.n && rc == 0; i++) {
		fetch_one(n, g, n->undescribed.at[i]);
		close_source(n, n->undescribed.at[i]);
		rc = progress_cancelled(progress) ? -ECANCELED : 0;
	}
	vec_clear(&n->waiting);
	vec_clear(&n->undescribed);
	if (rc == 0)
		fetching_state(g);
	fetching_free(g);
	return rc < 0 ? rc : state_facts(n);
}

static int inline_group(struct inlining *x, const struct want *w, size_t n_wants, unsigned threads,
			const struct progress *progress)
{
	uint64_t *offsets = xmalloc(n_wants * sizeof(*offsets));
	uint32_t *locations = xmalloc(n_wants * sizeof(*locations));
	int rc;

	for (size_t i = 0; i < n_wants; i++) {
		offsets[i] = w[i].address;
		locations[i] = w[i].location;
	}
	rc = inlining_run(x, offsets, locations, n_wants, threads, progress);
	free(offsets);
	free(locations);
	return rc;
}

/* What is left in debug information: that it is damaged, or that parts of it are elsewhere. */
static int state_debug_info(struct naming *n)
{
	uint64_t n_damaged = 0, n_missing = 0, n_shared = 0;
	char hex[BUILD_ID_HEX_BYTES] = "";

	for (size_t i = 0; i < n->inlines.n; i++) {
		if (!n->inlines.at[i])
			continue;
		if (lacks_shared(n, (uint32_t)i) && n_shared++ == 0)
			build_id_hex(hex, lacks_shared(n, (uint32_t)i));
		n_damaged += inlines_n_damaged(n->inlines.at[i]);
		n_missing += inlines_n_missing(n->inlines.at[i]);
	}
	if (n_damaged + n_missing + n_shared == 0)
		return 0;
	builder_begin(n->p);
	if (n_damaged > 0)
		build_fact(n->p, n->capture, "symbols", "damaged debug information", FACT_MISSING,
			   "%llu unit%s of it could not be read to the end; functions that were "
			   "inlined there may be missing",
			   (unsigned long long)n_damaged, n_damaged == 1 ? "" : "s");
	if (n_shared > 0)
		build_fact(
			n->p, n->capture, "symbols", "shared debug information", FACT_MISSING,
			"what dwz moved out of that of %llu module%s was not found (build-id %s); "
			"functions that were inlined there have no names",
			(unsigned long long)n_shared, n_shared == 1 ? "" : "s", hex);
	if (n_missing > 0)
		build_fact(n->p, n->capture, "symbols", "split debug information", FACT_MISSING,
			   "%llu .dwo file%s or part%s of a .dwp not found; functions that were "
			   "inlined there are missing",
			   (unsigned long long)n_missing, n_missing == 1 ? "" : "s",
			   n_missing == 1 ? " was" : "s were");
	return builder_end(n->p);
}

/* The first wants of a module, while more of them come. */
static int group_ahead(struct naming *n, const struct want *w, size_t n_wants, uint32_t below,
		       const struct progress *progress)
{
	struct inlines *in = n->inlines.at[w[0].module];
	struct ahead *a;
	int rc;

	while (n->ahead.n <= w[0].module)
		vec_push(&n->ahead, ((struct ahead){ .below = 0 }));
	a = &n->ahead.at[w[0].module];
	if (!a->open && (inlines_file_bytes(in) > AHEAD_FILE_BYTES ||
			 n->ahead_bytes + inlines_packed_bytes(in) > AHEAD_PACKED_BYTES))
		return 0;
	if (!a->open) {
		n->ahead_bytes += inlines_packed_bytes(in);
		a->inlining = inlining_new(n->p, (module_id){ w[0].module }, in, true);
		a->open = true;
	}
	if (n_wants < AHEAD_LEAST || n_wants / AHEAD_GROWTH < a->n) {
		if (a->n_few == AHEAD_FEW)
			return 0;
		if (n_wants != a->few) {
			a->few = (uint32_t)n_wants;
			n->few_wait = true;
			return 0;
		}
		a->n_few++;
	}
	rc = inline_group(a->inlining, w, n_wants, 1, progress);
	if (rc == 0) {
		a->below = below;
		a->n += (uint32_t)n_wants;
	}
	return rc;
}

int naming_inline_ahead(struct naming *n, struct progress *progress)
{
	struct profile_counts counts;
	size_t n_wants, end;
	struct want *w;
	int rc = 0;

	if (n->done - n->looked_ahead < AHEAD_LEAST && !n->few_wait)
		return 0;
	n->looked_ahead = n->done;
	n->few_wait = false;
	profile_counts_read(n->p, &counts);
	counts.n_locations = n->done;
	w = collect(n, &counts, true, &n_wants);
	for (size_t at = 0; at < n_wants && rc == 0; at = end) {
		end = end_of_group(w, n_wants, at);
		rc = group_ahead(n, w + at, end - at, n->done, progress);
	}
	free(w);
	return rc;
}

/* The last wants of a module. Debug information is large: one module's at a time. */
static int inline_rest(struct naming *n, const struct want *w, size_t n_wants,
		       const struct progress *progress)
{
	uint32_t m = w[0].module;
	struct inlining *kept = m < n->ahead.n ? n->ahead.at[m].inlining : NULL, *x = kept;
	int rc;

	if (!kept)
		x = inlining_new(n->p, (module_id){ m }, n->inlines.at[m], false);
	rc = inline_group(x, w, n_wants, 2, progress);
	if (!kept)
		inlining_free(x);
	forget_ahead(n, m);
	inlines_close(n->inlines.at[m]);
	return rc;
}

int naming_inline(struct naming *n, struct progress *progress)
{
	struct profile_counts counts;
	size_t n_wants, end;
	struct want *w;
	int rc = 0;

	/* What naming has not seen to yet is for the next time. */
	profile_counts_read(n->p, &counts);
	counts.n_locations = n->done;
	w = collect(n, &counts, true, &n_wants);
	for (size_t at = 0; at < n_wants && rc == 0; at = end) {
		end = end_of_group(w, n_wants, at);
		rc = inline_rest(n, w + at, end - at, progress);
	}
	free(w);
	for (size_t i = 0; i < n->ahead.n; i++) {
		forget_ahead(n, (uint32_t)i);
	}
	n->ahead_bytes = 0;
	if (rc == 0)
		n->inlined = n->done;
	return rc ? rc : state_debug_info(n);
}
