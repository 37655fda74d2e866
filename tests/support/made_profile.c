/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "tests/support/made_profile.h"

#include "base/err.h"
#include "base/mem.h"
#include "profile/builder.h"
#include "query/core/filter.h"
#include "query/diff/comparison.h"
#include "query/heap/footprint.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum family family_of(const char *module)
{
	if (*module == '[')
		return FAMILY_KERNEL;
	return strncmp(module, "libc.so", 7) == 0 ? FAMILY_LIBC : FAMILY_PROGRAM;
}

/* f@m#file, of which the last two may be missing. */
static function_id make_function(struct profile *p, char *s, uint32_t flags)
{
	char *file = strchr(s, '#'), *module;
	string_id file_id = { 0 };
	module_id m = { 0 };

	if (file) {
		*file++ = '\0';
		file_id = build_cstring(p, file);
	}
	module = strchr(s, '@');
	if (module) {
		*module++ = '\0';
		m = build_module(p, module, "", family_of(module));
	}
	return build_function(p, build_cstring(p, s), m, flags, file_id, 0);
}

/* a>b: a new place for each pair, as the address of a location says where it is. */
static location_id make_inlined(struct profile *p, char *s)
{
	struct frame frames[8] = { 0 };
	uint64_t address = 0;
	uint32_t n = 0;
	location_id l;

	for (char *c = s; *c; c++)
		address = address * 31 + (unsigned char)*c;
	for (char *part = strtok(s, ">"); part && n < 8; part = strtok(NULL, ">"))
		frames[n++].function = make_function(p, part, 0).v;
	l = build_location(p, profile_function(p, (function_id){ frames[0].function })->module,
			   address);
	build_location_inlines(p, l, frames, n);
	return l;
}

static location_id make_location(struct profile *p, char *s)
{
	char *module;

	if (*s == '=')
		return build_comm_location(p, build_cstring(p, s + 1));
	if (strchr(s, '>'))
		return make_inlined(p, s);
	if (*s != '?')
		return build_symbol_location(
			p, make_function(p, s, *s == '[' ? FUNCTION_UNRESOLVED : 0));
	module = strchr(s, '@');
	return build_location(
		p, module ? build_module(p, module + 1, "", FAMILY_LIBRARY) : (module_id){ 0 },
		strtoull(s + 1, NULL, 16));
}

static stack_id make_stack(struct profile *p, char *frames)
{
	stack_id s = { 0 };
	char *next = frames;

	while (strcmp(frames, "-") != 0 && next) {
		char *frame = next;

		next = strchr(frame, ';');
		if (next)
			*next++ = '\0';
		s = build_stack(p, s, make_location(p, frame));
	}
	return s;
}

/* Numbered by its name. */
static thread_id into_cgroup(struct profile *p, capture_id c, thread_id thread, const char *path)
{
	string_id name = build_cstring(p, path);
	cgroup_id g = build_cgroup(p, c, name.v);

	build_cgroup_path(p, g, name);
	return build_thread_in(p, thread, g.v);
}

static void make_sample(struct profile *p, capture_id c, char *line)
{
	char *save = NULL, *frames = strtok_r(line, " ", &save),
	     *weight = strtok_r(NULL, " ", &save);
	struct sample s = { .thread = { ID_NONE }, .cpu = CPU_NONE, .time_ns = TIME_NONE };
	const char *event = "samples", *name = "", *cgroup = NULL;
	int pid = -1, tid = -1;

	cr_assert(frames && weight, "a line of a made profile: frames and a weight");
	for (char *w = strtok_r(NULL, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
		char *value = strchr(w, '=');

		cr_assert_not_null(value);
		*value++ = '\0';
		if (strcmp(w, "tid") == 0)
			tid = atoi(value);
		else if (strcmp(w, "pid") == 0)
			pid = atoi(value);
		else if (strcmp(w, "cpu") == 0)
			s.cpu = (uint16_t)atoi(value);
		else if (strcmp(w, "t") == 0)
			s.time_ns = atoll(value);
		else if (strcmp(w, "event") == 0)
			event = value;
		else if (strcmp(w, "name") == 0)
			name = value;
		else if (strcmp(w, "cgroup") == 0)
			cgroup = value;
		else
			cr_assert_fail("what is %s?", w);
	}
	s.weight = atoll(weight);
	s.event = strncmp(event, "ns:", 3) == 0      ? build_event(p, event + 3, UNIT_NS, true)
		  : strncmp(event, "waits:", 6) == 0 ? build_derived_event(p, event + 6, UNIT_NS)
		  : strncmp(event, "sums:", 5) == 0  ? build_summed_event(p, event + 5, UNIT_NS)
						     : build_event(p, event, UNIT_COUNT, true);
	if (tid >= 0) {
		process_id process = build_process(p, c, pid);

		s.thread = build_thread(p, process, tid, build_cstring(p, name));
		if (pid == tid || process_name(profile_process(p, process)).v == 0)
			build_process_name(p, process, build_cstring(p, name));
	}
	if (cgroup)
		s.thread = into_cgroup(p, c, s.thread, cgroup);
	s.stack = make_stack(p, frames);
	cr_assert_eq(build_sample(p, &s), 0);
}

void made_profile_add(struct profile *p, const char *text)
{
	char *copy = xstrdup(text), *next = copy;
	struct profile_counts counts;
	capture_id c;

	profile_counts_read(p, &counts);
	builder_begin(p);
	c = counts.n_captures ? (capture_id){ counts.n_captures - 1 }
			      : build_capture(p, "made", "made");
	while (next && *next) {
		char *line = next;

		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		if (strcmp(line, "capture") == 0)
			c = build_capture(p, "another", "made");
		else if (*line)
			make_sample(p, c, line);
	}
	cr_assert_eq(builder_end(p), 0);
	free(copy);
}

struct profile *made_profile(const char *text)
{
	struct profile *p = profile_new();

	made_profile_add(p, text);
	return p;
}

unsigned made_number(unsigned *state, unsigned n)
{
	*state = *state * 1664525u + 1013904223u;
	return (*state >> 8) % n;
}

struct profile *made_profile_by_lot(unsigned seed, unsigned n)
{
	/* Few names, so that recursion, equal names in two modules and inlining all happen. */
	static const char *const frame[] = {
		"a@x#f.c",      "b@x#f.c",     "c@y#g.c", "d@y",   "a@y#g.c", "Eee@z",
		"?10@x",        "?11@x",       "?10@z",   "[x]@x", "a@x>b@x", "c@y>a@y>d@y",
		"[truncated]@", "f::g(int)@x", "b@x>b@x", "g",
	};
	char *text = xcalloc((size_t)n + 1, 512);
	size_t at = 0;

	for (unsigned i = 0; i < n; i++) {
		unsigned depth = made_number(&seed, 9), thread = made_number(&seed, 4);

		if (thread)
			at += (size_t)sprintf(text + at, "=t%u%s", thread, depth ? ";" : "");
		else if (depth == 0)
			at += (size_t)sprintf(text + at, "-");
		for (unsigned d = 0; d < depth; d++)
			at += (size_t)sprintf(
				text + at, "%s%s", d ? ";" : "",
				frame[made_number(&seed, sizeof(frame) / sizeof(*frame))]);
		/* One number at a time: compilers differ in which argument they make first. */
		const char *event = made_number(&seed, 3) ? "cycles" : "faults";
		at += (size_t)sprintf(text + at, " %u event=%s", made_number(&seed, 50), event);
		if (thread)
			at += (size_t)sprintf(text + at, " pid=%u tid=%u name=t%u", 1 + thread / 2,
					      thread, thread);
		if (made_number(&seed, 5)) {
			unsigned t = made_number(&seed, 1000);

			at += (size_t)sprintf(text + at, " cpu=%u t=%u", made_number(&seed, 4), t);
		}
		at += (size_t)sprintf(text + at, "\n");
		if (i == n / 2 && made_number(&seed, 2))
			at += (size_t)sprintf(text + at, "capture\n");
	}
	struct profile *p = made_profile(text);

	free(text);
	return p;
}

struct profile *made_profile_of_one_capture(unsigned seed, unsigned n)
{
	struct profile_counts counts;
	struct profile *p = made_profile_by_lot(seed, n);

	profile_counts_read(p, &counts);
	if (counts.n_captures == 1)
		return p;
	profile_free(p);
	return NULL;
}

void made_lens(struct lens *l, const struct profile *p, const char *filter)
{
	struct err e = ERR_INIT;

	lens_init(l, p);
	if (filter && filter_parse(filter, &l->filter, &e) < 0)
		cr_assert_fail("%s: %s", filter, err_text(&e));
	err_clear(&e);
}

struct footprint *made_footprint(const struct profile *p, const char *filter, event_id event)
{
	struct profile_counts counts;
	struct footprint *m;
	struct lens l;

	profile_counts_read(p, &counts);
	made_lens(&l, p, filter);
	cr_assert_eq(footprint_new(p, &counts, &l, (struct metric){ .event = event }, NULL, &m), 0);
	lens_done(&l);
	return m;
}

struct analysis *made_analysis(const struct profile *p, const struct lens *l)
{
	struct analysis *a = NULL;

	cr_assert_eq(analysis_new(p, l, NULL, &a), 0);
	return a;
}

struct analysis *made_comparison(const struct profile *p, const char *before, const char *after)
{
	struct comparison_choice choice = { .event = "", .metric = "" };
	struct comparison c = { 0 };
	struct analysis *a = NULL;
	struct err e = ERR_INIT;
	struct lens l;

	for (int side = 0; side < N_SIDES; side++) {
		c.name[side] = xstrdup(side == SIDE_BEFORE ? "BEFORE" : "AFTER");
		cr_assert_eq(comparison_add(&c, (enum side)side,
					    side == SIDE_BEFORE ? before : after, &e),
			     0);
	}
	made_lens(&l, p, "");
	cr_assert_eq(comparison_lens(&c, p, &choice, &l, &e), 0, "%s", err_text(&e));
	comparison_done(&c);
	cr_assert_eq(analysis_new(p, &l, NULL, &a), 0);
	lens_done(&l);
	return a;
}

char *made_tree_text(const struct analysis *a)
{
	const struct calltree *t = a->tree;
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	for (uint32_t i = 1; i < t->n_nodes; i++)
		fprintf(f, "%*s%s %lld %lld\n", (int)(t->depth[i] - 1) * 2, "",
			a->keys.key[t->key[i]].label, (long long)t->total[(size_t)i * t->n_columns],
			(long long)t->self[(size_t)i * t->n_columns]);
	fclose(f);
	return text;
}
