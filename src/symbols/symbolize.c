/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Functions for locations; see symbolize.h.
 *
 * The locations without a name are sorted by module and address, so that each module's symbols are
 * read once and each symbol is written out once. The pen is held for one batch of them at a time.
 */
#include "config.h"

#include "symbols/symbolize.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/consulted_files.h"
#include "base/fmt.h"
#include "base/mem.h"
#include "base/task.h"
#include "elf/build_id.h"
#include "elf/demangle.h"
#include "profile/builder.h"
#include "symbols/interpreter.h"
#include "symbols/pending_lookups.h"
#include "symbols/resolver.h"
#include "symbols/search/debug_file_search.h"
#include "symbols/search/debuginfod_queue.h"
#include "symbols/space/dso.h"
#include "symbols/symbol_cache.h"
#include "symbols/symbol_source.h"
#include "symbols/symbolize_inlines.h"

#define BATCH          512
#define FACTS_MAX      20u
#define NAME_MAX_BYTES 4096 /* of a name that is no mangled one; the rest is cut */
#define OPEN_BYTES \
	(UINT64_C(64) << 20) /* of symbol tables; what has no room is read again if need be */

/* What is known of a module after naming. */
struct tally {
	uint64_t n_locations; /* looked up */
	uint64_t n_named;     /* of them, with a symbol */
	uint64_t n_begun;     /* without one, but it is known where their function begins */
	char *reason;         /* why not all; owned */
	bool asked;           /* servers were asked for its debug file, or will be */
	bool unverified;      /* see symbol_source_unverified() */
};

struct symbolize {
	struct profile *p;                 /* borrowed */
	capture_id capture;                /* whose facts are written */
	struct dso_table *dsos;            /* borrowed */
	const struct debug_file_search *f; /* borrowed */
	struct kernel *kernel;             /* shared by the kernel and its modules; owned */
	uint32_t done;                     /* locations below this were seen to */
	VEC(struct tally) tally;           /* by module_id */
	struct symbol_cache *sources;      /* what names modules; owned */
	struct symbolize_inlines *inlines; /* of those that have names; owned */
	struct pending_lookups waiting;    /* for debug files that are to be fetched */
	VEC(uint32_t) undescribed; /* modules that have names, and wait for what was inlined */
};

/* Answers that wait for the pen. */
struct batch {
	uint32_t location[BATCH]; /* location_id */
	uint32_t name[BATCH];     /* index into text; UINT32_MAX: none */
	uint32_t flags[BATCH];    /* FUNCTION_…, as text */
	char *text[BATCH];        /* names, each once; owned */
	const char *file[BATCH];  /* where they are declared; the source's, or NULL */
	uint32_t line[BATCH];     /* in file */
	size_t n, n_text;
};

struct symbolize *symbolize_new(struct profile *p, capture_id c, struct dso_table *dsos,
				const struct debug_file_search *f)
{
	struct symbolize *n = xcalloc(1, sizeof(*n));

	n->p = p;
	n->capture = c;
	n->dsos = dsos;
	n->f = f;
	n->kernel = kernel_new();
	n->sources = symbol_cache_new(OPEN_BYTES);
	n->inlines = symbolize_inlines_new(p, c);
	return n;
}

void symbolize_free(struct symbolize *n)
{
	if (!n)
		return;
	for (size_t i = 0; i < n->tally.n; i++)
		free(n->tally.at[i].reason);
	symbol_cache_free(n->sources);
	vec_done(&n->tally);
	symbolize_inlines_free(n->inlines);
	pending_lookups_done(&n->waiting);
	vec_done(&n->undescribed);
	kernel_free(n->kernel);
	free(n);
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

static int hand_in(struct symbolize *n, module_id m, struct batch *b)
{
	uint32_t function[BATCH], unnamed = ID_NONE;
	string_id no_file = { 0 };
	int r;

	builder_begin(n->p);
	for (size_t i = 0; i < b->n_text; i++) {
		string_id name = build_cstring(n->p, b->text[i]);

		string_id file = b->file[i] ? build_cstring(n->p, b->file[i]) : no_file;

		/* A name that did not fit. */
		if (name.v == 0 && *b->text[i] != '\0')
			function[i] = ID_NONE;
		else
			function[i] =
				build_function(n->p, name, m, b->flags[i], file, b->line[i]).v;
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
		if (f.v != ID_NONE)
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

/*
 * What names an address. Handlers of signals return to the beginning of a function that nobody calls: what is taken for
 * a return address and made 1 less lies before it, mostly in no function.
 */
static enum name_form find_name(struct symbol_source *s, uint64_t address, const char **name)
{
	static const char *const trampolines[] = { "__restore_rt", "__restore",
						   "__kernel_rt_sigreturn",
						   "__default_rt_sa_restorer" };
	enum name_form form = symbol_source_find(s, address, name);
	const char *next;

	if (form != NAME_NONE || symbol_source_find(s, address + 1, &next) == NAME_NONE)
		return form;
	for (size_t i = 0; i < sizeof(trampolines) / sizeof(*trampolines); i++)
		if (strcmp(next, trampolines[i]) == 0) {
			*name = next;
			return NAME_PLAIN;
		}
	return NAME_NONE;
}

/* What is at an address. */
struct called {
	enum name_form form; /* NAME_NONE: without a name */
	const char *name;    /* the source's */
	bool begun;          /* without one, but its function begins */
	uint64_t begin;      /* here */
};

static struct called look_up(const struct symbolize *n, struct symbol_source *s, uint64_t address)
{
	struct called c = { .name = NULL };

	c.form = find_name(s, address, &c.name);
	c.begun = c.form == NAME_NONE && !n->f->options->addresses &&
		  symbol_source_begin(s, address, &c.begin);
	return c;
}

static bool same_called(const struct called *a, const struct called *b)
{
	return a->form == b->form && a->name == b->name && a->begun == b->begun &&
	       (!a->begun || a->begin == b->begin);
}

/* Puts what is at an address of the module among the batch's names. */
static void add_text(struct symbolize *n, module_id m, struct symbol_source *s, uint64_t address,
		     const struct called *c, struct batch *b)
{
	size_t i = b->n_text++;

	b->line[i] = 0;
	b->file[i] = NULL;
	if (c->begun) {
		b->flags[i] = FUNCTION_UNRESOLVED | FUNCTION_BEGIN;
		b->text[i] = xasprintf("[%s+0x%" PRIx64 "]",
				       profile_string(n->p, profile_module(n->p, m)->name, NULL),
				       c->begin);
		return;
	}
	b->flags[i] = 0;
	b->file[i] = symbol_source_declared(s, address, &b->line[i]);
	b->text[i] = write_name(c->name, c->form);
}

/* Names the wants of one module; they are sorted by address. Of a full profile's, those whose names fit. */
static int name_module(struct symbolize *n, struct symbol_source *s, const struct want *w,
		       size_t n_wants, struct tally *t, const struct progress *progress)
{
	struct batch *b = xcalloc(1, sizeof(*b));
	module_id m = { w[0].module };
	struct called last = { .form = NAME_NONE };
	int r = 0;

	for (size_t i = 0; i < n_wants && r != -ECANCELED; i++) {
		struct called c = look_up(n, s, w[i].address);
		bool has_text = c.form != NAME_NONE || c.begun;

		if (has_text && (b->n_text == 0 || !same_called(&c, &last)))
			add_text(n, m, s, w[i].address, &c, b);
		if (has_text)
			last = c;
		t->n_named += c.form != NAME_NONE;
		t->n_begun += c.begun;
		b->location[b->n] = w[i].location;
		b->name[b->n++] = has_text ? (uint32_t)b->n_text - 1 : UINT32_MAX;
		t->n_locations++;
		if (b->n < BATCH && i + 1 < n_wants)
			continue;
		r = hand_in(n, m, b);
		if (progress_cancelled(progress))
			r = -ECANCELED;
	}
	free(b);
	return r;
}

/* What names a module, opened unless it is open; f says where to look. */
static struct symbol_source *open_source(struct symbolize *n, const struct debug_file_search *f,
					 const struct dso *d, uint32_t m)
{
	struct symbol_source *s = symbol_cache_find(n->sources, m);
	struct dso main_kernel;

	while (n->tally.n <= m)
		vec_push(&n->tally, ((struct tally){ .reason = NULL }));
	if (s)
		return s;
	s = symbol_source_open(f, d, n->kernel,
			       dso_table_kernel(n->dsos, &main_kernel) ? &main_kernel : NULL);
	symbol_cache_add(n->sources, m, s);
	return s;
}

static void take_inlines(struct symbolize *n, uint32_t m, struct symbol_source *s)
{
	if (!symbolize_inlines_has(n->inlines, m))
		symbolize_inlines_take(n->inlines, m, symbol_source_take_inlines(s));
}

/* The first name of a location is final: those that a debug file may name better have to wait. */
static bool has_to_wait(const struct symbolize *n, uint32_t m, const struct symbol_source *s)
{
	return n->f->options->debug_servers && !n->tally.at[m].asked &&
	       symbol_source_lacks_debug_file(s);
}

/* Names that are good as they are do not wait for what was inlined. */
static void await_inlines(struct symbolize *n, uint32_t m, const struct symbol_source *s)
{
	bool lacks = symbol_source_lacks_inlines(s) ||
		     symbolize_inlines_lacks_shared(n->inlines, m);

	if (!n->f->options->debug_servers || n->f->options->no_inlines || n->tally.at[m].asked ||
	    !lacks)
		return;
	n->tally.at[m].asked = true;
	vec_push(&n->undescribed, m);
}

static int name_group(struct symbolize *n, const struct want *w, size_t n_wants,
		      const struct progress *progress)
{
	uint32_t m = w[0].module;
	struct symbol_source *s;
	struct tally *t;
	struct dso d;
	int r;

	if (!dso_table_of_module(n->dsos, (module_id){ m }, &d))
		return 0;
	s = open_source(n, n->f, &d, m);
	if (has_to_wait(n, m, s)) {
		for (size_t i = 0; i < n_wants; i++)
			vec_push(&n->waiting.all, w[i]);
		return 0;
	}
	t = &n->tally.at[m];
	take_inlines(n, m, s);
	r = name_module(n, s, w, n_wants, t, progress);
	await_inlines(n, m, s);
	t->unverified = symbol_source_unverified(s);
	free(t->reason);
	t->reason = xstrdup(symbol_source_reason(s));
	/* Maps of JITs grow. */
	if (d.kind == DSO_JIT)
		symbol_cache_close(n->sources, m);
	else
		symbol_cache_used(n->sources, m);
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

	return COMPARE(b->n, a->n) ?: COMPARE(a->module, b->module);
}

static void state_losses(struct symbolize *n, const struct loss *loss, size_t n_losses)
{
	struct profile *p = n->p;

	for (size_t i = 0; i < n_losses && i < FACTS_MAX; i++) {
		const struct tally *t = &n->tally.at[loss[i].module];
		const struct module *m = profile_module(p, (module_id){ loss[i].module });

		char missing[FMT_SIZE], all[FMT_SIZE], apart[FMT_SIZE];
		char *begun = xasprintf("; unwind tables tell the functions of %s apart",
					fmt_count(apart, (int64_t)t->n_begun));

		build_fact(p, n->capture, "symbols", profile_string(p, m->name, NULL), FACT_MISSING,
			   "%s of %s addresses have no name: %s%s",
			   fmt_count(missing, (int64_t)loss[i].n),
			   fmt_count(all, (int64_t)t->n_locations), t->reason,
			   t->n_begun > 0 ? begun : "");
		free(begun);
	}
}

static bool is_silent(const struct symbolize *n, size_t module, struct interpreter *v)
{
	const struct module *m = profile_module(n->p, (module_id){ (uint32_t)module });

	return n->tally.at[module].n_locations > 0 &&
	       interpreter_is_silent(profile_string(n->p, m->name, NULL), v);
}

/* What they interpret has no frames: each version once, of which the program and its library are modules. */
static void state_silent(struct symbolize *n)
{
	struct interpreter v, other;

	for (size_t i = 0; i < n->tally.n; i++) {
		bool said = false;
		char name[32];

		if (!is_silent(n, i, &v))
			continue;
		for (size_t k = 0; k < i && !said; k++)
			said = is_silent(n, k, &other) && other.major == v.major &&
			       other.minor == v.minor;
		if (said)
			continue;
		snprintf(name, sizeof(name), "Python %d.%d", v.major, v.minor);
		build_fact(
			n->p, n->capture, "symbols", name, FACT_MISSING,
			"functions written in Python are not seen, only the interpreter's own: before "
			"3.12 it tells nobody which one it is in; newer ones do with python3 -X perf");
	}
}

static int state_facts(struct symbolize *n)
{
	VEC(struct loss) loss = { 0 };
	uint64_t n_all = 0, n_named = 0;
	size_t n_modules = 0, n_unverified = 0;
	char named[FMT_SIZE], all[FMT_SIZE];

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
			   "%s of %s addresses in %zu module%s have names",
			   fmt_count(named, (int64_t)n_named), fmt_count(all, (int64_t)n_all),
			   n_modules, n_modules == 1 ? "" : "s");
	if (n_unverified > 0)
		build_fact(
			n->p, n->capture, "symbols", "unverified", FACT_PLAIN,
			"%zu module%s recorded without build-id; files were used as they are now",
			n_unverified, n_unverified == 1 ? "" : "s");
	state_silent(n);
	state_losses(n, loss.at, loss.n);
	vec_done(&loss);
	return builder_end(n->p);
}

/* Published locations without a function. */
static void collect(const struct symbolize *n, uint32_t end, struct pending_lookups *wants)
{
	struct location_columns c;

	profile_locations(n->p, &c);
	for (uint32_t i = n->done; i < end; i++)
		if (c.module[i] != 0 && location_function(&c, i) == ID_NONE)
			vec_push(&wants->all, ((struct want){ .address = c.address[i],
							      .module = c.module[i],
							      .location = i }));
	pending_lookups_sort(wants);
}

int symbolize_run(struct symbolize *n, struct progress *progress)
{
	struct profile_counts counts;
	struct pending_lookups w = { 0 };
	int rc = 0, facts = 0;

	profile_counts_read(n->p, &counts);
	collect(n, counts.n_locations, &w);
	for (size_t at = 0, n_wants; at < w.all.n && rc != -ECANCELED; at += n_wants) {
		n_wants = pending_lookups_of_module(&w, at);
		rc = name_group(n, w.all.at + at, n_wants, progress);
	}
	if (rc != -ECANCELED)
		n->done = counts.n_locations;
	if (w.all.n > 0)
		facts = state_facts(n);
	pending_lookups_done(&w);
	return rc ? rc : facts;
}

/* Opens what names a module anew. */
static void reopen(struct symbolize *n, const struct debug_file_search *f, const struct dso *d,
		   uint32_t m)
{
	symbol_cache_close(n->sources, m);
	symbolize_inlines_drop(n->inlines, m);
	take_inlines(n, m, open_source(n, f, d, m));
}

/* Asks for one module's file, and opens what names the module anew. */
static void fetch_one(struct symbolize *n, struct debuginfod_queue *g, uint32_t m)
{
	const struct symbol_source *s = symbol_cache_find(n->sources, m);
	bool lacks_file = s && symbol_source_lacks_file(s);
	struct debug_file_search with = *n->f;
	char *path = NULL;
	struct dso d;
	int rc;

	n->tally.at[m].asked = true;
	debuginfod_queue_next(g, (module_id){ m });
	if (!dso_table_of_module(n->dsos, (module_id){ m }, &d))
		return;
	rc = debuginfod_queue_debug_file(g, &d.build_id, lacks_file, &path);
	/* a server may have it another day, and stacks are walked through programs from the start */
	if (rc != 0 || lacks_file)
		consulted_files_doubt(n->f->options->consulted);
	with.fetched = path;
	if (rc == 0)
		reopen(n, &with, &d, m);
	/* What dwz moved out is found where it is kept. */
	if ((rc == 0 || rc == -ENOENT) && symbolize_inlines_lacks_shared(n->inlines, m) &&
	    debuginfod_queue_shared(g, symbolize_inlines_lacks_shared(n->inlines, m)))
		reopen(n, &with, &d, m);
	free(path);
}

/* Files for those that have no names yet. */
static int fetch_for_names(struct symbolize *n, struct debuginfod_queue *g,
			   struct progress *progress)
{
	const struct pending_lookups *w = &n->waiting;
	int rc = 0;

	for (size_t at = 0, n_wants; at < w->all.n && rc == 0; at += n_wants) {
		n_wants = pending_lookups_of_module(w, at);
		fetch_one(n, g, w->all.at[at].module);
		rc = progress_cancelled(progress)
			     ? -ECANCELED
			     : name_group(n, w->all.at + at, n_wants, progress);
	}
	return rc;
}

int symbolize_fetch(struct symbolize *n, struct progress *progress)
{
	size_t n_modules = n->undescribed.n;
	struct debuginfod_queue *g;
	int rc;

	if (n->waiting.all.n == 0 && n_modules == 0)
		return 0;
	pending_lookups_sort(&n->waiting);
	for (size_t at = 0; at < n->waiting.all.n; at += pending_lookups_of_module(&n->waiting, at))
		n_modules++;
	g = debuginfod_queue_new(n->p, n->capture, n_modules, progress);
	rc = fetch_for_names(n, g, progress);
	for (size_t i = 0; i < n->undescribed.n && rc == 0; i++) {
		fetch_one(n, g, n->undescribed.at[i]);
		symbol_cache_close(n->sources, n->undescribed.at[i]);
		rc = progress_cancelled(progress) ? -ECANCELED : 0;
	}
	vec_clear(&n->waiting.all);
	vec_clear(&n->undescribed);
	if (rc == 0)
		debuginfod_queue_state(g);
	debuginfod_queue_free(g);
	return rc < 0 ? rc : state_facts(n);
}

int symbolize_inline_ahead(struct symbolize *n, bool *few, struct progress *progress)
{
	return symbolize_inlines_ahead(n->inlines, n->done, few, progress);
}

/* What naming has not seen to yet is for the next time. */
int symbolize_inline(struct symbolize *n, struct progress *progress)
{
	return symbolize_inlines_run(n->inlines, n->done, progress);
}
