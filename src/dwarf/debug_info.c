/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which unit has an address, and answers for all addresses of a unit; see debug_info.h.
 *
 * Units say themselves where their code lies. .debug_aranges says it too, but not of every compiler's
 * units. So it is asked only where looking at all units means to unpack them all, and believed until
 * it does not know an address.
 */
#include "config.h"

#include "dwarf/debug_info.h"

#include "base/bisect.h"
#include "base/compare.h"
#include "base/mem.h"
#include "dwarf/debug_aranges.h"
#include "dwarf/debug_parts.h"
#include "dwarf/die_calls.h"
#include "dwarf/die_entry.h"
#include "dwarf/die_name.h"
#include "dwarf/die_ranges.h"
#include "dwarf/die_split.h"
#include "dwarf/libdw_units.h"
#include "dwarf/line_table.h"
#include "elf/build_id.h"
#include "elf/elf_file.h"

#include <dwarf.h>
#include <elf.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Stands for the units that our reader declined, whose addresses are not known. */
#define UNITS_DECLINED UINT32_MAX

/* Addresses [begin, end) that belong to unit number `of`. */
struct span {
	uint64_t begin, end;
	uint32_t of;
};

struct debug_info {
	struct debug_parts parts; /* the rest of its debug information */
	struct dwarf_file *file;
	struct die_index main, alt;
	VEC(uint64_t) units; /* offsets of those with code */
	VEC(uint64_t)
	declined;            /* offsets of those that our reader does not take; see libdw_units.h */
	VEC(uint64_t) tried; /* those that libdw was asked for because they could not be opened */
	char *path;          /* where libdw finds them; NULL: it is not asked; owned */
	bool declined_told;  /* what became of the declined ones was counted */
	bool partial;        /* these are what .debug_aranges says; units may be missing */
	VEC(struct span) all; /* sorted by begin */
	uint64_t widest;      /* longest of them: how far back a search must look */
	_Atomic int64_t work; /* steps that may still be taken */
	_Atomic uint64_t n_damaged;
	_Atomic uint64_t n_missing;
	_Atomic uint64_t n_by_libdw; /* units that libdw read, … */
	_Atomic uint64_t n_redeemed; /* … and of them those that count as damaged */
	pthread_mutex_t lock;        /* for giving back memory */
	bool kept; /* units will be wanted again, or by another one: no more of that */
};

struct debug_group {
	uint32_t unit;   /* in units */
	size_t first, n; /* in order */
};

struct debug_plan {
	const uint64_t *addresses; /* borrowed */
	VEC(struct debug_group) groups;
	size_t *order; /* indexes of addresses by unit and address; owned */
};

struct debug_reader {
	struct debug_info *d;
	struct die_reader r;
	struct die_split split;
	size_t max;                 /* frames for an address */
	struct debug_frame *frames; /* [max] */
	bool shared;                /* looked at a unit from another one */
	struct arena text;          /* names by libdw, of one group */
};

static int by_begin(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	return COMPARE(x->begin, y->begin) ?: COMPARE(x->end, y->end) ?: COMPARE(x->of, y->of);
}

/*
 * The narrowest span that holds address, or NULL; of equal ones the first unit's, as linkers let all units
 * that had a copy of a function claim the one that was kept.
 */
static const struct span *find_span(struct debug_info *d, uint64_t address)
{
	const struct span *best = NULL, *at = d->all.at;
	size_t low = 0;
	int64_t steps = 0;

	BISECT(low, d->all.n, i, at[i].begin <= address);
	while (low-- > 0 && address - at[low].begin < d->widest && steps++ < DEBUG_INFO_WORK_EACH) {
		if (address >= at[low].end)
			continue;
		if (!best || at[low].end - at[low].begin <= best->end - best->begin)
			best = &at[low];
	}
	return best;
}

/* die_range_take: of the unit that is to be the next. */
static void take_span(void *arg, uint64_t begin, uint64_t end)
{
	struct debug_info *d = arg;

	vec_push(&d->all, ((struct span){ begin, end, (uint32_t)d->units.n }));
	if (end - begin > d->widest)
		d->widest = end - begin;
}

/* The code of a unit. */
static void add_unit(struct debug_info *d, struct die_reader *r, uint64_t offset)
{
	struct die_abbrevs a;
	struct die_unit u;
	struct die entry;

	if (!die_unit_glance(r, d->file, offset, &a, &u, &entry)) {
		d->n_damaged++;
		vec_push(&d->declined, offset);
	} else if (die_has_code(&entry) && die_each_range(r, &u, &entry, take_span, d))
		vec_push(&d->units, offset);
	die_abbrevs_done(&a);
}

static int64_t steps_of(const struct dwarf_file *f)
{
	uint64_t n = 0;

	for (unsigned i = 0; f && i < N_DWARF_SECTIONS; i++)
		n += i == DWARF_STR || i == DWARF_LINE_STR ? 0 : f->section[i].n;
	return (int64_t)(n > INT64_MAX / DEBUG_INFO_WORK / 2 ? INT64_MAX / 2 : n * DEBUG_INFO_WORK);
}

static void sort_spans(struct debug_info *d)
{
	if (d->all.n > 0)
		qsort(d->all.at, d->all.n, sizeof(*d->all.at), by_begin);
}

/* Looks at all units. */
static void add_units(struct debug_info *d)
{
	struct die_reader r = { .main = NULL };

	d->partial = false;
	vec_clear(&d->units);
	vec_clear(&d->declined);
	vec_clear(&d->all);
	d->widest = 0;
	die_index_reach(&d->main, UINT64_MAX);
	r.work = steps_of(d->file);
	for (size_t i = 0; i < d->main.offsets.n && r.work > 0; i++)
		add_unit(d, &r, d->main.offsets.at[i]);
	for (size_t i = 0; i < d->main.declined.n; i++)
		vec_push(&d->declined, d->main.declined.at[i]);
	sort_spans(d);
}

/* arange_take: what one unit has comes in a row. */
static void take_arange(void *arg, uint64_t unit, uint64_t begin, uint64_t end)
{
	struct debug_info *d = arg;

	if (d->units.n == 0 || d->units.at[d->units.n - 1] != unit)
		vec_push(&d->units, unit);
	d->units.n--;
	take_span(d, begin, end);
	d->units.n++;
}

static struct debug_info *info_of(const char *path, struct dwarf_file *f)
{
	struct debug_info *d;

	if (!f)
		return NULL;
	d = xcalloc(1, sizeof(*d));
	debug_parts_add(&d->parts, path);
	d->file = f;
	pthread_mutex_init(&d->lock, NULL);
	die_index_begin(&d->main, f);
	if (f->alt)
		die_index_read(&d->alt, f->alt);
	d->partial = f->section[DWARF_INFO].packed && debug_aranges_each(f, take_arange, d);
	if (d->partial)
		sort_spans(d);
	else
		add_units(d);
	return d;
}

struct debug_info *debug_info_open(const char *path, const struct debug_parts *parts,
				   const struct build_id *want)
{
	const char *shared = parts ? parts->shared : NULL;
	struct debug_info *d = info_of(path, dwarf_file_open(path, shared, want));

	if (d && parts)
		debug_parts_copy(&d->parts, parts);
	/* libdw relocates nothing, as in modules of the kernel must be done. */
	if (d && elf_file_type(d->file->elf) != ET_REL)
		d->path = xstrdup(path);
	return d;
}

struct debug_info *debug_info_of(struct elf_file *elf)
{
	char *path = xstrdup(elf_file_name(elf));
	struct debug_info *d = info_of(path, dwarf_file_of(elf));

	free(path);
	return d;
}

void debug_info_free(struct debug_info *d)
{
	if (!d)
		return;
	die_index_done(&d->main);
	die_index_done(&d->alt);
	vec_done(&d->units);
	vec_done(&d->declined);
	vec_done(&d->tried);
	vec_done(&d->all);
	dwarf_file_close(d->file);
	free(d->path);
	pthread_mutex_destroy(&d->lock);
	debug_parts_done(&d->parts);
	free(d);
}

void debug_info_keep(struct debug_info *d)
{
	pthread_mutex_lock(&d->lock);
	d->kept = true;
	pthread_mutex_unlock(&d->lock);
}

uint64_t debug_info_n_damaged(struct debug_info *d)
{
	uint64_t n = d->n_damaged + d->main.n_damaged;

	n -= n < d->n_redeemed ? n : d->n_redeemed;
	return n + d->alt.n_damaged + d->file->n_unreadable;
}

uint64_t debug_info_n_by_libdw(struct debug_info *d)
{
	return d->n_by_libdw;
}

uint64_t debug_info_n_missing(struct debug_info *d)
{
	return d->n_missing;
}

/* An address of a plan that is being made. */
struct placed {
	uint64_t address;
	size_t which;
	uint32_t unit;
};

static int by_unit(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;

	return COMPARE(x->unit, y->unit) ?: COMPARE(x->address, y->address) ?:
	       COMPARE(x->which, y->which);
}

/* Where all are: from now on what units say, once .debug_aranges does not know one. */
static void look_at_more(struct debug_info *d, const uint64_t *addresses, size_t n)
{
	for (size_t i = 0; i < n && d->partial; i++) {
		if (!find_span(d, addresses[i]))
			add_units(d);
	}
}

struct debug_plan *debug_plan_new(struct debug_info *d, const uint64_t *addresses, size_t n)
{
	struct debug_plan *p = xcalloc(1, sizeof(*p));
	VEC(struct placed) placed = { 0 };

	look_at_more(d, addresses, n);
	for (size_t i = 0; i < n; i++) {
		const struct span *s = find_span(d, addresses[i]);

		if (s)
			vec_push(&placed, ((struct placed){ addresses[i], i, s->of }));
		else if (d->declined.n > 0 && d->path)
			vec_push(&placed, ((struct placed){ addresses[i], i, UNITS_DECLINED }));
	}
	if (placed.n > 0)
		qsort(placed.at, placed.n, sizeof(*placed.at), by_unit);
	p->addresses = addresses;
	p->order = xmalloc(placed.n * sizeof(*p->order));
	for (size_t i = 0; i < placed.n; i++) {
		p->order[i] = placed.at[i].which;
		if (i == 0 || placed.at[i].unit != placed.at[i - 1].unit)
			vec_push(&p->groups, ((struct debug_group){ placed.at[i].unit, i, 0 }));
		p->groups.at[p->groups.n - 1].n++;
	}
	vec_done(&placed);
	d->work = steps_of(d->file) + steps_of(d->file->alt) + (int64_t)n * DEBUG_INFO_WORK_EACH;
	return p;
}

void debug_plan_free(struct debug_plan *p)
{
	if (!p)
		return;
	vec_done(&p->groups);
	free(p->order);
	free(p);
}

size_t debug_plan_n_groups(const struct debug_plan *p)
{
	return p->groups.n;
}

/* die_reader.foreign: from now on, no memory of units is given back. */
static void note_shared(void *arg)
{
	struct debug_reader *r = arg;

	if (r->shared)
		return;
	r->shared = true;
	debug_info_keep(r->d);
}

struct debug_reader *debug_reader_new(struct debug_info *d, size_t max)
{
	struct debug_reader *r = xcalloc(1, sizeof(*r));

	r->d = d;
	r->max = max;
	r->frames = xcalloc(max, sizeof(*r->frames));
	arena_init(&r->text);
	r->r.main = &d->main;
	r->r.alt = d->alt.file ? &d->alt : NULL;
	r->r.foreign = note_shared;
	r->r.arg = r;
	return r;
}

const uint8_t *debug_reader_md5(const struct debug_reader *r, const char *path)
{
	return line_path_md5(&r->r, path);
}

void debug_reader_free(struct debug_reader *r)
{
	if (!r)
		return;
	r->d->n_missing += r->split.n_missing;
	die_reader_done(&r->r);
	die_split_done(&r->split);
	arena_done(&r->text);
	free(r->frames);
	free(r);
}

/* Units of one group, and what was found in them. */
struct answer {
	struct debug_reader *r;
	struct die_unit *head;  /* has the lines */
	struct die_unit *body;  /* has the functions: the same, or the split one */
	struct die_unit *files; /* has the names of files of calls */
	struct line_want *lines;
	struct call_want *wants;
	struct calls calls;
};

static struct debug_frame frame_of(const struct die_named *n)
{
	return (struct debug_frame){
		.linkage_name = n->linkage_name,
		.name = n->name,
		.function = (uint64_t)(n->file_number + 1) << 48 ^ n->offset,
		.declared = n->declared,
		.declared_line = n->declared_line,
		.lasting = n->file_number < 2,
		.entry = n,
	};
}

static struct call *named_call(struct answer *a, uint32_t at)
{
	struct call *c = &a->calls.all.at[at];

	if (!c->called)
		die_call_name(&a->r->r, a->body, a->files, c);
	return c;
}

/* How many calls there are around call number at, with itself. */
static size_t depth_of(const struct answer *a, uint32_t at)
{
	size_t n = 1;

	for (; at >= a->calls.n_functions; at = a->calls.all.at[at].parent)
		n++;
	return n;
}

/* The frames of address i of the group; how many. */
static size_t frames_of(struct answer *a, size_t i)
{
	struct debug_reader *r = a->r;
	uint32_t at = a->wants[i].call, line = a->lines[i].line;
	const char *file = line ? line_file_path(&r->r, a->head, a->lines[i].file) : NULL;
	size_t n = 0, past;

	if (a->wants[i].function == CALL_NONE) {
		r->frames[0] = (struct debug_frame){ .file = file, .line = line };
		return line ? 1 : 0;
	}
	/* Past max, inner frames give way; they are not even named. */
	past = depth_of(a, at);
	r->r.work -= (int64_t)past;
	for (past = past > r->max ? past - r->max : 0; past > 0; past--) {
		if (past == 1) {
			file = named_call(a, at)->file;
			line = a->calls.all.at[at].line;
		}
		at = a->calls.all.at[at].parent;
	}
	for (;; at = a->calls.all.at[at].parent) {
		struct call *c = named_call(a, at);

		r->frames[n] = frame_of(c->called);
		r->frames[n].file = file;
		r->frames[n++].line = line;
		if (at < a->calls.n_functions)
			return n;
		file = c->file;
		line = c->line;
	}
}

static void answer_unit(struct answer *a, const struct debug_plan *p, const struct debug_group *g,
			debug_take *take, void *arg)
{
	struct die_reader *r = &a->r->r;

	a->lines = xcalloc(g->n, sizeof(*a->lines));
	a->wants = xcalloc(g->n, sizeof(*a->wants));
	for (size_t i = 0; i < g->n; i++)
		a->lines[i].address = a->wants[i].address = p->addresses[p->order[g->first + i]];
	line_table_find(r, a->head, a->lines, g->n);
	if (die_calls_find(r, a->body, a->wants, g->n, &a->calls) != 0)
		r->n_damaged++;
	for (size_t i = 0; i < g->n; i++) {
		size_t n = frames_of(a, i);

		if (n > 0)
			take(arg, p->order[g->first + i], a->r->frames, n);
	}
	vec_done(&a->calls.all);
	free(a->lines);
	free(a->wants);
}

/* Gives back the unit's memory, unless another reader may be looking at it. */
static void give_back(struct debug_reader *r, const struct die_unit *u)
{
	struct debug_info *d = r->d;
	bool given;

	pthread_mutex_lock(&d->lock);
	given = !d->kept;
	if (given)
		lazy_drop(&d->file->section[DWARF_INFO], u->offset, u->end - u->offset);
	pthread_mutex_unlock(&d->lock);
	if (given || die_reader_full(&r->r))
		die_reader_empty(&r->r);
}

/* Counts what libdw made of units that were declined, each once; n_read of them it reads. */
static void count_declined(struct debug_info *d, const uint64_t *unit, uint32_t n_read)
{
	bool known = unit ? false : d->declined_told;

	pthread_mutex_lock(&d->lock);
	for (size_t i = 0; unit && i < d->tried.n; i++)
		known |= d->tried.at[i] == *unit;
	if (!known && unit) {
		vec_push(&d->tried, *unit);
		d->n_damaged += n_read == 0;
	} else if (!known && n_read > 0) {
		d->declined_told = true;
		d->n_redeemed = n_read;
	}
	d->n_by_libdw += known ? 0 : n_read;
	pthread_mutex_unlock(&d->lock);
}

/* The frames of one address, as our own reader would give them; how many. */
static size_t take_libdw(struct debug_reader *r, const struct libdw_frame *f, uint32_t n)
{
	uint32_t past = n > r->max ? n - (uint32_t)r->max : 0;

	for (uint32_t i = past; i < n; i++) {
		r->frames[i - past] = (struct debug_frame){
			.linkage_name = f[i].linkage_name,
			.name = f[i].name,
			.file = f[i].file ? line_path_keep(&r->r, f[i].file) : NULL,
			.line = f[i].line,
			.function = UINT64_C(0xfffe) << 48 ^ f[i].function,
			.declared = f[i].declared ? line_path_keep(&r->r, f[i].declared) : NULL,
			.declared_line = f[i].declared_line,
		};
	}
	return n - past;
}

/* Has libdw answer for a unit that our reader does not take, or for all of them (NULL). */
static void answer_by_libdw(struct debug_reader *r, const struct debug_plan *p,
			    const struct debug_group *g, const uint64_t *unit, debug_take *take,
			    void *arg)
{
	struct debug_info *d = r->d;
	struct libdw_ask q = { .path = d->path,
			       .units = unit ? unit : d->declined.at,
			       .n_units = unit ? 1 : d->declined.n };
	uint64_t *addresses = xcalloc(LIBDW_MOST, sizeof(*addresses));

	arena_done(&r->text);
	arena_init(&r->text);
	q.addresses = addresses;
	for (size_t at = 0; at < g->n; at += q.n) {
		const size_t *which = &p->order[g->first + at];
		struct libdw_answer *a;

		q.n = g->n - at < LIBDW_MOST ? g->n - at : LIBDW_MOST;
		for (size_t i = 0; i < q.n; i++)
			addresses[i] = p->addresses[which[i]];
		a = d->path ? libdw_units_answer(&q, &r->text) : NULL;
		count_declined(d, unit, a ? a->n_units : 0);
		for (size_t i = 0; a && i < q.n; i++)
			if (a->n_frames[i] > 0)
				take(arg, which[i], r->frames,
				     take_libdw(r, a->frame[i], a->n_frames[i]));
		free(a);
	}
	free(addresses);
}

void debug_reader_answer(struct debug_reader *r, const struct debug_plan *p, size_t group,
			 debug_take *take, void *arg)
{
	const struct debug_group *g = &p->groups.at[group];
	struct answer a = { .r = r };
	int64_t work = r->d->work;
	uint64_t damaged = r->r.n_damaged;

	if (g->unit == UNITS_DECLINED) {
		answer_by_libdw(r, p, g, NULL, take, arg);
		return;
	}
	r->r.work = work;
	r->r.own = NULL;
	a.head = work > 0 ? die_unit_open(&r->r, r->d->file, r->d->units.at[g->unit]) : NULL;
	if (!a.head) {
		if (work > 0)
			answer_by_libdw(r, p, g, &r->d->units.at[g->unit], take, arg);
		return;
	}
	r->r.own = a.head;
	if (die_is_skeleton(a.head))
		a.body = die_split_open(&r->split, &r->r, &r->d->parts, a.head);
	if (!a.body)
		a.body = a.head;
	a.files = a.body->line_offset == UINT64_MAX ? a.head : a.body;
	answer_unit(&a, p, g, take, arg);
	if (a.body != a.head)
		die_split_close(&r->split, &r->r, a.body);
	give_back(r, a.head);
	r->d->n_damaged += r->r.n_damaged - damaged;
	r->d->work -= work - r->r.work;
}

char *debug_info_scope(struct debug_reader *r, struct debug_frame *f)
{
	struct die_named around;
	char *path = f->entry ? die_scope_path(&r->r, f->entry, &around) : NULL;

	if (path && !f->declared) {
		f->declared = around.declared;
		f->declared_line = around.declared_line;
	}
	return path;
}
