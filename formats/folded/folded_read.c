/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Folded text into a profile, at the speed of memory: lines are taken apart, and wait until the stacks
 * of a batch are settled.
 */
#include "config.h"

#include "formats/folded/folded_read.h"

#include "base/mem.h"
#include "formats/folded/folded_line.h"
#include "formats/folded/folded_stacks.h"
#include "formats/text_read.h"
#include "profile/builder.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Lines by which it is decided whether there are two counts in each. */
#define DIFF_LINES   1000
/* As many decide when no more have come through a pipe, as long as they are this small. */
#define FEW_LINES    20
#define FEW_BYTES    ((size_t)1 << 20)
/* Lines of one frame that make up for a malformed one, where no line has more. */
#define FLAT_PER_BAD 10
/* Lines that wait for their stacks. */
#define MOST_LINES   256

/* Stacks of which it is kept which sample was theirs last; a power of two. */
#define MOST_ROWS ((size_t)1 << 15)

/* A line that waits for its stack. */
struct line {
	uint64_t number;
	struct folded_stack stack;
	struct folded_count count[2];
	bool indented; /* one frame behind blanks */
};

struct reader {
	struct text_read text;
	struct folded_stacks stacks;
	event_id event[2];          /* "before", "after", or only [0], "samples" */
	int64_t scale[2];           /* of each event */
	uint64_t row[2][MOST_ROWS]; /* by stack: see build_counted_sample() */
	unsigned n_counts;          /* 0: not known yet */

	struct line line[MOST_LINES];
	size_t n_lines; /* of these */

	uint64_t n_firm; /* lines that are stacks beyond doubt; see is_firm() */
	/* of these, how many more than malformed ones in the last run of lines that has more */
	uint64_t run;
	uint64_t n_good;         /* lines with a stack and a count */
	uint64_t n_malformed;    /* lines that are none */
	uint64_t n_indented;     /* good lines of one frame behind blanks */
	uint64_t first_indented; /* the first one's number */
	uint64_t n_weightless;   /* of these, with a count of zero */
	uint64_t n_comments;     /* lines that begin with '#' */
	uint64_t n_rounded;      /* counts with more digits than are kept */
};

/* Counts. */

/*
 * The weight of a count, in the event's scale, which the first fraction makes finer. Where the
 * total is too large for that, fractions are rounded away. False when it does not fit at all.
 */
static bool weight_of(struct reader *r, unsigned side, const struct folded_count *c, int64_t *out)
{
	int64_t *scale = &r->scale[side], parts = 0;

	if (c->parts != 0 && *scale < FOLDED_PARTS && FOLDED_PARTS % *scale == 0 &&
	    build_scale(r->text.p, r->event[side], FOLDED_PARTS) == 0)
		*scale = FOLDED_PARTS;
	parts = ((int64_t)c->parts * *scale + FOLDED_PARTS / 2) / FOLDED_PARTS;
	r->n_rounded += c->rounded || (c->parts != 0 && *scale < FOLDED_PARTS);
	return !__builtin_mul_overflow(c->whole, *scale, out) &&
	       !__builtin_add_overflow(*out, parts, out);
}

/* One frame behind blanks is a stack in a file of stacks, and a line of a table in a file without any. */
static void note_indented(struct reader *r, uint64_t line)
{
	if (r->n_indented++ == 0)
		r->first_indented = line;
}

/* The samples of a line whose stack is settled; those of a stack that came just before are one. */
static void add_samples(struct reader *r, const struct line *l)
{
	uint64_t *row;
	struct sample s = { .thread = { ID_NONE }, .cpu = CPU_NONE, .time_ns = TIME_NONE };
	bool weighs = false;

	s.stack = folded_stacks_of(&r->stacks, l->stack);
	for (unsigned i = 0; i < r->n_counts; i++) {
		if (l->count[i].whole == 0 && l->count[i].parts == 0)
			continue;
		s.event = r->event[i];
		row = &r->row[i][s.stack.v % MOST_ROWS];
		if (!weight_of(r, i, &l->count[i], &s.weight) ||
		    build_counted_sample(r->text.p, &s, row) < 0) {
			bad_lines_add(&r->text.bad, l->number, "makes the sum of counts too large");
			return;
		}
		weighs = true;
	}
	r->n_good++;
	if (l->indented)
		note_indented(r, l->number);
	r->n_weightless += !weighs;
}

static void settle(struct reader *r)
{
	folded_stacks_settle(&r->stacks);
	for (size_t i = 0; i < r->n_lines; i++)
		add_samples(r, &r->line[i]);
	r->n_lines = 0;
	folded_stacks_clear(&r->stacks);
}

/* Complaints come in the order of lines. */
static void complain(struct reader *r, const char *problem)
{
	r->run -= r->run > 0;
	r->n_malformed++;
	settle(r);
	text_read_complain(&r->text, problem);
}

/* Unlike sentences it has no blank behind its first ';', and unlike rows of tables no tabs. */
static bool is_firm(const char *s, size_t n)
{
	const char *mark = memchr(s, ';', n);

	return mark && mark + 1 < s + n && mark[1] != ' ' && !memchr(s, '\t', n);
}

static void add_line(struct reader *r, const struct folded_line *l, bool is_indented)
{
	struct line *line;

	if (r->n_lines == MOST_LINES || r->stacks.frames.n >= FOLDED_BATCH)
		settle(r);
	line = &r->line[r->n_lines];
	if (!folded_stacks_add(&r->stacks, l->stack, l->n, &line->stack)) {
		complain(r, "is too deep");
		return;
	}
	if (is_firm(l->stack, l->n)) {
		r->n_firm++;
		r->run++;
	}
	line->number = r->text.lines.n;
	line->indented = is_indented;
	for (unsigned i = 0; i < r->n_counts; i++)
		line->count[i] = l->count[i];
	r->n_lines++;
}

/*
 * How many counts do lines have? Two, if all of the first ones do: the last word of a name may be a
 * number, but hardly in all of them. 0 when there is no line yet to tell by. *n_lines: how many told.
 */
static unsigned count_columns(struct lines l, unsigned *n_lines)
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
	*n_lines = n_two;
	return n_two > 0 ? 2 : 0;
}

/* False when more lines should come before it is said that there are two counts. */
static bool set_events(struct reader *r, bool ended)
{
	static const char *const names[] = { "before", "after" };
	const struct lines *l = &r->text.lines;
	unsigned n_lines, n = count_columns(*l, &n_lines);

	if (n == 2 && n_lines < FEW_LINES && !ended && l->text.n - l->at < FEW_BYTES)
		return false;
	r->n_counts = n;
	for (unsigned i = 0; i < n; i++) {
		r->event[i] = build_counted_event(r->text.p, n == 2 ? names[i] : "samples");
		r->scale[i] = profile_event(r->text.p, r->event[i])->scale;
	}
	return true;
}

static void read_line(struct reader *r, const char *s, size_t n)
{
	struct folded_line line;
	enum folded_kind kind;

	if (!s) {
		complain(r, "is too long");
		return;
	}
	kind = folded_line_read(s, n, r->n_counts ? r->n_counts : 1, &line);
	if (kind == FOLDED_STACK)
		add_line(r, &line, (s[0] == ' ' || s[0] == '\t') && !memchr(s, ';', n));
	else if (kind != FOLDED_NOTHING)
		complain(r, folded_problem(kind));
	else
		r->n_comments += n > 0 && s[0] == '#';
}

/* Reads the lines that are there. */
static void take(void *reader, bool ended)
{
	struct reader *r = reader;
	const char *s;
	size_t n;

	if (r->n_counts == 0 && !set_events(r, ended))
		return;
	while (lines_next(&r->text.lines, &s, &n))
		read_line(r, s, n);
	settle(r);
	folded_stacks_keep(&r->stacks);
	folded_stacks_shorten(&r->stacks);
}

/* What `info` says. */

#define PLURAL(n) ((n) == 1 ? "" : "s")

static void tell(struct reader *r)
{
	struct profile *p = r->text.p;
	capture_id c = r->text.capture;

	builder_begin(p);
	build_fact(p, c, "file", "stacks", FACT_PLAIN, "%" PRIu64 " line%s", r->n_good,
		   PLURAL(r->n_good));
	if (r->n_counts == 2)
		build_fact(p, c, "file", "counts", FACT_PLAIN,
			   "two in each line: the events before and after");
	if (r->n_comments > 0)
		build_fact(p, c, "file", "comments", FACT_PLAIN, "%" PRIu64 " line%s",
			   r->n_comments, PLURAL(r->n_comments));
	if (r->n_weightless > 0)
		build_fact(p, c, "file", "counts of zero", FACT_PLAIN,
			   "%" PRIu64 " line%s, not shown", r->n_weightless,
			   PLURAL(r->n_weightless));
	text_read_tell(&r->text);
	if (r->n_rounded > 0)
		build_fact(p, c, "losses", "rounded counts", FACT_LOSS,
			   "%" PRIu64 " line%s with more digits than are kept", r->n_rounded,
			   PLURAL(r->n_rounded));
	builder_end(p);
}

/*
 * Are there stacks? A number at the end of some lines does not make them stacks while most others have none, but firm ones may
 * follow a long log: then most of them are in the run at the end.
 */
static bool has_stacks(const struct reader *r)
{
	if (r->n_firm == 0)
		return r->n_good > r->n_indented &&
		       r->n_good - r->n_indented >= (r->n_malformed + r->n_indented) * FLAT_PER_BAD;
	return r->n_good > 0 && (r->n_good >= r->n_malformed || 2 * r->run >= r->n_firm);
}

/* Says that most lines are none, and which is the first. */
static int refuse(struct reader *r, struct err *e)
{
	static const char indented[] = "is indented and no stack";
	struct bad_lines *b = &r->text.bad;

	if (r->n_firm == 0 && r->n_indented > 0) {
		if (b->n == 0 || b->told[0].line > r->first_indented)
			b->told[0] = (struct bad_line){ r->first_indented, indented };
		b->n += r->n_indented;
	}
	return text_read_refuse_most(&r->text, "no stacks with a count", e);
}

int folded_read(struct input *in, struct profile *p, capture_id c, const struct read_options *o,
		struct progress *progress, struct err *e)
{
	struct reader *r = xcalloc(1, sizeof(*r));
	int rc;

	(void)o; /* names are in the file */
	text_read_init(&r->text, in, p, c);
	folded_stacks_init(&r->stacks, p);
	rc = text_read_all(&r->text, take, r, progress);
	if (has_stacks(r) && rc != -ECANCELED) {
		tell(r);
		rc = 0;
	} else if (rc == 0 && r->n_good > 0) {
		rc = refuse(r, e);
	} else {
		rc = text_read_refuse(&r->text, rc, "stack", e);
	}
	folded_stacks_done(&r->stacks);
	text_read_done(&r->text);
	free(r);
	return rc;
}
