/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "code/packed_code.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/bisect.h"
#include "base/bytes.h"
#include "base/compare.h"
#include "base/mem.h"
#include "base/pack_numbers.h"

/* Functions may overlap: so many before an address are looked at. */
#define OVERLAP_MOST 64u
#define FRAMES_MOST  64u

/* What one attachment has. */
struct part {
	const char *path;
	uint16_t machine;
	unsigned flags;
	VEC(const char *) strings;     /* in texts; [0] is NULL */
	VEC(const uint8_t *) position; /* where each begins */
	const uint8_t *positions_end;
};

struct packed_function {
	uint64_t begin, size;
	uint64_t shown; /* of begin */
	const char *name;
	const uint8_t *bytes; /* [n] */
	size_t n;
	const uint8_t *runs; /* [n_runs] bytes */
	size_t n_runs;
	uint32_t part;
};

struct note {
	uint64_t shown;
	const char *text;
};

struct packed_code {
	struct arena texts;
	const char *why; /* NULL: none */
	VEC(struct part) parts;
	VEC(struct packed_function) functions; /* by begin, each once */
	VEC(struct note) notes;                /* by shown */
};

static const char *take_kept_text(struct packed_code *c, struct bytes *b)
{
	size_t n;
	const char *s = pack_take_text(b, &n);

	return s && n > 0 ? arena_strndup(&c->texts, s, n) : "";
}

static const char *take_string(const struct part *part, struct bytes *b)
{
	return part->strings.at[pack_take_below(b, part->strings.n)];
}

static void take_positions(struct part *part, struct bytes *b)
{
	uint64_t n = pack_take_count(b);

	for (uint64_t i = 0; i < n && !b->bad; i++) {
		uint64_t n_frames;

		vec_push(&part->position, b->at);
		n_frames = pack_take_count(b);
		b->bad |= n_frames > FRAMES_MOST;
		for (uint64_t k = 0; k < n_frames && !b->bad; k++) {
			take_string(part, b);
			take_string(part, b);
			pack_take_below(b, UINT32_MAX);
		}
	}
	part->positions_end = b->at;
}

static void take_functions(struct packed_code *c, const struct part *part, struct bytes *b)
{
	uint64_t n = pack_take_count(b), begin = 0;

	for (uint64_t i = 0; i < n && !b->bad; i++) {
		struct packed_function f = { .part = (uint32_t)c->parts.n };

		begin += pack_take(b);
		f.begin = begin;
		f.size = pack_take(b);
		f.shown = begin + (uint64_t)pack_take_signed(b);
		f.name = take_string(part, b);
		f.bytes = (const uint8_t *)pack_take_text(b, &f.n);
		f.runs = (const uint8_t *)pack_take_text(b, &f.n_runs);
		b->bad |= f.n > f.size || f.size > UINT64_MAX - f.begin;
		if (!b->bad)
			vec_push(&c->functions, f);
	}
}

static void take_notes(struct packed_code *c, const struct part *part, struct bytes *b)
{
	uint64_t n = pack_take_count(b), shown = 0;

	for (uint64_t i = 0; i < n && !b->bad; i++) {
		struct note note;

		shown += pack_take(b);
		note = (struct note){ shown, take_string(part, b) };
		if (!b->bad && note.text)
			vec_push(&c->notes, note);
	}
}

/* What is whole of a damaged one stays. */
static void take_part(struct packed_code *c, const uint8_t *bytes, size_t n)
{
	struct bytes b = bytes_over(bytes, n, false);
	struct part part = { .machine = 0 };
	const char *why = take_kept_text(c, &b);
	uint64_t n_strings;

	if (*why && !c->why)
		c->why = why;
	part.path = take_kept_text(c, &b);
	part.machine = (uint16_t)pack_take_below(&b, UINT16_MAX + 1u);
	part.flags = pack_take_below(&b, 8);
	vec_push(&part.strings, NULL);
	n_strings = pack_take_count(&b);
	for (uint64_t i = 0; i < n_strings && !b.bad; i++)
		vec_push(&part.strings, take_kept_text(c, &b));
	take_positions(&part, &b);
	take_functions(c, &part, &b);
	take_notes(c, &part, &b);
	vec_push(&c->parts, part);
}

static int by_begin(const void *x, const void *y)
{
	const struct packed_function *a = x, *b = y;

	return COMPARE(a->begin, b->begin) ?: COMPARE(a->part, b->part);
}

static int by_shown(const void *x, const void *y)
{
	const struct note *a = x, *b = y;

	return COMPARE(a->shown, b->shown);
}

static void sort(struct packed_code *c)
{
	size_t n = 0;

	if (c->notes.n > 0)
		qsort(c->notes.at, c->notes.n, sizeof(*c->notes.at), by_shown);
	if (c->functions.n == 0)
		return;
	qsort(c->functions.at, c->functions.n, sizeof(*c->functions.at), by_begin);
	for (size_t i = 0; i < c->functions.n; i++)
		if (n == 0 || c->functions.at[n - 1].begin != c->functions.at[i].begin)
			c->functions.at[n++] = c->functions.at[i];
	c->functions.n = n;
}

struct packed_code *packed_code_open(const struct profile *p, module_id m)
{
	struct packed_code *c = NULL;
	const char *name = profile_code_name(p, m);
	const uint8_t *bytes;
	uint32_t cursor = 0;
	size_t n;

	while ((bytes = profile_attachment(p, ATTACHMENT_CODE, name, &cursor, &n)) != NULL) {
		if (!c)
			c = xcalloc(1, sizeof(*c));
		take_part(c, bytes, n);
	}
	if (c)
		sort(c);
	return c;
}

void packed_code_free(struct packed_code *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->parts.n; i++) {
		vec_done(&c->parts.at[i].strings);
		vec_done(&c->parts.at[i].position);
	}
	vec_done(&c->parts);
	vec_done(&c->functions);
	vec_done(&c->notes);
	arena_done(&c->texts);
	free(c);
}

bool packed_code_has(const struct packed_code *c)
{
	return c->functions.n > 0;
}

const char *packed_code_why(const struct packed_code *c)
{
	return c->why;
}

/* The part that most is said by: the first one with code. */
static const struct part *first_part(const struct packed_code *c)
{
	uint32_t part = c->functions.n > 0 ? c->functions.at[0].part : 0;

	return &c->parts.at[part];
}

const char *packed_code_path(const struct packed_code *c)
{
	return first_part(c)->path;
}

uint16_t packed_code_machine(const struct packed_code *c)
{
	return first_part(c)->machine;
}

unsigned packed_code_flags(const struct packed_code *c)
{
	return first_part(c)->flags;
}

/* Among functions that overlap it is the one that begins last. */
static const struct packed_function *find(const struct packed_code *c, uint64_t address)
{
	size_t low = 0;

	BISECT(low, c->functions.n, i, c->functions.at[i].begin <= address);
	for (size_t k = 0; k < OVERLAP_MOST && k < low; k++) {
		const struct packed_function *f = &c->functions.at[low - 1 - k];

		if (address - f->begin < f->size)
			return f;
	}
	return NULL;
}

bool packed_code_function(const struct packed_code *c, uint64_t address, struct code_extent *out)
{
	const struct packed_function *f = find(c, address);

	if (f)
		*out = (struct code_extent){ f->begin, f->begin + f->size, f->name };
	return f != NULL;
}

uint8_t *packed_code_read(const struct packed_code *c, uint64_t begin, size_t n)
{
	const struct packed_function *f = find(c, begin);
	uint8_t *out;

	if (!f || begin - f->begin > f->n || n > f->n - (size_t)(begin - f->begin) || n == 0)
		return NULL;
	out = xmalloc(n);
	memcpy(out, f->bytes + (begin - f->begin), n);
	return out;
}

uint64_t packed_code_shown(const struct packed_code *c, uint64_t address)
{
	const struct packed_function *f = find(c, address);

	return f ? f->shown + (address - f->begin) : address;
}

char *packed_code_note(const struct packed_code *c, uint64_t shown)
{
	size_t low = 0;

	BISECT(low, c->notes.n, i, c->notes.at[i].shown < shown);
	return low < c->notes.n && c->notes.at[low].shown == shown ? xstrdup(c->notes.at[low].text)
								   : NULL;
}

/* The frames of a position: they were checked when it was opened. */
static size_t frames_of(const struct packed_code *c, const struct packed_function *f,
			uint32_t position, struct code_frame *out)
{
	const struct part *part = &c->parts.at[f->part];
	const uint8_t *at = part->position.at[position];
	struct bytes b = bytes_over(at, (size_t)(part->positions_end - at), false);
	size_t n = (size_t)pack_take_count(&b);

	for (size_t i = 0; i < n; i++) {
		out[i] = (struct code_frame){ .name = take_string(part, &b) };
		out[i].file = take_string(part, &b);
		out[i].line = pack_take_below(&b, UINT32_MAX);
	}
	return b.bad ? 0 : n;
}

/* Where one is in the runs of a function. */
struct run_cursor {
	const struct packed_function *function;
	struct bytes runs;
	uint64_t begin, end; /* addresses of the run */
	uint32_t position;   /* + 1, or 0 */
};

static void next_run(const struct packed_code *c, struct run_cursor *r)
{
	const struct part *part = &c->parts.at[r->function->part];
	uint64_t n;

	r->begin = r->end;
	n = bytes_left(&r->runs) > 0 ? pack_take(&r->runs) : UINT64_MAX;
	r->position = n == UINT64_MAX ? 0
				      : pack_take_below(&r->runs, (uint64_t)part->position.n + 1);
	if (r->runs.bad || n == 0 || n > UINT64_MAX - r->begin) {
		n = UINT64_MAX - r->begin;
		r->position = 0;
	}
	r->end = r->begin + n;
}

void packed_code_frames(const struct packed_code *c, const uint64_t *addresses, size_t n,
			code_take *take, void *arg)
{
	struct run_cursor r = { .function = NULL };
	struct code_frame frames[FRAMES_MOST];

	for (size_t i = 0; i < n; i++) {
		uint64_t at = addresses[i];
		size_t n_frames;

		if (!r.function || at < r.begin || at - r.function->begin >= r.function->size) {
			r = (struct run_cursor){ .function = find(c, at) };
			if (!r.function)
				continue;
			r.runs = bytes_over(r.function->runs, r.function->n_runs, false);
			r.begin = r.end = r.function->begin;
			next_run(c, &r);
		}
		while (at >= r.end && r.end != UINT64_MAX)
			next_run(c, &r);
		n_frames = r.position > 0 ? frames_of(c, r.function, r.position - 1, frames) : 0;
		if (n_frames > 0)
			take(arg, i, frames, n_frames);
	}
}
