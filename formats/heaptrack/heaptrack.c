/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The reader: a record a line, in the order of time; each says what it is by its first character. */
#include "config.h"

#include "formats/heaptrack/heaptrack.h"

#include "base/err.h"
#include "base/fmt.h"
#include "formats/facts.h"
#include "formats/heaptrack/fields.h"
#include "formats/heaptrack/heaptrack_blocks.h"
#include "formats/heaptrack/heaptrack_frames.h"
#include "formats/heaptrack/heaptrack_write.h"
#include "formats/text_read.h"
#include "input/input.h"
#include "profile/heap/heap_builder.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The newest version of the format that is known. */
#define NEWEST_VERSION 3

/* What 1.0 called itself before versions of the format were counted: it is version 1. */
#define FIRST_HEAPTRACK 0x10200

#define NS_PER_MS 1000000

/* A later time is no time: what is worked out from it must not overflow. */
#define MOST_MS ((uint64_t)INT64_MAX / NS_PER_MS / 4)

#define NO_NUMBER UINT64_MAX

/* Bytes of two events whose numbers have at most 7 digits, and a word that begins in them. */
#define SHORT_EVENTS 24

#define ROW_BYTES (4 * sizeof(uint32_t))

struct reader {
	struct text_read text;
	struct profile *p;
	capture_id capture;
	uint64_t memory_bytes; /* for allocations; 0: any */
	struct heaptrack_frames *frames;
	struct heaptrack_blocks blocks;
	VEC(struct heaptrack_kind) kinds; /* of interpreted files */
	VEC(uint32_t) origins; /* [nodes + 1] by node, of files with addresses; ID_NONE */
	series_id rss;
	event_id event;
	uint64_t version;    /* of the format */
	uint64_t heaptrack;  /* its own: 0xMMmmpp */
	uint64_t page_bytes; /* 0: not told */
	uint64_t pages;      /* of the machine's memory */
	uint64_t newest; /* kind or address of the last event's allocation; NO_NUMBER: it freed */
	/* the same as heaptrack itself keeps it: it begins with and goes back to kind 0 */
	uint64_t newest_of_theirs;
	uint64_t n_temporary_of_theirs;
	struct heaptrack_block newest_block, first_block; /* of files with addresses: theirs */
	uint64_t n_suppressions;
	uint64_t n_early; /* times that went back */
	int64_t end_ns;   /* the last time that was told */
	bool has_program; /* X came */
	bool attached;
	bool raw;
	bool begun; /* the track was made, which wants the name of the program */
	bool has_rss;
	bool finished; /* its last lines are there */
	bool too_new;  /* the version is not known */
	bool in_files; /* allocations are */
};

/* What is before the events. */

static const char *take_version(struct reader *r, struct fields f)
{
	if (!fields_hex(&f, &r->heaptrack))
		return "has no version";
	if (!fields_hex(&f, &r->version))
		r->version = r->heaptrack == FIRST_HEAPTRACK ? 1 : 0;
	r->too_new = r->version > NEWEST_VERSION;
	return NULL;
}

static void take_command(struct reader *r, const char *s, size_t n)
{
	const char *blank = memchr(s, ' ', n), *begin = s;
	size_t len = blank ? (size_t)(blank - s) : n;
	const char *slash = memrchr(s, '/', len);

	if (slash) {
		begin = slash + 1;
		len -= (size_t)(begin - s);
	}
	build_fact(r->p, r->capture, "file", "command", FACT_PLAIN, "%.*s", (int)n, s);
	if (!r->begun)
		r->blocks.track = build_heap_track(
			r->p,
			build_process_of_name(r->p, r->capture, build_string(r->p, begin, len)), 0,
			0);
	r->begun = r->has_program = true;
}

/* The track, also of a file that does not say of what. */
static void begin_track(struct reader *r)
{
	if (r->begun)
		return;
	r->blocks.track = build_heap_track(
		r->p, build_process_of_name(r->p, r->capture, build_cstring(r->p, "[unknown]")), 0,
		0);
	r->begun = true;
}

static const char *take_string(struct reader *r, const char *s, size_t n, struct fields f)
{
	const char *problem = NULL;

	if (r->version < 3) {
		s += 2;
		n -= 2;
	} else if (!fields_sized(&f, &s, &n)) {
		s = "";
		n = 0;
		problem = "has a string of another length than it says";
	}
	heaptrack_frames_string(r->frames, s, n);
	return problem;
}

/* Newer versions have a length before it. leaks takes these facts for what they are, see suppressions_stacks(). */
static void take_suppression(struct reader *r, const char *s, size_t n)
{
	struct fields f = { s + 1, s + n };
	char name[40];

	s += 2;
	n -= 2;
	if (r->version >= 3)
		fields_sized(&f, &s, &n);
	snprintf(name, sizeof(name), "suppression %" PRIu64, ++r->n_suppressions);
	build_fact(r->p, r->capture, "file", name, FACT_PLAIN, "%.*s", (int)n, s);
}

static const char *take_module(struct reader *r, struct fields f)
{
	const char *name;
	size_t n;

	r->raw = true;
	if (r->version >= 3 ? !fields_sized(&f, &name, &n) : !fields_word(&f, &name, &n))
		return "has no name";
	return heaptrack_frames_module(r->frames, name, n, f) ? NULL : "has no address";
}

static const char *take_program(struct reader *r, struct fields f)
{
	const char *name;
	size_t n;

	r->raw = true;
	if (r->version >= 3 ? !fields_sized(&f, &name, &n) : !fields_word(&f, &name, &n))
		return "has no name";
	heaptrack_frames_program(r->frames, name, n);
	return NULL;
}

static const char *take_node(struct reader *r, struct fields f)
{
	uint64_t at, parent;

	if (!fields_hex(&f, &at) || !fields_hex(&f, &parent)) {
		heaptrack_frames_bad_node(r->frames);
		return "has no two numbers";
	}
	if (r->raw ? heaptrack_frames_node_at(r->frames, at, parent)
		   : heaptrack_frames_node(r->frames, at, parent))
		return NULL;
	return "has a frame or a caller that is not there";
}

static const char *take_kind(struct reader *r, struct fields f)
{
	struct heaptrack_kind kind = { .origin = ID_NONE };
	uint64_t trace = 0;

	kind.bad = !fields_hex(&f, &kind.size) || !fields_hex(&f, &trace) ||
		   trace > heaptrack_frames_n(r->frames);
	kind.trace = kind.bad ? 0 : (uint32_t)trace;
	vec_push(&r->kinds, kind);
	return kind.bad ? "has no size and stack that is there" : NULL;
}

/* Events. */

static origin_id origin_of(struct reader *r, uint32_t trace)
{
	struct heap_origin o = { .stack = heaptrack_frames_stack(r->frames, trace).v,
				 .thread = ID_NONE,
				 .event = (uint16_t)r->event.v };

	begin_track(r);
	o.track = (uint16_t)r->blocks.track.v;
	return build_heap_origin(r->p, &o);
}

static const char *add_kind(struct reader *r, uint64_t number)
{
	struct heaptrack_kind *kind;

	if (number >= r->kinds.n || r->kinds.at[number].bad)
		return "has a block that is not there";
	kind = &r->kinds.at[number];
	if (kind->origin == ID_NONE)
		kind->origin = origin_of(r, kind->trace).v;
	heaptrack_blocks_add(&r->blocks, kind);
	r->newest = r->newest_of_theirs = number;
	return NULL;
}

static const char *end_kind(struct reader *r, uint64_t number)
{
	if (number >= r->kinds.n || r->kinds.at[number].bad)
		return "has a block that is not there";
	heaptrack_blocks_end(&r->blocks, &r->kinds.at[number], r->newest == number);
	r->n_temporary_of_theirs += r->newest_of_theirs == number;
	r->newest = NO_NUMBER;
	r->newest_of_theirs = 0;
	return NULL;
}

static uint32_t origin_at(struct reader *r, uint32_t trace)
{
	while (r->origins.n <= trace)
		vec_push(&r->origins, ID_NONE);
	if (r->origins.at[trace] == ID_NONE)
		r->origins.at[trace] = origin_of(r, trace).v;
	return r->origins.at[trace];
}

static const char *add_at(struct reader *r, struct fields f)
{
	struct heaptrack_block block = { 0 };
	uint64_t trace;

	if (!fields_hex(&f, &block.size) || !fields_hex(&f, &trace) ||
	    !fields_hex(&f, &block.address) || block.address == 0)
		return "has no size, stack and address";
	if (trace > heaptrack_frames_n(r->frames))
		return "has a stack that is not there";
	block.trace = (uint32_t)trace;
	heaptrack_blocks_add_at(&r->blocks, block.address, block.size, block.trace,
				(origin_id){ origin_at(r, block.trace) });
	r->newest = block.address;
	r->newest_block = block;
	if (r->first_block.address == 0)
		r->first_block = block;
	return NULL;
}

static bool same_kind(const struct heaptrack_block *a, const struct heaptrack_block *b)
{
	return a->size == b->size && a->trace == b->trace;
}

static const char *end_at(struct reader *r, struct fields f)
{
	struct heaptrack_block was;
	uint64_t address;

	if (!fields_hex(&f, &address))
		return "has no address";
	if (heaptrack_blocks_end_at(&r->blocks, address, r->newest == address, &was)) {
		/* Since version 1 heaptrack_print compares kinds: addresses are gone by then. */
		r->n_temporary_of_theirs += r->version > 0 ? same_kind(&was, &r->newest_block)
							   : r->newest == address;
		r->newest_block = r->first_block;
	}
	r->newest = NO_NUMBER;
	return NULL;
}

static const char *take_event(struct reader *r, const char *s, size_t n)
{
	struct fields f = { s + 1, s + n };
	uint64_t number;

	if (r->raw || r->version == 0)
		return *s == '+' ? add_at(r, f) : end_at(r, f);
	if (!fields_hex(&f, &number))
		return "has no number";
	return *s == '+' ? add_kind(r, number) : end_kind(r, number);
}

/* Beside the events. */

static const char *take_time(struct reader *r, struct fields f)
{
	uint64_t ms;

	if (!fields_hex(&f, &ms) || ms > MOST_MS)
		return "has no time";
	if ((int64_t)ms * NS_PER_MS < r->end_ns) {
		r->n_early++;
		return NULL;
	}
	r->blocks.time_ns = r->end_ns = (int64_t)ms * NS_PER_MS;
	return NULL;
}

static const char *take_rss(struct reader *r, struct fields f)
{
	uint64_t n, page = r->page_bytes > 0 ? r->page_bytes : 4096;

	if (!fields_hex(&f, &n) || n > SIZE_MOST / page)
		return "has no number of pages";
	if (!r->has_rss)
		r->rss = build_heap_series(r->p, r->capture, "RSS", UNIT_BYTES);
	r->has_rss = true;
	build_heap_reading(r->p, r->rss, r->end_ns, (int64_t)(n * page));
	return NULL;
}

static const char *take_system(struct reader *r, struct fields f)
{
	if (!fields_hex(&f, &r->page_bytes) || !fields_hex(&f, &r->pages) ||
	    r->page_bytes > SIZE_MOST) {
		r->page_bytes = r->pages = 0;
		return "has no size of pages";
	}
	return NULL;
}

/* Any line but an event's; *s is its kind and is followed by a blank or nothing. */
static const char *take_record(struct reader *r, const char *s, size_t n)
{
	struct fields f = { s + 1, s + n };
	bool has_rest = n >= 2 && s[1] == ' ';

	heaptrack_blocks_give(&r->blocks);
	switch (*s) {
	case 's':
		return has_rest ? take_string(r, s, n, f)
				: (heaptrack_frames_string(r->frames, "", 0), NULL);
	case 'i':
		return heaptrack_frames_pointer(r->frames, f) ? NULL
							      : "is of a string that is not there";
	case 't':
		return take_node(r, f);
	case 'a':
		return take_kind(r, f);
	case 'c':
		return take_time(r, f);
	case 'R':
		return take_rss(r, f);
	case 'm':
		return take_module(r, f);
	case 'x':
		return take_program(r, f);
	case 'v':
		return take_version(r, f);
	case 'X':
		if (r->has_program)
			return "is a second program";
		if (has_rest)
			take_command(r, s + 2, n - 2);
		return NULL;
	case 'I':
		return take_system(r, f);
	case 'S':
		if (has_rest)
			take_suppression(r, s, n);
		return NULL;
	case 'A':
		r->attached = true;
		return NULL;
	case '#':
		r->finished |= n > 10 && memcmp(s, "# strings:", 10) == 0;
		return NULL;
	default:
		return "is of no known kind";
	}
}

static bool is_event(const char *s, size_t n)
{
	return n >= 3 && (*s == '+' || *s == '-') && s[1] == ' ';
}

/* Memory may not hold all of the rows that are coming. */
static void look_at_memory(struct reader *r)
{
	struct heap_columns c;
	struct err e = ERR_INIT;

	profile_heap(r->p, &c);
	if (r->in_files || r->memory_bytes == 0 || c.n_allocations < r->memory_bytes / ROW_BYTES)
		return;
	r->in_files = true;
	if (build_heap_in_files(r->p, input_name(r->text.lines.in), &e) < 0)
		build_fact(r->p, r->capture, "losses", "memory", FACT_LOSS, "%s", err_text(&e));
	else
		build_fact(r->p, r->capture, "file", "allocations", FACT_PLAIN,
			   "are kept in temporary files, as memory may not hold them");
	err_clear(&e);
}

/* "+ 1f" is followed by "- 1f": the block is temporary. False: its kind is not usual, and nothing was done. */
static inline bool take_pair(struct reader *r, uint32_t number)
{
	if (number >= r->kinds.n || r->kinds.at[number].origin == ID_NONE ||
	    !heaptrack_blocks_pass(&r->blocks, &r->kinds.at[number]))
		return false;
	r->n_temporary_of_theirs++;
	r->newest = NO_NUMBER;
	r->newest_of_theirs = 0;
	return true;
}

/*
 * "+ 1f" and the like, or such a line and the one that frees its block; SHORT_EVENTS bytes may be read. The end of what was taken, or
 * NULL: it is no such event.
 */
static inline const char *take_short(struct reader *r, const char *s, uint64_t *n_lines)
{
	uint64_t word = fields_word_at(s + 2);
	uint32_t number;
	unsigned n = fields_short(word, &number);
	const char *next = s + 2 + n;
	bool pair;

	if ((*s != '+' && *s != '-') || s[1] != ' ' || n == 0)
		return NULL;
	pair = *s == '+' && next[0] == '-' && next[1] == ' ' &&
	       (fields_word_at(next + 2) ^ word) << (64 - 8 * n) == 0 && take_pair(r, number);
	if (!pair && (*s == '+' ? add_kind(r, number) : end_kind(r, number)))
		return NULL;
	*n_lines += pair ? 2 : 1;
	return pair ? next + 2 + n : next;
}

/* Nearly all lines are events of few bytes. */
static void take_events(struct reader *r)
{
	const char *s, *begin, *next;
	uint64_t n_lines = 0;
	size_t n;

	if (r->raw || r->version == 0 || !lines_peek(&r->text.lines, &s, &n))
		return;
	for (begin = s; begin + n - s >= SHORT_EVENTS && (next = take_short(r, s, &n_lines));
	     s = next)
		;
	lines_pass(&r->text.lines, (size_t)(s - begin), n_lines);
}

static void take(void *arg, bool ended)
{
	struct reader *r = arg;
	const char *s;
	size_t n;

	(void)ended;
	while (!r->too_new && lines_next(&r->text.lines, &s, &n)) {
		const char *problem;

		if (!s)
			problem = "is too long";
		else if (n == 0)
			continue;
		else if (is_event(s, n))
			problem = take_event(r, s, n);
		else
			problem = take_record(r, s, n);
		if (problem)
			text_read_complain(&r->text, problem);
		else if (s && is_event(s, n))
			take_events(r);
	}
	heaptrack_blocks_give(&r->blocks);
	look_at_memory(r);
	if (r->too_new)
		r->text.full = true;
}

/* What `info` says. */

static void tell_lacks(struct reader *r)
{
	bool pairs = r->raw || r->version == 0;

	build_heap_lacks(r->p, r->blocks.track,
			 HEAP_LACKS_THREADS | (pairs ? 0 : HEAP_LACKS_LIFETIMES));
	build_fact(r->p, r->capture, "heap", "threads", FACT_PLAIN,
		   "heaptrack does not record them");
	if (!pairs)
		build_fact(r->p, r->capture, "heap", "lifetimes", FACT_PLAIN,
			   "not in the file: of several blocks of one size and stack, it does not "
			   "say which one was freed");
	build_fact(r->p, r->capture, "heap", "times", FACT_PLAIN, "in steps of 10 ms or more");
}

static void tell_file(struct reader *r)
{
	char text[FMT_SIZE];

	build_fact(r->p, r->capture, "file", "written by", FACT_PLAIN,
		   "heaptrack %u.%u.%u, format %u%s", (unsigned)(r->heaptrack >> 16 & 0xffff),
		   (unsigned)(r->heaptrack >> 8 & 0xff), (unsigned)(r->heaptrack & 0xff),
		   (unsigned)r->version, r->raw ? ", raw" : "");
	build_fact(r->p, r->capture, "file", "events", FACT_PLAIN, "%s",
		   fmt_count(text, (int64_t)r->blocks.n_events));
	build_fact(r->p, r->capture, "file", "duration", FACT_PLAIN, "%s", fmt_ns(text, r->end_ns));
	build_fact(r->p, r->capture, "file", "temporary by heaptrack", FACT_PLAIN,
		   "%" PRIu64 ", as heaptrack_print counts them", r->n_temporary_of_theirs);
	if (r->page_bytes > 0 && r->pages < SIZE_MOST / r->page_bytes)
		build_fact(r->p, r->capture, "system", "memory", FACT_PLAIN, "%s",
			   fmt_bytes(text, (int64_t)(r->page_bytes * r->pages)));
	if (r->attached)
		build_fact(r->p, r->capture, "file", "attached", FACT_PLAIN,
			   "to a process that ran: what it had allocated before is not known");
}

static void tell(struct reader *r)
{
	bool whole = r->raw || r->finished || r->version < 1;

	builder_begin(r->p);
	tell_file(r);
	tell_lacks(r);
	build_heap_manner(r->p, r->blocks.track, r->attached, 0);
	if (whole && r->text.damage.code == 0)
		build_heap_gone(r->p, r->blocks.track, r->end_ns);
	else
		build_heap_lives_on(r->p, r->blocks.track);
	if (!whole)
		build_fact(r->p, r->capture, "losses", "not finished", FACT_LOSS,
			   "its last lines are missing: what was freed later is not known");
	text_read_tell(&r->text);
	heaptrack_frames_tell(r->frames);
	facts_loss(r->p, r->capture, "frees", r->blocks.n_unknown, "free",
		   "of blocks that are not in the file");
	facts_loss(r->p, r->capture, "addresses", r->blocks.n_twice, "allocation",
		   "at an address that was not free: a free is missing");
	facts_loss(r->p, r->capture, "sizes", r->blocks.n_odd_sizes, "allocation",
		   "of more bytes than there can be: left out");
	facts_loss(r->p, r->capture, "clock", r->n_early, "time", "that went back: left out");
	builder_end(r->p);
}

static int refuse(struct reader *r, int rc, struct input *in, struct err *e)
{
	if (r->too_new)
		return err_set(e, -EBADMSG,
			       "%s: is of version %" PRIu64
			       " of heaptrack's format; versions up to %d are read",
			       input_name(in), r->version, NEWEST_VERSION);
	return text_read_refuse(&r->text, rc, "allocation", e);
}

static int read_heaptrack(struct input *in, struct profile *p, capture_id c,
			  const struct read_options *o, struct progress *progress, struct err *e)
{
	struct reader r = { .p = p,
			    .capture = c,
			    .memory_bytes = o ? o->memory_bytes : 0,
			    .blocks = { .profile = p },
			    .newest = NO_NUMBER };
	int rc;

	text_read_init(&r.text, in, p, c);
	r.frames = heaptrack_frames_new(p, c, o);
	builder_begin(p);
	r.event = build_heap_event(p, "malloc");
	builder_end(p);
	rc = text_read_all(&r.text, take, &r, progress);
	if (rc == -ECANCELED || r.too_new || r.blocks.n_events == 0) {
		rc = refuse(&r, rc, in, e);
	} else {
		tell(&r);
		rc = heaptrack_frames_name(r.frames, progress);
	}
	heaptrack_frames_free(r.frames);
	heaptrack_blocks_done(&r.blocks);
	vec_done(&r.kinds);
	vec_done(&r.origins);
	text_read_done(&r.text);
	return rc;
}

static int probe_text(const char *text, size_t n)
{
	struct fields f;
	const char *end = memchr(text, '\n', n);
	uint64_t number;

	if (n < 3 || memcmp(text, "v ", 2) != 0 || !end)
		return 0;
	f = (struct fields){ text + 1, end };
	if (!fields_hex(&f, &number) || (fields_hex(&f, &number) && f.at != end))
		return 0;
	return end + 1 == text + n || strchr("XxIAmsit#", end[1]) ? FORMAT_SURE + 20 : 0;
}

static int probe(const uint8_t *bytes, size_t n)
{
	return text_probe(bytes, n, probe_text);
}

const struct format format_heaptrack = {
	.name = "heaptrack",
	.title = "heap traces of heaptrack, raw or interpreted",
	.probe = probe,
	.one_event = true,
	.heaps_only = true,
	.packed = true, /* or not, as the name says */
	.holds = HOLDS(STACKS) | HOLDS(TIMES) | HOLDS(MODULES) | HOLDS(ADDRESSES) | HOLDS(LINES) |
		 HOLDS(INLINED) | HOLDS(BLOCKS),
	.inlined = true,
	.read = read_heaptrack,
	.write = heaptrack_write,
};
