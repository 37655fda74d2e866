/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Folded text into a profile, at the speed of memory.
 *
 * Lines that follow each other mostly share their outer frames, as such files are sorted: the trie
 * nodes of the previous line are kept with the byte where each of its frames ends, and only what
 * differs is looked up. Frames are looked up by their text in a map of the reader's own, since what
 * the profile interns (string, function, location) would be three look-ups.
 *
 * The pen is given back before every read that may wait.
 */
#include "config.h"

#include "folded_read.h"

#include "bad_lines.h"
#include "builder.h"
#include "err.h"
#include "folded_line.h"
#include "hash.h"
#include "input.h"
#include "lines.h"
#include "map.h"
#include "task.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* What is read is published after so much of either. */
#define PUBLISH_BYTES ((uint64_t)8 << 20)
#define PUBLISH_NS    INT64_C(50000000)
/* A stack deeper than this is no stack; each frame costs much more than its byte. */
#define MOST_FRAMES   ((size_t)1 << 18)
/* Lines by which it is decided whether there are two counts in each. */
#define DIFF_LINES    1000

/* A frame's text and what it became. */
struct frame_name {
	const char *s; /* the profile's */
	size_t n;
	location_id location;
};

/* A frame of the previous line. */
struct last_frame {
	size_t end; /* byte of its line where it ends */
	stack_id stack;
};

struct reader {
	struct profile *p;
	capture_id capture;
	struct lines lines;
	event_id event[2]; /* "before", "after", or only [0], "samples" */
	int64_t scale[2];  /* of each event */
	unsigned n_counts; /* 0: not known yet */

	struct map by_text; /* of indices of names */
	VEC(struct frame_name) names;
	module_id kernel, jit; /* {0} until first needed */

	VEC(struct last_frame) last; /* of the previous stack */
	VEC(char) last_text;         /* a copy of it, made when its block goes; see last_at */
	const char *last_at;         /* the previous stack's text */
	size_t last_n;               /* bytes of it */

	uint64_t n_good;       /* lines with a stack and a count */
	uint64_t n_weightless; /* of these, with a count of zero */
	uint64_t n_comments;   /* lines that begin with '#' */
	struct bad_lines bad;  /* malformed lines */
	uint64_t n_rounded;    /* counts with more digits than are kept */
	bool full;             /* the profile takes no more */
};

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Frames. */

struct text_key {
	const char *s;
	size_t n;
};

static bool same_name(const void *things, uint32_t value, const void *key)
{
	const struct frame_name *name = (const struct frame_name *)things + value;
	const struct text_key *k = key;

	return name->n == k->n && memcmp(name->s, k->s, k->n) == 0;
}

static bool ends_with(const char *s, size_t n, const char *with)
{
	size_t len = strlen(with);

	return n >= len && memcmp(s + n - len, with, len) == 0;
}

/* The module that a frame's annotation tells of; most tell of none. */
static module_id module_of(struct reader *r, const char *s, size_t n)
{
	if (ends_with(s, n, "_[k]")) {
		if (r->kernel.v == 0)
			r->kernel = build_module(r->p, "[kernel]", "", FAMILY_KERNEL);
		return r->kernel;
	}
	if (ends_with(s, n, "_[j]")) {
		if (r->jit.v == 0)
			r->jit = build_module(r->p, "[jit]", "", FAMILY_JIT);
		return r->jit;
	}
	return (module_id){ 0 };
}

static location_id new_frame(struct reader *r, const char *s, size_t n, uint64_t hash)
{
	bool unknown = n == strlen("[unknown]") && memcmp(s, "[unknown]", n) == 0;
	string_id text = build_string(r->p, s, n);
	function_id f = build_function(r->p, text, module_of(r, s, n),
				       unknown ? FUNCTION_UNRESOLVED : 0, (string_id){ 0 }, 0);
	struct frame_name name = { .n = n, .location = build_symbol_location(r->p, f) };

	name.s = profile_string(r->p, text, NULL);
	if (text.v == 0 && n > 0) /* there was no room for it: builder_end() will say so */
		return name.location;
	map_add(&r->by_text, hash, (uint32_t)r->names.n);
	vec_push(&r->names, name);
	return name.location;
}

static location_id frame_location(struct reader *r, const char *s, size_t n)
{
	struct text_key key = { s, n };
	uint64_t hash = hash_bytes(s, n);
	uint32_t i = map_find(&r->by_text, hash, same_name, r->names.at, &key);

	return i != MAP_NONE ? r->names.at[i].location : new_frame(r, s, n, hash);
}

/* Stacks. */

/* Bytes that two texts have in common from the left. */
static size_t common_bytes(const char *a, size_t n_a, const char *b, size_t n_b)
{
	size_t n = n_a < n_b ? n_a : n_b, i = 0;

	for (; i + sizeof(uint64_t) <= n; i += sizeof(uint64_t)) {
		uint64_t x, y;

		memcpy(&x, a + i, sizeof(x));
		memcpy(&y, b + i, sizeof(y));
		if (x != y)
			break;
	}
	while (i < n && a[i] == b[i])
		i++;
	return i;
}

/* Drops the frames of the previous stack that this one does not begin with. */
static void keep_common(struct reader *r, const char *s, size_t n)
{
	size_t same = r->last.n ? common_bytes(r->last_at, r->last_n, s, n) : 0;

	while (r->last.n > 0) {
		size_t end = r->last.at[r->last.n - 1].end;

		if (end < same || (end == same && (same == n || s[same] == ';')))
			break;
		r->last.n--;
	}
	r->last_at = s;
	r->last_n = n;
}

/* The stack that a line's text means; false when it is too deep. */
static bool read_stack(struct reader *r, const char *s, size_t n, stack_id *out)
{
	struct last_frame f = { 0 };
	size_t from = 0;

	keep_common(r, s, n);
	if (r->last.n > 0) {
		f = r->last.at[r->last.n - 1];
		from = f.end + 1;
	}
	while (r->last.n == 0 || f.end < n) {
		const char *mark = from < n ? memchr(s + from, ';', n - from) : NULL;

		if (r->last.n == MOST_FRAMES)
			return false;
		f.end = mark ? (size_t)(mark - s) : n;
		f.stack = build_stack(r->p, f.stack, frame_location(r, s + from, f.end - from));
		vec_push(&r->last, f);
		from = f.end + 1;
	}
	*out = f.stack;
	return true;
}

/* Counts. */

static void complain(struct reader *r, const char *problem)
{
	bad_lines_add(&r->bad, r->lines.n, problem);
}

/*
 * The weight of a count, in the event's scale, which the first fraction makes finer. Where the
 * total is too large for that, fractions are rounded away. False when it does not fit at all.
 */
static bool weight_of(struct reader *r, unsigned side, const struct folded_count *c, int64_t *out)
{
	int64_t *scale = &r->scale[side], parts = 0;

	if (c->parts != 0 && *scale < FOLDED_PARTS && FOLDED_PARTS % *scale == 0 &&
	    build_scale(r->p, r->event[side], FOLDED_PARTS) == 0)
		*scale = FOLDED_PARTS;
	parts = ((int64_t)c->parts * *scale + FOLDED_PARTS / 2) / FOLDED_PARTS;
	r->n_rounded += c->rounded || (c->parts != 0 && *scale < FOLDED_PARTS);
	return !__builtin_mul_overflow(c->whole, *scale, out) &&
	       !__builtin_add_overflow(*out, parts, out);
}

static void add_stack(struct reader *r, const struct folded_line *l)
{
	struct sample s = { .thread = { ID_NONE }, .cpu = CPU_NONE, .time_ns = TIME_NONE };
	bool weighs = false;

	if (!read_stack(r, l->stack, l->n, &s.stack)) {
		complain(r, "is too deep");
		return;
	}
	for (unsigned i = 0; i < r->n_counts; i++) {
		if (l->count[i].whole == 0 && l->count[i].parts == 0)
			continue;
		s.event = r->event[i];
		if (!weight_of(r, i, &l->count[i], &s.weight) || build_sample(r->p, &s) < 0) {
			complain(r, "makes the sum of counts too large");
			return;
		}
		weighs = true;
	}
	r->n_good++;
	r->n_weightless += !weighs;
}

/*
 * How many counts do lines have? Two, if all of the first ones do: the last word of a name may be a
 * number, but hardly in all of them. 0 when there is no line yet to tell by.
 */
static unsigned count_columns(struct lines l)
{
	unsigned n_two = 0;
	const char *s;
	size_t n;

	while (n_two < DIFF_LINES && lines_next(&l, &s, &n)) {
		struct folded_line line;

		if (s && folded_line_read(s, n, 1, &line) != FOLDED_STACK)
			continue;
		if (!s || folded_line_read(s, n, 2, &line) != FOLDED_STACK)
			return 1;
		n_two++;
	}
	return n_two > 0 ? 2 : 0;
}

static void set_events(struct reader *r)
{
	static const char *const names[] = { "before", "after" };

	r->n_counts = count_columns(r->lines);
	for (unsigned i = 0; i < r->n_counts; i++) {
		r->event[i] = build_counted_event(r->p, r->n_counts == 2 ? names[i] : "samples");
		r->scale[i] = profile_event(r->p, r->event[i])->scale;
	}
}

/* Reads the lines that are there. The pen is ours. */
static void read_lines(struct reader *r)
{
	const char *s;
	size_t n;

	if (r->n_counts == 0)
		set_events(r);
	while (lines_next(&r->lines, &s, &n)) {
		struct folded_line line;
		enum folded_kind kind;

		if (!s) {
			complain(r, "is too long");
			continue;
		}
		kind = folded_line_read(s, n, r->n_counts ? r->n_counts : 1, &line);
		if (kind == FOLDED_STACK)
			add_stack(r, &line);
		else if (kind != FOLDED_NOTHING)
			complain(r, folded_problem(kind));
		else
			r->n_comments += n > 0 && s[0] == '#';
	}
}

/* The next block; the previous stack's text is saved from it first. */
static int fill(struct reader *r, struct err *e)
{
	if (r->last_at != r->last_text.at && r->last_n > 0) {
		vec_reserve(&r->last_text, r->last_n);
		memcpy(r->last_text.at, r->last_at, r->last_n);
	}
	r->last_at = r->last_text.at;
	return lines_fill(&r->lines, e);
}

/*
 * All lines of the input. Returns 0 at the end, -ECANCELED, or what the input said, having read all
 * lines that came before. A regular file does not keep the pen waiting, so that it is held for more
 * than one block.
 */
static int read_all(struct reader *r, struct progress *progress, struct err *e)
{
	struct input *in = r->lines.in;
	bool waits = input_file_bytes(in) == 0;
	bool pen = false;
	uint64_t published = 0;
	int64_t since = now_ns();
	int rc = 1;

	while (rc > 0 && !r->full) {
		if (progress_cancelled(progress)) {
			rc = -ECANCELED;
			break;
		}
		rc = fill(r, e);
		progress_set(progress, input_file_done(in), input_file_bytes(in));
		if (!pen)
			builder_begin(r->p);
		pen = true;
		read_lines(r);
		if (!waits && input_offset(in) - published < PUBLISH_BYTES &&
		    now_ns() - since < PUBLISH_NS)
			continue;
		r->full = builder_end(r->p) < 0;
		pen = false;
		published = input_offset(in);
		since = now_ns();
	}
	if (pen)
		r->full |= builder_end(r->p) < 0;
	return rc;
}

/* What `info` says. */

#define PLURAL(n) ((n) == 1 ? "" : "s")

static void tell(struct reader *r, const struct err *damage)
{
	struct profile *p = r->p;
	const char *packing = input_packing(r->lines.in);

	builder_begin(p);
	build_fact(p, r->capture, "file", "stacks", FACT_PLAIN, "%" PRIu64 " line%s", r->n_good,
		   PLURAL(r->n_good));
	if (r->n_counts == 2)
		build_fact(p, r->capture, "file", "counts", FACT_PLAIN,
			   "two in each line: the events before and after");
	if (r->n_comments > 0)
		build_fact(p, r->capture, "file", "comments", FACT_PLAIN, "%" PRIu64 " line%s",
			   r->n_comments, PLURAL(r->n_comments));
	if (r->n_weightless > 0)
		build_fact(p, r->capture, "file", "counts of zero", FACT_PLAIN,
			   "%" PRIu64 " line%s, not shown", r->n_weightless,
			   PLURAL(r->n_weightless));
	if (r->lines.encoding != LINES_UTF8)
		build_fact(p, r->capture, "file", "encoding", FACT_PLAIN, "UTF-16");
	if (*packing)
		build_fact(p, r->capture, "file", "packing", FACT_PLAIN, "%s", packing);
	bad_lines_tell(&r->bad, p, r->capture);
	if (r->n_rounded > 0)
		build_fact(p, r->capture, "losses", "rounded counts", FACT_LOSS,
			   "%" PRIu64 " line%s with more digits than are kept", r->n_rounded,
			   PLURAL(r->n_rounded));
	if (r->full)
		build_fact(p, r->capture, "losses", "rest of the file", FACT_LOSS,
			   "does not fit into memory; read up to byte %" PRIu64,
			   input_offset(r->lines.in));
	if (damage->code != 0)
		build_fact(p, r->capture, "losses", "rest of the file", FACT_LOSS, "%s",
			   err_text(damage));
	builder_end(p);
}

/* The result, given how reading ended: what was good is kept whatever came then. */
static int conclude(struct reader *r, int rc, struct err *damage, struct err *e)
{
	const char *name = input_name(r->lines.in);

	if (rc == -ECANCELED)
		return err_set(e, rc, "%s: reading was stopped", name);
	if (r->n_good > 0) {
		tell(r, damage);
		return 0;
	}
	if (rc < 0)
		return err_set(e, rc, "%s", err_text(damage));
	if (r->bad.n > 0)
		return err_set(e, -EBADMSG,
			       "%s: not one line is a stack with a count; line %" PRIu64 " %s",
			       name, r->bad.told[0].line, r->bad.told[0].problem);
	return err_set(e, -EBADMSG, "%s: there is no stack in its %" PRIu64 " line%s", name,
		       r->lines.n, PLURAL(r->lines.n));
}

int folded_read(struct input *in, struct profile *p, capture_id c, const struct read_options *o,
		struct progress *progress, struct err *e)
{
	struct reader r = { .p = p, .capture = c };
	struct err damage = ERR_INIT;
	int rc;

	(void)o; /* names are in the file */
	lines_init(&r.lines, in);
	rc = read_all(&r, progress, &damage);
	rc = conclude(&r, rc, &damage, e);
	err_clear(&damage);
	lines_done(&r.lines);
	map_done(&r.by_text);
	vec_done(&r.names);
	vec_done(&r.last);
	vec_done(&r.last_text);
	return rc;
}
