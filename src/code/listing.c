/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Of each module with addresses of the function: the functions by symbol that hold them are disassembled
 * whole, and all their instructions are asked for in debug information at once. Of functions into which the
 * one that is annotated was inlined, only its own instructions stay.
 */
#include "config.h"

#include "code/listing.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "base/compare.h"
#include "base/fmt.h"
#include "base/hash.h"
#include "base/task.h"
#include "code/code_image.h"
#include "code/disassembler.h"
#include "elf/demangle.h"
#include "query/analysis.h"

#define MODULES_MAX 32u /* whose files are opened */
#define BLOCKS_MAX  64u /* functions that are disassembled */

/* Bytes of code, and instructions, of all blocks together: each instruction takes some 130 bytes, and twice that while lists grow. */
#define CODE_MOST        (2 * CODE_IMAGE_MOST)
#define CODES_MOST       ((size_t)1 << 20)
/* No instruction is longer. */
#define INSTRUCTION_MOST 16u

/* A function by its symbol, with addresses of ours. */
struct host {
	struct code_extent at;
	uint32_t location; /* one of those addresses */
	int64_t weight;    /* total of column 0 of all of them */
	bool physical;     /* it is the function itself */
};

/* What one module is read with. */
struct reading {
	struct listing *l;
	struct code_image *image;
	module_id module;
	VEC(struct host) hosts;
	VEC(uint64_t) asked; /* addresses of instructions */
	size_t first;        /* instruction of the first of them */
	VEC(bool) physical; /* [asked.n] of the function itself, not one that it was inlined into */
	VEC(bool) ours;     /* [asked.n] of the function, as debug information says */
	bool of_side[N_SIDES]; /* which sides of a comparison have it; without one, SIDE_BEFORE */
};

static bool same_path(const void *things, uint32_t value, const void *key)
{
	const struct listing *l = things;

	return strcmp(l->paths.at[value].path, key) == 0;
}

uint32_t listing_path(struct listing *l, const char *path)
{
	size_t n = strlen(path);
	uint64_t hash = hash_bytes(path, n);
	uint32_t at = map_find(&l->by_path, hash, same_path, l, path);
	struct listing_path p = { .path = NULL };

	if (at != MAP_NONE)
		return at;
	p.path = arena_strndup(&l->a->texts, path, n);
	at = (uint32_t)l->paths.n;
	map_add(&l->by_path, hash, at);
	vec_push(&l->paths, p);
	return at;
}

static const char *keep(struct listing *l, char *text)
{
	char *kept = text ? arena_strndup(&l->a->texts, text, strlen(text)) : NULL;

	free(text);
	return kept;
}

static uint32_t function_of(const struct listing *l, uint32_t location)
{
	struct location_columns c;

	profile_locations(l->of->profile, &c);
	return location_function(&c, location);
}

/* Is the function at a location, whatever was inlined there, the one that is annotated? */
static bool is_physical(const struct listing *l, uint32_t location, uint32_t module)
{
	return groups_of_frame(l->keys, function_of(l, location), module) == l->key;
}

static const char *function_name(const struct listing *l, uint32_t location)
{
	uint32_t f = function_of(l, location);

	if (f == ID_NONE)
		return "";
	return profile_string(l->of->profile,
			      profile_function(l->of->profile, (function_id){ f })->name, NULL);
}

static int by_weight(const void *x, const void *y)
{
	const struct host *a = x, *b = y;

	if (a->physical != b->physical)
		return a->physical ? -1 : 1;
	return COMPARE(b->weight, a->weight) ?: COMPARE(a->at.begin, b->at.begin);
}

/* The functions by symbol of the addresses from..to, which are in order. */
static void find_hosts(struct reading *r, uint32_t from, uint32_t to)
{
	const struct code_weights *w = r->l->weights;
	struct code_extent at = { .begin = 0 };

	for (uint32_t i = from; i < to; i++) {
		const struct code_address *c = &w->address[i];
		struct host *h = r->hosts.n > 0 ? &r->hosts.at[r->hosts.n - 1] : NULL;
		int64_t total = w->address_total[(size_t)i * w->n_columns];

		if (h && c->address >= h->at.begin && c->address < h->at.end) {
			h->weight += total;
			continue;
		}
		if (!code_image_function(r->image, c->address, &at)) {
			r->l->a->n_unplaced++;
			continue;
		}
		vec_push(&r->hosts,
			 ((struct host){ .at = at,
					 .location = c->location,
					 .weight = total,
					 .physical = is_physical(r->l, c->location, c->module) }));
	}
	if (r->hosts.n > 0)
		qsort(r->hosts.at, r->hosts.n, sizeof(*r->hosts.at), by_weight);
}

/* False: where it leads to is filled in when the code is loaded, and is another instruction now. */
static bool add_instruction(struct reading *r, const struct decoded *d, uint64_t address,
			    uint64_t shown)
{
	bool as_it_is;
	struct listing *l = r->l;
	struct annotation_code c = {
		.shown = shown,
		.text = arena_strndup(&l->a->texts, d->text, strlen(d->text)),
		.source = ANNOTATION_NONE,
		.target = ANNOTATION_NONE,
		.block = (uint32_t)l->a->blocks.n,
		.numbers = ANNOTATION_NONE,
		.flow = d->flow,
	};
	uint64_t leads = d->target != CODE_NO_TARGET ? d->target : d->refers;

	c.note = keep(l, code_image_link(r->image, address, d->n_bytes));
	as_it_is = c.note == NULL;
	if (as_it_is && leads != CODE_NO_TARGET)
		c.note = keep(l, code_image_note(r->image, leads));
	vec_push(&l->a->code, c);
	vec_push(&l->own, ((struct listing_own){ .path = ANNOTATION_NONE }));
	vec_push(&l->bytes, d->n_bytes);
	vec_push(&l->address, address);
	vec_push(&r->asked, address);
	return as_it_is;
}

/* Jumps within the block get their target's number: targets were put there as shown addresses. */
static void link_jumps(struct listing *l, uint32_t first, const uint64_t *targets)
{
	uint32_t n = (uint32_t)l->a->code.n;

	for (uint32_t i = first; i < n; i++) {
		struct annotation_code *c = &l->a->code.at[i];
		uint32_t low = first;

		if (i > first && (c[-1].flow == FLOW_JUMP || c[-1].flow == FLOW_RETURN ||
				  c[-1].flow == FLOW_BRANCH))
			c->is_target = true;
		if (targets[i - first] == CODE_NO_TARGET || c->flow == FLOW_CALL)
			continue;
		BISECT(low, n, k, l->a->code.at[k].shown < targets[i - first]);
		if (low == n || l->a->code.at[low].shown != targets[i - first])
			continue;
		c->target = low;
		c->note = NULL;
		l->a->code.at[low].is_target = true;
	}
}

/* How much of a function's code there is room for, and what is to be said of the rest. */
static uint64_t room_for(struct listing *l, uint64_t n_bytes, struct annotation_block *b)
{
	uint64_t left = CODE_MOST - l->n_code_bytes,
		 most = left < CODE_IMAGE_MOST ? left : CODE_IMAGE_MOST;
	char size[FMT_SIZE];

	if (n_bytes <= most) {
		l->n_code_bytes += n_bytes;
		return n_bytes;
	}
	if (most < INSTRUCTION_MOST) {
		b->why = "not shown: the functions before it have 8 MB of code, and no more is";
		return 0;
	}
	l->n_code_bytes += most;
	b->warning = most == CODE_IMAGE_MOST
			     ? "only the first 4 MB of this function are shown"
			     : keep(l, xasprintf("only the first %s of this function are shown",
						 fmt_bytes(size, (int64_t)most)));
	return most;
}

/* Instructions of one function, as a block. */
static void disassemble(struct reading *r, struct disassembler *dis, const struct host *h)
{
	struct listing *l = r->l;
	uint64_t n_bytes = h->at.end - h->at.begin, shown, address = h->at.begin;
	struct annotation_block b = { .first = (uint32_t)l->a->code.n,
				      .inlined = !h->physical,
				      .path = "" };
	const struct module *m = profile_module(l->of->profile, r->module);
	VEC(uint64_t) targets = { 0 };
	const uint8_t *at;
	uint8_t *code;
	char size[FMT_SIZE];
	struct decoded d;
	size_t left;

	n_bytes = room_for(l, n_bytes, &b);
	b.function = h->at.name ? keep(l, demangle(h->at.name, DEMANGLE_FULL)) : NULL;
	if (!b.function)
		b.function = h->at.name ? keep(l, xstrdup(h->at.name))
					: function_name(l, h->location);
	b.module = profile_string(l->of->profile, m->name, NULL);
	b.path = keep(l, xstrdup(code_image_path(r->image)));
	if (code_image_unverified(r->image) && !b.warning)
		b.warning = keep(
			l, xasprintf("recorded without build-id: %s is used as it is now", b.path));
	code = b.why ? NULL : code_image_read(r->image, h->at.begin, (size_t)n_bytes);
	if (!code && !b.why)
		b.why = keep(
			l, xasprintf("the code of %s cannot be read from %s", b.function, b.path));
	at = code;
	left = code ? (size_t)n_bytes : 0;
	shown = code_image_shown(r->image, h->at.begin);
	while (l->a->code.n < CODES_MOST && disassembler_next(dis, &at, &left, &shown, &d)) {
		bool as_it_is = add_instruction(r, &d, address, d.address);

		vec_push(&r->physical, h->physical);
		vec_push(&r->ours, h->physical);
		vec_push(&targets, as_it_is ? d.target : CODE_NO_TARGET);
		address += d.n_bytes;
	}
	if (left > 0)
		b.warning = keep(l, xasprintf("only the first %s of this function are shown, as a "
					      "listing has a million instructions at most",
					      fmt_bytes(size, at - code)));
	link_jumps(l, b.first, targets.at);
	b.n = (uint32_t)l->a->code.n - b.first;
	vec_push(&l->a->blocks, b);
	vec_done(&targets);
	free(code);
}

/* Which frame of a position is the function's own, outermost first; n: none. */
static size_t own_frame(const struct reading *r, bool physical, const struct code_frame *f,
			size_t n)
{
	const char *label = r->l->keys->key[r->l->key].label;

	if (physical)
		return 0;
	for (size_t i = 1; i < n; i++)
		if (f[i].name && strcmp(f[i].name, label) == 0)
			return i;
	return n;
}

static uint32_t path_of(struct reading *r, const struct code_frame *f)
{
	uint32_t at = listing_path(r->l, f->file);
	struct source_program *p = source_programs_note(&r->l->paths.at[at].programs, r->module.v,
							r->image, f->md5);

	memcpy(p->of_side, r->of_side, sizeof(p->of_side));
	return at;
}

/* code_take */
static void take_frames(void *arg, size_t which, const struct code_frame *frames, size_t n)
{
	struct reading *r = arg;
	struct listing *l = r->l;
	struct annotation_code *c = &l->a->code.at[r->first + which];
	size_t k = own_frame(r, r->physical.at[which], frames, n), last = n - 1;

	r->ours.at[which] = k < n;
	if (k >= n)
		return;
	if (!l->of->lens.inlines)
		last = 0;
	if (frames[k].file && frames[k].line > 0)
		l->own.at[r->first + which] = (struct listing_own){ path_of(r, &frames[k]),
								    frames[k].line };
	if (frames[last].file && frames[last].line > 0) {
		uint32_t path = path_of(r, &frames[last]); /* may move the paths */

		c->path = l->paths.at[path].path;
		c->line = frames[last].line;
	}
	if (last > k) {
		const char *name = frames[last].name;

		c->inlined = name ? arena_strndup(&l->a->texts, name, strlen(name)) : "[inlined]";
	}
}

/* Takes out instructions of other functions; blocks and targets follow. */
static void drop_others(struct reading *r, size_t first_block)
{
	struct listing *l = r->l;
	struct annotation *a = l->a;
	size_t n = r->first;
	uint32_t *now = xmalloc((r->asked.n + 1) * sizeof(*now));

	for (size_t i = 0; i < r->asked.n; i++) {
		size_t from = r->first + i;

		now[i] = ANNOTATION_NONE;
		if (!r->ours.at[i])
			continue;
		now[i] = (uint32_t)n;
		a->code.at[n] = a->code.at[from];
		l->own.at[n] = l->own.at[from];
		l->bytes.at[n] = l->bytes.at[from];
		l->address.at[n] = l->address.at[from];
		n++;
	}
	a->code.n = l->own.n = l->bytes.n = l->address.n = n;
	for (size_t i = r->first; i < n; i++)
		if (a->code.at[i].target != ANNOTATION_NONE)
			a->code.at[i].target = now[a->code.at[i].target - r->first];
	n = r->first;
	for (size_t b = first_block; b < a->blocks.n; b++) {
		a->blocks.at[b].first = (uint32_t)n;
		while (n < a->code.n && a->code.at[n].block == b)
			n++;
		a->blocks.at[b].n = (uint32_t)n - a->blocks.at[b].first;
	}
	free(now);
}

/* A block without code, that says why. */
static void add_reason(struct reading *r, const char *why, uint32_t location)
{
	struct listing *l = r->l;
	const struct module *m = profile_module(l->of->profile, r->module);

	vec_push(&l->a->blocks, ((struct annotation_block){
					.function = function_name(l, location),
					.module = profile_string(l->of->profile, m->name, NULL),
					.path = "",
					.why = keep(l, xstrdup(why)),
					.first = (uint32_t)l->a->code.n,
				}));
}

/* Both do not fit into the one file. */
#ifdef ONE_FILE
#define DISASSEMBLED \
	"the one file to copy has its own processor's alone, an installed proftop x86 and AArch64"
#else
#define DISASSEMBLED "x86 and AArch64 are"
#endif

static void disassemble_hosts(struct reading *r)
{
	struct listing *l = r->l;
	uint16_t machine = code_image_machine(r->image);
	struct disassembler *dis = code_image_swapped(r->image)
					   ? NULL
					   : disassembler_new(machine, code_image_is64(r->image));
	char name[32], *why;

	if (!dis) {
		why = xasprintf("code of %s%s is not disassembled here: " DISASSEMBLED,
				disassembler_machine(machine, name),
				code_image_swapped(r->image) ? " of the other byte order" : "");
		add_reason(r, why, r->hosts.at[0].location);
		free(why);
		return;
	}
	for (size_t i = 0; i < r->hosts.n && l->a->blocks.n < BLOCKS_MAX; i++)
		disassemble(r, dis, &r->hosts.at[i]);
	disassembler_free(dis);
}

static bool has_side(const struct listing *l, const int64_t *numbers, enum side side)
{
	const struct lens *lens = &l->of->lens;
	uint32_t first = lens_side(lens, side);

	for (uint32_t run = 0; run < lens->sides.n_runs[side]; run++)
		if (numbers[first + run] != 0)
			return true;
	return false;
}

/* Which sides of a comparison took part in the addresses from..to, which are of one module. */
static void find_sides(struct reading *r, uint32_t from, uint32_t to)
{
	const struct code_weights *w = r->l->weights;

	if (!r->l->of->diff) {
		r->of_side[SIDE_BEFORE] = true;
		return;
	}
	for (uint32_t i = from; i < to; i++)
		for (int side = 0; side < N_SIDES; side++)
			r->of_side[side] |= has_side(
				r->l, w->address_total + (size_t)i * w->n_columns, (enum side)side);
}

/* The addresses from..to of one module. */
static int read_module(struct listing *l, uint32_t from, uint32_t to, struct progress *progress)
{
	const struct code_address *c = &l->weights->address[from];
	struct reading r = { .l = l, .module = { c->module }, .first = l->a->code.n };
	size_t first_block = l->a->blocks.n;
	int rc = 0;

	if (l->weights->address[to - 1].address == 0) {
		add_reason(&r, "the file keeps no addresses, so that its code is not known",
			   c->location);
		return 0;
	}
	find_sides(&r, from, to);
	r.image = code_image_open(l->of->profile, r.module, l->symbols,
				  function_name(l, c->location), c->address);
	if (code_image_why(r.image)) {
		add_reason(&r, code_image_why(r.image), c->location);
	} else {
		find_hosts(&r, from, to);
		if (r.hosts.n > 0)
			disassemble_hosts(&r);
		else
			add_reason(&r,
				   "no symbol or unwind table says where its function begins and "
				   "ends",
				   c->location);
		rc = code_image_frames(r.image, r.asked.at, r.asked.n, take_frames, &r, progress);
		if (rc == 0)
			drop_others(&r, first_block);
	}
	for (size_t i = first_block; l->of->diff && i < l->a->blocks.n; i++)
		memcpy(l->a->blocks.at[i].of_side, r.of_side, sizeof(r.of_side));
	vec_done(&r.hosts);
	vec_done(&r.asked);
	vec_done(&r.physical);
	vec_done(&r.ours);
	code_image_free(r.image);
	return rc;
}

/* The instruction of a module's block that has an address, or ANNOTATION_NONE. */
static uint32_t find_instruction(const struct listing *l, size_t first, size_t n, uint64_t address)
{
	size_t low = first;

	BISECT(low, first + n, i, l->address.at[i] <= address);
	if (low == first)
		return ANNOTATION_NONE;
	low--;
	return address - l->address.at[low] < l->bytes.at[low] ? (uint32_t)low : ANNOTATION_NONE;
}

/* Puts what addresses cost to the instructions that they are in: return addresses less one lie inside. */
static void weigh_module(struct listing *l, uint32_t from, uint32_t to, size_t first_block)
{
	const struct code_weights *w = l->weights;
	struct annotation *a = l->a;

	for (uint32_t i = from; i < to; i++) {
		uint32_t at = ANNOTATION_NONE;
		int64_t *numbers;

		for (size_t b = first_block; b < a->blocks.n && at == ANNOTATION_NONE; b++)
			at = find_instruction(l, a->blocks.at[b].first, a->blocks.at[b].n,
					      w->address[i].address);
		if (at == ANNOTATION_NONE)
			continue;
		if (a->code.at[at].numbers == ANNOTATION_NONE)
			a->code.at[at].numbers = annotation_add_numbers(a);
		numbers = a->numbers.at + (size_t)a->code.at[at].numbers * 2 * a->n_columns;
		for (uint32_t c = 0; c < w->n_columns; c++) {
			numbers[c] += w->address_self[(size_t)i * w->n_columns + c];
			numbers[a->n_columns + c] += w->address_total[(size_t)i * w->n_columns + c];
		}
	}
}

int listing_make(struct listing *l, struct progress *progress)
{
	const struct code_weights *w = l->weights;
	uint32_t n_modules = 0;
	int rc = 0;

	for (uint32_t from = 0, to; from < w->n_addresses && rc == 0; from = to) {
		size_t first_block = l->a->blocks.n;

		for (to = from + 1;
		     to < w->n_addresses && w->address[to].module == w->address[from].module; to++)
			;
		if (n_modules++ == MODULES_MAX)
			break;
		rc = read_module(l, from, to, progress);
		if (rc == 0)
			weigh_module(l, from, to, first_block);
	}
	return rc;
}

void listing_done(struct listing *l)
{
	for (size_t i = 0; i < l->paths.n; i++)
		vec_done(&l->paths.at[i].programs);
	vec_done(&l->paths);
	vec_done(&l->own);
	vec_done(&l->bytes);
	vec_done(&l->address);
	map_done(&l->by_path);
}
