/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The text of perf script into a profile.
 *
 * A sample is gathered line by line until it ends, as its frames come with the innermost first. Stacks
 * of a thread mostly share their outer frames, which are the end of the text: the trie nodes of the
 * thread's previous stack are kept with how far from the end each began, and only what differs is
 * looked up.
 */
#include "config.h"

#include "formats/perf_script/perf_script_read.h"

#include "base/hash.h"
#include "base/map.h"
#include "formats/perf_script/perf_script_frames.h"
#include "formats/perf_script/perf_script_line.h"
#include "formats/text_read.h"
#include "profile/builder.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Text of one sample; more is no stack. */
#define MOST_BYTES  ((size_t)64 << 20)
/* Threads whose previous stacks are kept. */
#define N_LAST      256
/* By which it is decided what headers say. */
#define TRIED_BYTES ((size_t)64 << 10)
/* Bytes of a remark of ours. */
#define REMARK_MOST 256

/* A thread under one name, in one control group. */
struct who {
	const char *comm;  /* the profile's */
	size_t n;          /* bytes of it */
	const char *group; /* likewise the path; "" where none is told */
	size_t n_group;
	int32_t pid, tid;
	thread_id thread;
	stack_id root; /* the node of its name */
};

/* A unit of a thread's previous stack. */
struct last_unit {
	size_t from_end; /* bytes from where it begins to the end of the text */
	stack_id stack;
};

/* The previous stack of a thread. */
struct last {
	uint32_t who;                /* index + 1; 0: none */
	VEC(char) text;              /* its frames */
	VEC(struct last_unit) units; /* outermost first */
};

/* An event by its name. */
struct event_name {
	const char *s; /* the profile's */
	size_t n;
	event_id id;
};

struct reader {
	struct text_read text;
	struct profile *p;          /* text's */
	enum root_names root_names; /* as told */
	struct script_frames frames;

	struct map by_who; /* of indices of whos */
	VEC(struct who) whos;
	uint32_t last_who;             /* the previous sample's: index + 1 */
	VEC(struct event_name) events; /* few: looked through in order */
	struct last last[N_LAST];      /* by index of who */

	bool decided;         /* what headers say */
	bool loose;           /* neither times nor cpus nor events, see script_loose_read() */
	VEC(char) header;     /* of a loose text, the line that is one if a frame follows */
	uint64_t header_line; /* its number; 0: there is none */

	bool in_sample;       /* a header has come */
	bool on_header;       /* its frame stood behind it */
	bool inlined;         /* the last frame belongs to the next one's unit */
	struct sample sample; /* what its header said */
	uint32_t who;         /* of the sample: index + 1 */
	VEC(char) lines;      /* its frames, each with a newline */
	VEC(size_t) units;    /* where units begin in lines */

	uint64_t n_samples;  /* that are in the profile */
	uint64_t n_frames;   /* lines of them */
	uint64_t n_records;  /* headers of other records */
	uint64_t n_comments; /* lines that begin with '#' */
	uint64_t n_good;     /* lines that are part of a sample, or of nothing */
};

/* Threads. */

struct who_key {
	struct span comm, group;
	int32_t pid, tid;
};

static bool same_text(const char *s, size_t n, struct span with)
{
	return n == with.n && (n == 0 || memcmp(s, with.s, n) == 0);
}

static bool same_who(const void *things, uint32_t value, const void *key)
{
	const struct who *w = (const struct who *)things + value;
	const struct who_key *k = key;

	return w->pid == k->pid && w->tid == k->tid && same_text(w->comm, w->n, k->comm) &&
	       same_text(w->group, w->n_group, k->group);
}

/* Texts have no number of it; paths are as good. */
static void enter_group(struct reader *r, struct who *w, struct span path)
{
	string_id text = build_string(r->p, path.s, path.n);
	cgroup_id id = build_cgroup(r->p, r->text.capture, text.v);

	build_cgroup_path(r->p, id, text);
	w->group = profile_string(r->p, text, &w->n_group);
	w->thread = build_thread_in(r->p, w->thread, id.v);
}

static uint32_t add_who(struct reader *r, const struct who *w, uint64_t hash)
{
	map_add(&r->by_who, hash, (uint32_t)r->whos.n);
	vec_push(&r->whos, *w);
	return (uint32_t)r->whos.n;
}

/* Headers that do not say who it was. */
static uint32_t add_nobody(struct reader *r, uint64_t hash)
{
	struct who w = { .comm = "", .group = "", .pid = -1, .tid = -1, .thread = { ID_NONE } };

	return add_who(r, &w, hash);
}

/* Where the text has only a number, it is called as perf calls who has no name. */
static string_id name_of_who(struct reader *r, const struct who_key *k)
{
	char made_up[16];

	if (k->comm.n > 0)
		return build_string(r->p, k->comm.s, k->comm.n);
	snprintf(made_up, sizeof(made_up), ":%" PRId32, k->tid >= 0 ? k->tid : k->pid);
	return build_cstring(r->p, made_up);
}

static uint32_t new_who(struct reader *r, const struct who_key *k, uint64_t hash)
{
	string_id name = name_of_who(r, k);
	struct who w = { .pid = k->pid, .tid = k->tid, .group = "" };
	process_id process;

	/* Threads of one name are the best that can be had for a process. */
	process = k->pid >= 0 ? build_process(r->p, r->text.capture, k->pid)
			      : build_process_of_name(r->p, r->text.capture, name);
	w.comm = k->comm.n > 0 ? profile_string(r->p, name, &w.n) : "";
	w.thread = build_thread(r->p, process, k->tid, name);
	if (k->group.n > 0)
		enter_group(r, &w, k->group);
	if (k->pid >= 0 && k->pid == k->tid)
		build_process_name(r->p, process, name);
	else if (profile_process(r->p, process)->name.v == 0 && k->pid >= 0)
		build_process_name(r->p, process, name);
	w.root = build_stack(r->p, (stack_id){ 0 },
			     build_root_location(r->p, name, k->pid, k->tid, r->root_names));
	return add_who(r, &w, hash);
}

static uint32_t find_who(struct reader *r, const struct script_header *h)
{
	struct who_key k = { .comm = h->comm, .pid = h->pid, .tid = h->tid };
	uint64_t hash;
	uint32_t i;

	/* As perf script -F +cgroup has it; addresses and fields begin otherwise. */
	if (h->rest.n > 0 && h->rest.s[0] == '/')
		k.group = h->rest;
	if (r->last_who && same_who(r->whos.at, r->last_who - 1, &k))
		return r->last_who;
	hash = hash_bytes(k.comm.n ? k.comm.s : "", k.comm.n) ^
	       hash_bytes(k.group.n ? k.group.s : "", k.group.n) * 3 ^
	       hash_pair((uint32_t)k.pid, (uint32_t)k.tid);
	i = map_find(&r->by_who, hash, same_who, r->whos.at, &k);
	if (i != MAP_NONE)
		r->last_who = i + 1;
	else if (k.comm.n == 0 && k.pid < 0 && k.tid < 0 && k.group.n == 0)
		r->last_who = add_nobody(r, hash);
	else
		r->last_who = new_who(r, &k, hash);
	return r->last_who;
}

/* Events. */

/* Ours, of heaps, say it behind their names. */
static bool ends_in_bytes(const char *name)
{
	size_t n = strlen(name), n_bytes = strlen(SCRIPT_BYTES);

	return n > n_bytes && strcmp(name + n - n_bytes, SCRIPT_BYTES) == 0;
}

static event_id new_event(struct reader *r, const struct script_header *h)
{
	static const char *const clocks[] = { "cpu-clock", "task-clock" };
	char *name = xstrndup(h->event.n ? h->event.s : "samples", h->event.n ? h->event.n : 7);
	enum unit unit = UNIT_COUNT;
	event_id id;

	for (size_t i = 0; i < sizeof(clocks) / sizeof(*clocks); i++) {
		size_t n = strlen(clocks[i]);

		if (h->has_period && strncmp(name, clocks[i], n) == 0 &&
		    (name[n] == '\0' || name[n] == ':'))
			unit = UNIT_NS;
	}
	if (h->has_period && ends_in_bytes(name)) {
		name[strlen(name) - strlen(SCRIPT_BYTES)] = '\0';
		unit = UNIT_BYTES;
	}
	id = strcmp(name, "offcpu") == 0 ? build_derived_event(r->p, name, UNIT_NS)
					 : build_event(r->p, name, unit, h->has_period);
	free(name);
	return id;
}

static event_id find_event(struct reader *r, const struct script_header *h)
{
	struct event_name known;

	for (size_t i = 0; i < r->events.n; i++)
		if (r->events.at[i].n == h->event.n &&
		    (h->event.n == 0 || memcmp(r->events.at[i].s, h->event.s, h->event.n) == 0))
			return r->events.at[i].id;
	known.id = new_event(r, h);
	known.n = h->event.n;
	known.s = profile_string(r->p, build_string(r->p, h->event.n ? h->event.s : "", h->event.n),
				 NULL);
	vec_push(&r->events, known);
	return known.id;
}

/* Stacks. */

/* Bytes that two texts have in common from the right. */
static size_t common_tail(const char *a, size_t n_a, const char *b, size_t n_b)
{
	size_t n = n_a < n_b ? n_a : n_b, i = 0;

	for (; i + sizeof(uint64_t) <= n; i += sizeof(uint64_t)) {
		uint64_t x, y;

		memcpy(&x, a + n_a - i - sizeof(x), sizeof(x));
		memcpy(&y, b + n_b - i - sizeof(y), sizeof(y));
		if (x != y)
			break;
	}
	while (i < n && a[n_a - 1 - i] == b[n_b - 1 - i])
		i++;
	return i;
}

/* Drops the units of the thread's previous stack that this one does not end with. */
static void keep_common(struct reader *r, struct last *l)
{
	size_t same = 0, n_kept = 0;

	if (l->who == r->who)
		same = common_tail(l->text.at, l->text.n, r->lines.at, r->lines.n);
	/* a unit is whole only when this text has one that begins at the same place */
	while (n_kept < l->units.n && n_kept < r->units.n) {
		size_t from_end = l->units.at[n_kept].from_end;
		size_t here = r->lines.n - r->units.at[r->units.n - 1 - n_kept];

		if (from_end > same || from_end != here)
			break;
		n_kept++;
	}
	l->units.n = n_kept;
	l->who = r->who;
}

/* The stack of the sample's text. */
static stack_id read_stack(struct reader *r)
{
	struct last *l = &r->last[(r->who - 1) % N_LAST];
	stack_id stack = r->whos.at[r->who - 1].root;
	size_t i, end;

	keep_common(r, l);
	if (l->units.n > 0)
		stack = l->units.at[l->units.n - 1].stack;
	i = r->units.n - l->units.n;
	end = i < r->units.n ? r->units.at[i] : r->lines.n;
	while (i-- > 0) {
		size_t from = r->units.at[i];
		const struct script_unit *u = script_frames_unit(&r->frames, r->lines.at + from,
								 end - from);
		struct last_unit known = { .from_end = r->lines.n - from };

		for (uint32_t k = 0; k < u->n_locations; k++)
			stack = build_stack(r->p, stack, r->frames.locations.at[u->first + k]);
		known.stack = stack;
		vec_push(&l->units, known);
		end = from;
	}
	vec_clear(&l->text);
	vec_reserve(&l->text, r->lines.n);
	if (r->lines.n > 0)
		memcpy(l->text.at, r->lines.at, r->lines.n);
	l->text.n = r->lines.n;
	return stack;
}

/* Samples. */

static void end_sample(struct reader *r)
{
	if (!r->in_sample)
		return;
	r->in_sample = false;
	r->sample.stack = read_stack(r);
	if (build_sample(r->p, &r->sample) < 0)
		text_read_complain(&r->text, "makes the sum of periods too large");
	else
		r->n_samples++;
}

static void add_text(struct reader *r, const char *s, size_t n)
{
	vec_reserve(&r->lines, r->lines.n + n + 1);
	memcpy(r->lines.at + r->lines.n, s, n);
	r->lines.n += n;
	r->lines.at[r->lines.n++] = '\n';
}

static void add_frame(struct reader *r, const char *s, size_t n, bool inlined)
{
	if (r->lines.n + n > MOST_BYTES) {
		text_read_complain(&r->text, "makes a stack too deep");
		return;
	}
	if (!r->inlined)
		vec_push(&r->units, r->lines.n);
	r->inlined = inlined;
	r->n_frames++;
	add_text(r, s, n);
}

/* The number behind the event may be an address that was read, and the frames come below. */
static void drop_header_frame(struct reader *r)
{
	r->on_header = false;
	r->inlined = false;
	vec_clear(&r->lines);
	vec_clear(&r->units);
	r->n_frames--;
}

static void begin_sample(struct reader *r, const struct script_header *h)
{
	struct script_frame f;

	end_sample(r);
	r->in_sample = true;
	r->inlined = false;
	vec_clear(&r->lines);
	vec_clear(&r->units);
	r->who = find_who(r, h);
	r->sample = (struct sample){
		.thread = r->whos.at[r->who - 1].thread,
		.event = find_event(r, h),
		.cpu = h->cpu,
		.weight = h->has_period ? h->period : 1,
		.time_ns = h->time_ns,
	};
	r->on_header = h->rest.n > 0 && script_frame_read(h->rest.s, h->rest.n, &f) &&
		       f.address.n > 0 && (h->has_frame || f.module.n > 0 || f.name.n > 0);
	if (r->on_header)
		add_frame(r, h->rest.s, h->rest.n, false);
}

/* Ours may say of times how exact they are. */
static void read_comment(struct reader *r, const char *s, size_t n)
{
	const size_t n_mark = strlen(SCRIPT_TIMES);

	if (n > n_mark && n < REMARK_MOST && memcmp(s, SCRIPT_TIMES, n_mark) == 0)
		build_fact(r->p, r->text.capture, "file", "times", FACT_PLAIN, "%.*s",
			   (int)(n - n_mark), s + n_mark);
	else
		r->n_comments++;
}

/* A header of a loose text that no frame followed. */
static void drop_header(struct reader *r)
{
	if (r->header_line > 0)
		bad_lines_add(&r->text.bad, r->header_line, "is neither a sample nor a frame");
	r->header_line = 0;
}

/* Begins the sample of the header above, or of none. */
static void begin_loose(struct reader *r)
{
	struct script_header h = { .pid = -1, .tid = -1, .cpu = CPU_NONE, .time_ns = TIME_NONE };
	struct script_frame f;

	if (r->header_line > 0)
		script_loose_read(r->header.at, r->header.n, false, &h, &f);
	r->header_line = 0;
	r->n_good++;
	begin_sample(r, &h);
}

static void keep_header(struct reader *r, const char *s, size_t n)
{
	end_sample(r);
	vec_clear(&r->header);
	vec_reserve(&r->header, n);
	memcpy(r->header.at, s, n);
	r->header.n = n;
	r->header_line = r->text.lines.n;
}

/* A line of a text whose headers say little. */
static enum script_kind read_loose(struct reader *r, const char *s, size_t n,
				   struct script_header *h, struct script_frame *f)
{
	enum script_kind kind = script_loose_read(s, n, r->in_sample, h, f);

	if (kind == SCRIPT_FRAME && !r->in_sample && script_is_indented(s, n))
		begin_loose(r);
	drop_header(r);
	return kind;
}

static void read_line(struct reader *r, const char *s, size_t n)
{
	enum script_kind kind;
	struct script_header h;
	struct script_frame f;

	kind = r->loose ? read_loose(r, s, n, &h, &f)
			: script_line_read(s, n, r->in_sample, &h, &f);
	r->n_good += kind != SCRIPT_ODD;
	if (kind == SCRIPT_HEADER && r->loose && !h.has_frame) {
		r->n_good--;
		keep_header(r, s, n);
		return;
	}
	switch (kind) {
	case SCRIPT_BLANK:
		end_sample(r);
		return;
	case SCRIPT_COMMENT:
		read_comment(r, s, n);
		return;
	case SCRIPT_RECORD:
		end_sample(r);
		r->n_records++;
		return;
	case SCRIPT_HEADER:
		/* What folds the text as it is counts such a sample as one. */
		if (r->frames.options.as_printed && h.period == 0)
			h.has_period = false;
		begin_sample(r, &h);
		return;
	case SCRIPT_FRAME:
		if (r->in_sample && r->on_header && s[0] == '\t')
			drop_header_frame(r);
		if (r->in_sample)
			add_frame(r, s, n, f.inlined);
		else
			text_read_complain(&r->text, "is a frame without a sample");
		return;
	case SCRIPT_POSITION:
		if (r->units.n > 0 && r->lines.n + n <= MOST_BYTES)
			add_text(r, s, n);
		return;
	case SCRIPT_ODD:
		text_read_complain(&r->text, "is neither a sample nor a frame");
		return;
	}
}

/* What do headers say? False when more lines should come before that is known. */
static bool decide(struct reader *r, bool ended)
{
	const struct lines *l = &r->text.lines;
	size_t n = l->text.n - l->at;

	r->decided = script_text_is_loose(l->text.at ? l->text.at + l->at : "",
					  n < TRIED_BYTES ? n : TRIED_BYTES, &r->loose);
	r->loose = r->loose && r->decided;
	r->decided |= ended || n >= TRIED_BYTES;
	return r->decided;
}

/* Reads the lines that are there. */
static void take(void *reader, bool ended)
{
	struct reader *r = reader;
	const char *s;
	size_t n;

	if (!r->decided && !decide(r, ended))
		return;
	while (lines_next(&r->text.lines, &s, &n)) {
		if (!s)
			text_read_complain(&r->text, "is too long");
		else
			read_line(r, s, n);
	}
	if (ended) {
		end_sample(r);
		drop_header(r);
	}
}

/* What `info` says. */

#define PLURAL(n) ((n) == 1 ? "" : "s")

static void tell(struct reader *r)
{
	struct profile *p = r->p;

	builder_begin(p);
	build_fact(p, r->text.capture, "file", "samples", FACT_PLAIN,
		   "%" PRIu64 ", of %" PRIu64 " frame%s", r->n_samples, r->n_frames,
		   PLURAL(r->n_frames));
	if (r->n_comments > 0)
		build_fact(p, r->text.capture, "file", "comments", FACT_PLAIN, "%" PRIu64 " line%s",
			   r->n_comments, PLURAL(r->n_comments));
	if (r->n_records > 0)
		build_fact(p, r->text.capture, "file", "other records", FACT_PLAIN,
			   "%" PRIu64 " line%s", r->n_records, PLURAL(r->n_records));
	text_read_tell(&r->text);
	builder_end(p);
}

static void done(struct reader *r)
{
	text_read_done(&r->text);
	script_frames_done(&r->frames);
	map_done(&r->by_who);
	vec_done(&r->whos);
	vec_done(&r->events);
	vec_done(&r->header);
	vec_done(&r->lines);
	vec_done(&r->units);
	for (size_t i = 0; i < N_LAST; i++) {
		vec_done(&r->last[i].text);
		vec_done(&r->last[i].units);
	}
	free(r);
}

int perf_script_read(struct input *in, struct profile *p, capture_id c,
		     const struct read_options *o, struct progress *progress, struct err *e)
{
	struct reader *r = xcalloc(1, sizeof(*r));
	int rc;

	r->p = p;
	r->root_names = o ? o->root_names : ROOT_COMM;
	text_read_init(&r->text, in, p, c);
	script_frames_init(&r->frames, p, o);
	rc = text_read_all(&r->text, take, r, progress);
	if (r->n_samples > 0 && rc != -ECANCELED && r->n_good >= r->text.bad.n) {
		tell(r);
		rc = 0;
	} else if (r->n_samples > 0 && rc != -ECANCELED) {
		rc = text_read_refuse_most(&r->text, "neither a sample nor a frame", e);
	} else {
		rc = text_read_refuse(&r->text, rc, "sample", e);
	}
	done(r);
	return rc;
}
