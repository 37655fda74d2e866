/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A line is a stack with the number and bytes of its allocations, by allocator and thread:
 *
 *   allocator,num_allocations,size,tid,thread_name,stack_trace
 *   MALLOC,1,1340,1,MainThread,inner;/x/a.py;58|outer;/x/a.py;80
 */
#include "config.h"

#include "formats/memray/memray.h"

#include "base/err.h"
#include "base/fmt.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/mem.h"
#include "formats/facts.h"
#include "formats/named_frames.h"
#include "formats/text_read.h"
#include "input/input.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define HEAD "allocator,num_allocations,size,tid,thread_name,stack_trace"

enum column { ALLOCATOR, COUNT, SIZE, TID, THREAD, STACK };
#define N_COLUMNS 6

/* A frame's text, and its location. */
struct known {
	uint32_t text;     /* string_id */
	uint32_t location; /* location_id */
};

/* What of a line is left to take apart. */
struct rest {
	const char *at, *end;
};

struct reader {
	struct text_read text;
	struct profile *p;
	process_id process;
	event_id size, count;
	VEC(struct known) frames;
	struct map by_text;
	VEC(char) column[N_COLUMNS]; /* of the line that is being read; each ends in a NUL */
	uint64_t n_rows, n_large;
	bool begun; /* the head was read */
};

/* Columns. */

/* The next one, which may be in quotes; false where the line has no more, or a quote does not end. */
static bool take_column(struct reader *r, enum column c, struct rest *line)
{
	bool quoted = line->at < line->end && *line->at == '"';
	bool closed = !quoted;

	vec_clear(&r->column[c]);
	if (line->at > line->end)
		return false;
	line->at += quoted;
	for (; line->at < line->end; line->at++) {
		if (quoted && *line->at == '"') {
			if (line->at + 1 == line->end || line->at[1] != '"') {
				closed = true;
				line->at++;
				break;
			}
			line->at++;
		} else if (!quoted && *line->at == ',') {
			break;
		}
		vec_push(&r->column[c], *line->at);
	}
	vec_push(&r->column[c], '\0');
	if (!closed || (line->at < line->end && *line->at != ','))
		return false;
	line->at++; /* beyond the end behind the last one */
	return true;
}

/* All of a column as a number; false where it is none. */
static bool number_of(const struct reader *r, enum column c, int64_t *to)
{
	const char *s = r->column[c].at;
	int64_t v = 0;

	if (*s == '\0')
		return false;
	for (; *s; s++)
		if (*s < '0' || *s > '9' || __builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, *s - '0', &v))
			return false;
	*to = v;
	return true;
}

/* Stacks. */

/* "inner;/x/a.py;58": a name, a file and a line. */
static location_id new_location(struct reader *r, const char *s, size_t n)
{
	const char *line = memrchr(s, ';', n);
	const char *file = line ? memrchr(s, ';', (size_t)(line - s)) : NULL;
	struct named_frame f = { 0 };

	if (!file) {
		f.name = build_string(r->p, s, n);
		return named_frame_location(r->p, &f);
	}
	f.name = build_string(r->p, s, (size_t)(file - s));
	f.file = build_string(r->p, file + 1, (size_t)(line - file - 1));
	for (const char *c = line + 1; c < s + n && *c >= '0' && *c <= '9' && f.line < 100000000;
	     c++)
		f.line = 10 * f.line + (uint32_t)(*c - '0');
	return named_frame_location(r->p, &f);
}

static bool same_text(const void *things, uint32_t value, const void *key)
{
	return ((const struct known *)things)[value].text == *(const uint32_t *)key;
}

static location_id location_of(struct reader *r, const char *s, size_t n)
{
	string_id text = build_string(r->p, s, n);
	uint32_t i = map_find(&r->by_text, hash_u64(text.v), same_text, r->frames.at, &text.v);

	if (i == MAP_NONE) {
		i = (uint32_t)r->frames.n;
		vec_push(&r->frames, ((struct known){ text.v, new_location(r, s, n).v }));
		map_add(&r->by_text, hash_u64(text.v), i);
	}
	return (location_id){ r->frames.at[i].location };
}

/* Frames stand innermost first. */
static stack_id stack_of(struct reader *r)
{
	const char *s = r->column[STACK].at;
	size_t end = strlen(s);
	stack_id stack = { 0 };

	while (end > 0) {
		const char *bar = memrchr(s, '|', end);
		size_t from = bar ? (size_t)(bar + 1 - s) : 0;

		if (from < end)
			stack = build_stack(r->p, stack, location_of(r, s + from, end - from));
		end = bar ? from - 1 : 0;
	}
	return stack;
}

/* A thread, with the allocator as a label. */
static thread_id thread_of(struct reader *r, int64_t tid)
{
	thread_id t = build_thread(r->p, r->process, (int32_t)(tid & INT32_MAX),
				   build_cstring(r->p, r->column[THREAD].at));
	char *label = xasprintf("allocator=%s", r->column[ALLOCATOR].at);

	t = build_thread_labelled(r->p, t, build_cstring(r->p, label));
	free(label);
	return t;
}

static void add(struct reader *r, struct sample *s, event_id event, int64_t weight)
{
	s->event = event;
	s->weight = weight;
	if (weight > 0 && build_sample(r->p, s) < 0)
		r->n_large++;
}

static const char *take_line(struct reader *r, const char *text, size_t n)
{
	struct rest line = { text, text + n };
	struct sample s = { .cpu = CPU_NONE, .time_ns = TIME_NONE };
	int64_t count, size, tid;

	while (line.end > line.at && line.end[-1] == '\r')
		line.end--;
	if (line.end == line.at)
		return NULL;
	if (!r->begun) {
		r->begun = true;
		return NULL;
	}
	for (int c = 0; c < N_COLUMNS; c++)
		if (!take_column(r, (enum column)c, &line))
			return "has no six columns";
	if (!number_of(r, COUNT, &count) || !number_of(r, SIZE, &size) || !number_of(r, TID, &tid))
		return "has no number, size and thread";
	s.stack = stack_of(r);
	s.thread = thread_of(r, tid);
	add(r, &s, r->size, size);
	add(r, &s, r->count, count);
	r->n_rows++;
	return NULL;
}

static void take(void *arg, bool ended)
{
	struct reader *r = arg;
	const char *s, *problem;
	size_t n;

	(void)ended;
	while (lines_next(&r->text.lines, &s, &n)) {
		problem = s ? take_line(r, s, n) : "is too long";
		if (problem)
			text_read_complain(&r->text, problem);
	}
}

static void tell(struct reader *r, capture_id c)
{
	char text[FMT_SIZE];

	builder_begin(r->p);
	build_fact(r->p, c, "file", "rows", FACT_PLAIN, "%s", fmt_count(text, (int64_t)r->n_rows));
	build_fact(r->p, c, "heap", "times", FACT_PLAIN,
		   "not in the file: it has sums by stack, at the peak unless memray was asked for "
		   "leaks or temporary allocations");
	text_read_tell(&r->text);
	facts_loss(r->p, c, "sums", r->n_large, "number",
		   "left out, as the sum would be too large");
	builder_end(r->p);
}

static int read_memray(struct input *in, struct profile *p, capture_id c,
		       const struct read_options *o, struct progress *progress, struct err *e)
{
	struct reader r = { .p = p };
	int rc;

	(void)o; /* names are in the file */
	text_read_init(&r.text, in, p, c);
	builder_begin(p);
	r.process = build_process_of_name(p, c, build_cstring(p, "python"));
	r.size = build_summed_event(p, "size", UNIT_BYTES);
	r.count = build_summed_event(p, "allocations", UNIT_COUNT);
	build_event_default(p, r.size);
	builder_end(p);
	rc = text_read_all(&r.text, take, &r, progress);
	if (rc == -ECANCELED || r.n_rows == 0) {
		rc = text_read_refuse(&r.text, rc, "stack", e);
	} else {
		tell(&r, c);
		rc = 0;
	}
	for (int i = 0; i < N_COLUMNS; i++)
		vec_done(&r.column[i]);
	vec_done(&r.frames);
	map_done(&r.by_text);
	text_read_done(&r.text);
	return rc;
}

static int probe_text(const char *text, size_t n)
{
	return n >= strlen(HEAD) && memcmp(text, HEAD, strlen(HEAD)) == 0 ? FORMAT_SURE + 20 : 0;
}

static int probe(const uint8_t *bytes, size_t n)
{
	return text_probe(bytes, n, probe_text);
}

const struct format format_memray = {
	.name = "memray",
	.title = "tables of memray (memray transform csv)",
	.probe = probe,
	.read = read_memray,
};
