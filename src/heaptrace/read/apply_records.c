/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "heaptrace/read/apply_records.h"

#include "base/bisect.h"
#include "base/compare.h"
#include "base/fmt.h"
#include "base/sum.h"
#include "heaptrace/read/heap_environment.h"
#include "heaptrace/read/heap_stacks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Longer texts of a file say nothing more. */
#define MOST_TEXT 4096

/* Calls that were only counted, in one record. */
#define MOST_CULLED ((uint64_t)1 << 52)

/* A copy as a C string: NULs inside, as between arguments, become blanks. The caller frees. */
static char *text_of(const struct heap_text *text)
{
	size_t n = text->n < MOST_TEXT ? text->n : MOST_TEXT;
	char *s = xmalloc(n + 1);

	while (n > 0 && text->at[n - 1] == '\0')
		n--;
	for (size_t i = 0; i < n; i++)
		s[i] = text->at[i] ? (char)text->at[i] : ' ';
	s[n] = '\0';
	return s;
}

static void text_fact(struct apply_records *t, const char *name, const struct heap_text *text)
{
	char *s = text_of(text);

	if (*s)
		build_fact(t->profile, t->capture, "file", name, FACT_PLAIN, "%s", s);
	free(s);
}

/* There may be several: a fact each. By these words they tell of what is missing (doc/trace-format.md). */
static void note(struct apply_records *t, const struct heap_text *text)
{
	char *s = text_of(text), name[32] = "note";
	bool misses = strstr(s, "not recorded") || strstr(s, "recording ends here");

	if (t->n_notes++)
		snprintf(name, sizeof(name), "note %" PRIu64, t->n_notes);
	if (*s)
		build_fact(t->profile, t->capture, misses ? "losses" : "file", name,
			   misses ? FACT_LOSS : FACT_PLAIN, "%s", s);
	free(s);
}

static void tell_process(struct apply_records *t, const struct heap_record *r)
{
	char *exe = text_of(&r->text[HEAP_PROCESS_EXE]), *slash = strrchr(exe, '/');

	build_process_name(t->profile, t->process,
			   build_cstring(t->profile, slash ? slash + 1 : exe));
	free(exe);
	text_fact(t, "command", &r->text[HEAP_PROCESS_COMMAND]);
	text_fact(t, "directory", &r->text[HEAP_PROCESS_DIRECTORY]);
	text_fact(t, "host", &r->text[HEAP_PROCESS_HOST]);
	build_fact(t->profile, t->capture, "file", "process", FACT_PLAIN, "%" PRIu64,
		   r->number[HEAP_PROCESS_PID]);
	if (r->number[HEAP_PROCESS_CPUS])
		build_fact(t->profile, t->capture, "file", "cpus", FACT_PLAIN, "%" PRIu64,
			   r->number[HEAP_PROCESS_CPUS]);
}

static stack_id root_of(struct apply_records *t, int32_t tid, string_id name)
{
	int32_t pid = profile_process(t->profile, t->process)->pid;
	location_id root = build_root_location(t->profile, name, pid, tid, t->root_names);

	return build_stack(t->profile, (stack_id){ 0 }, root);
}

static void add_name(struct apply_records *t, uint32_t index, int64_t from_ns, int32_t tid,
		     string_id name)
{
	struct heap_name n = { .index = index, .from_ns = from_ns, .to_ns = INT64_MAX };

	n.thread = build_thread(t->profile, t->process, tid, name);
	n.root = root_of(t, tid, name);
	vec_push(&t->names, n);
	t->names_sorted = false;
}

/* The name of a thread that ended before the recorder could read it: as it begins, that of its process. */
static string_id inherited_name(const struct apply_records *t)
{
	const char *name = profile_string(t->profile, profile_process(t->profile, t->process)->name,
					  NULL);
	char comm[16]; /* as much as the kernel keeps */

	snprintf(comm, sizeof(comm), "%s", name);
	return build_cstring(t->profile, comm);
}

static void tell_thread(struct apply_records *t, const struct heap_record *r, int64_t time_ns)
{
	uint64_t index = r->number[HEAP_THREAD_INDEX], tid = r->number[HEAP_THREAD_TID];
	char *name = text_of(&r->text[0]);

	if (index > UINT32_MAX || tid > INT32_MAX)
		t->n_bad++;
	else
		add_name(t, (uint32_t)index, time_ns, (int32_t)tid,
			 *name ? build_cstring(t->profile, name) : inherited_name(t));
	free(name);
}

static void tell_module(struct apply_records *t, const struct heap_record *r)
{
	struct heap_module m = { .index = r->number[HEAP_MODULE_INDEX] };
	const struct heap_text *id = &r->text[HEAP_MODULE_BUILD_ID];

	m.path = text_of(&r->text[HEAP_MODULE_PATH]);
	if (id->n > 0 && id->n <= sizeof(m.build_id.bytes)) {
		memcpy(m.build_id.bytes, id->at, id->n);
		m.build_id.n = (uint8_t)id->n;
	}
	vec_push(&t->modules, m);
}

static void tell_map(struct apply_records *t, const struct heap_record *r, int64_t time_ns)
{
	uint64_t index = r->number[HEAP_MAP_MODULE];
	const struct heap_module *m = NULL;
	bool over;

	/* They come in order, so that it is nearly always where its index says. */
	if (index > 0 && index <= t->modules.n && t->modules.at[index - 1].index == index)
		m = &t->modules.at[index - 1];
	for (size_t i = t->modules.n; !m && i-- > 0;)
		if (t->modules.at[i].index == index)
			m = &t->modules.at[i];
	if (!m) {
		t->n_bad++;
		return;
	}
	/* The recorder notices mappings when it comes to: code may have run there a while by then. */
	over = heap_stacks_map(t->stacks, r, time_ns);
	resolver_map(t->resolver, &(struct mapping_event){
					  .time_ns = over ? time_ns : 0,
					  .pid = profile_process(t->profile, t->process)->pid,
					  .start = r->number[HEAP_MAP_START],
					  .length = r->number[HEAP_MAP_BYTES],
					  .file_offset = r->number[HEAP_MAP_OFFSET],
					  .path = m->path,
					  .build_id = m->build_id,
					  .executable = r->number[HEAP_MAP_PROT] & PROT_EXEC,
				  });
}

static void reading(struct apply_records *t, const char *name, enum unit unit, int64_t time_ns,
		    uint64_t value)
{
	series_id s;

	if (value > INT64_MAX)
		return;
	s = build_heap_series(t->profile, t->capture, name, unit);
	build_heap_reading(t->profile, s, time_ns, (int64_t)value);
}

static void tell_usage(struct apply_records *t, const struct heap_record *r, int64_t time_ns)
{
	reading(t, "RSS", UNIT_BYTES, time_ns, r->number[HEAP_USAGE_RSS]);
	/* The kernel does not always say these. */
	if (r->number[HEAP_USAGE_PSS])
		reading(t, "PSS", UNIT_BYTES, time_ns, r->number[HEAP_USAGE_PSS]);
	if (r->number[HEAP_USAGE_ANON])
		reading(t, "anonymous", UNIT_BYTES, time_ns, r->number[HEAP_USAGE_ANON]);
	if (r->number[HEAP_USAGE_SWAP])
		reading(t, "swapped", UNIT_BYTES, time_ns, r->number[HEAP_USAGE_SWAP]);
	reading(t, "minor faults", UNIT_COUNT, time_ns, r->number[HEAP_USAGE_MINOR]);
	reading(t, "major faults", UNIT_COUNT, time_ns, r->number[HEAP_USAGE_MAJOR]);
}

static void mark(struct apply_records *t, const char *name, int64_t time_ns)
{
	struct heap_mark m = { .capture = t->capture, .thread = ID_NONE, .time_ns = time_ns };

	m.name = build_cstring(t->profile, name);
	build_heap_mark(t->profile, &m);
}

static void mark_text(struct apply_records *t, const struct heap_text *text, int64_t time_ns)
{
	char *name = text_of(text);

	mark(t, name, time_ns);
	free(name);
}

static void tell_sampling(struct apply_records *t, const struct heap_record *r, int64_t time_ns)
{
	uint64_t bytes = r->number[HEAP_SAMPLING_MEAN_BYTES];
	bool most = bytes > SAMPLE_BYTES_MOST;
	struct heap_sampling s = { .time_ns = time_ns,
				   .sample_bytes = (double)(most ? SAMPLE_BYTES_MOST : bytes),
				   .exact_from = r->number[HEAP_SAMPLING_EXACT_FROM] };

	t->n_bad += most;
	/* Clocks differ a little: the first events may seem to be of before it. */
	if (t->samplings.n == 0 && !t->events_begun)
		s.time_ns = INT64_MIN;
	vec_push(&t->samplings, s);
}

static void tell_culled(struct apply_records *t, const struct heap_record *r, int64_t time_ns)
{
	struct heap_culled c = {
		.time_ns = time_ns,
		.calls = r->number[HEAP_CULLED_COUNT],
		.bytes = r->number[HEAP_CULLED_BYTES],
		.temporary = r->number[HEAP_CULLED_TEMPORARY],
	};
	uint64_t stack = r->number[HEAP_CULLED_STACK], thread = r->number[HEAP_CULLED_THREAD];

	if (stack > UINT32_MAX || thread > UINT32_MAX || c.bytes > SIZE_SUM_MOST ||
	    c.calls > MOST_CULLED || c.temporary > MOST_CULLED) {
		t->n_bad++;
		return;
	}
	c.stack = (uint32_t)stack;
	c.thread = (uint32_t)thread;
	vec_push(&t->culled, c);
}

static void tell_options(struct apply_records *t, const struct heap_record *r)
{
	t->attached = r->number[HEAP_OPTIONS_ATTACHED] != 0;
	t->free_stacks = r->number[HEAP_OPTIONS_FREE_STACKS] != 0;
	if (t->attached)
		build_fact(t->profile, t->capture, "file", "attached", FACT_PLAIN,
			   "to a running program: what it had allocated before is not known");
}

static void tell_culling(struct apply_records *t, const struct heap_record *r)
{
	uint64_t threshold = r->number[HEAP_CULLING_THRESHOLD];
	char text[FMT_SIZE];

	t->held = threshold;
	if (threshold)
		build_fact(
			t->profile, t->capture, "file", "culling", FACT_PLAIN,
			"blocks that lived less than %s are only counted",
			fmt_ns(text, apply_records_time(t, threshold) - apply_records_time(t, 0)));
}

int64_t apply_records_paused(const struct apply_records *t, int64_t end_ns)
{
	bool goes_on = t->n_pauses > 0 && t->paused_from != TIME_NONE && end_ns > t->paused_from;

	return sum_of(t->paused_ns, goes_on ? end_ns - t->paused_from : 0);
}

static void tell_switch(struct apply_records *t, bool on, int64_t time_ns)
{
	mark(t, on ? "recording on" : "recording off", time_ns);
	if (on) {
		t->paused_ns = apply_records_paused(t, time_ns);
		t->paused_from = TIME_NONE;
	} else if (t->n_pauses == 0 || t->paused_from == TIME_NONE) {
		t->paused_from = time_ns;
		t->n_pauses++;
	}
}

/* What happened to the process or to the recording, of types that need few words; the others say nothing here. */
static void tell_event(struct apply_records *t, const struct heap_record *r, int64_t time_ns)
{
	switch (r->type) {
	case HEAP_REC_MARK:
		mark_text(t, &r->text[0], time_ns);
		break;
	case HEAP_REC_SWITCH:
		tell_switch(t, r->number[HEAP_SWITCH_ON], time_ns);
		break;
	case HEAP_REC_LOST:
		t->n_lost = sum_of_counts(t->n_lost, r->number[HEAP_LOST_EVENTS]);
		break;
	case HEAP_REC_NOTE:
		note(t, &r->text[0]);
		break;
	case HEAP_REC_EXEC:
		text_fact(t, "became", &r->text[0]);
		t->execed = true;
		break;
	case HEAP_REC_END:
		t->ended = true;
		t->n_events_said = r->number[HEAP_END_EVENTS];
		break;
	default: /* of an UNMAP, the next mapping of its addresses says all there is to say */
		break;
	}
}

static void tell(struct apply_records *t, const struct heap_record *r)
{
	int64_t time_ns = apply_records_time(t, r->number[HEAP_TIME]);

	if (r->type == HEAP_REC_USAGE && r->number[HEAP_TIME] > t->newest)
		t->newest = r->number[HEAP_TIME];
	if (r->number[HEAP_TIME] > t->last)
		t->last = r->number[HEAP_TIME];
	/* It may have failed. */
	t->execed = false;
	switch (r->type) {
	case HEAP_REC_PROCESS:
		tell_process(t, r);
		break;
	case HEAP_REC_ENVIRONMENT:
		heap_environment_tell(t->profile, t->capture, &r->text[0]);
		break;
	case HEAP_REC_OPTIONS:
		tell_options(t, r);
		break;
	case HEAP_REC_THREAD:
		tell_thread(t, r, time_ns);
		break;
	case HEAP_REC_MODULE:
		tell_module(t, r);
		break;
	case HEAP_REC_MAP:
		tell_map(t, r, time_ns);
		break;
	case HEAP_REC_USAGE:
		tell_usage(t, r, time_ns);
		break;
	case HEAP_REC_SAMPLING:
		tell_sampling(t, r, time_ns);
		break;
	case HEAP_REC_OVERHEAD:
		t->overhead = r->number[HEAP_OVERHEAD_MOST];
		break;
	case HEAP_REC_COST:
		t->program_time = r->number[HEAP_COST_PROGRAM];
		t->recording_time = r->number[HEAP_COST_RECORDING];
		t->passing_time = r->number[HEAP_COST_PASSING];
		t->n_passed = r->number[HEAP_COST_PASSED];
		break;
	case HEAP_REC_CULLING:
		tell_culling(t, r);
		break;
	case HEAP_REC_CULLED:
		tell_culled(t, r, time_ns);
		break;
	default:
		tell_event(t, r, time_ns);
		break;
	}
}

void apply_records_block(struct apply_records *t, const struct heap_unpacked *u)
{
	struct heap_in in = u->column[HEAP_COL_RECORDS];
	struct heap_record r;

	while (heap_take_record(&in, &r))
		if (r.known)
			tell(t, &r);
	t->n_bad += in.bad;
}

static int by_thread_and_time(const void *a, const void *b)
{
	const struct heap_name *x = a, *y = b;

	return COMPARE(x->index, y->index) ?: COMPARE(x->from_ns, y->from_ns);
}

static void sort_names(struct apply_records *t)
{
	if (t->names.n > 0)
		qsort(t->names.at, t->names.n, sizeof(*t->names.at), by_thread_and_time);
	for (size_t i = 0; i + 1 < t->names.n; i++)
		t->names.at[i].to_ns = t->names.at[i].index == t->names.at[i + 1].index
					       ? t->names.at[i + 1].from_ns
					       : INT64_MAX;
	t->names_sorted = true;
}

struct heap_name apply_records_thread(struct apply_records *t, uint32_t index, int64_t time_ns)
{
	const struct heap_name *at;
	size_t from = 0;

	if (!t->names_sorted)
		sort_names(t);
	/* Names below `from` are of threads before, or from then on or earlier. */
	at = t->names.at;
	BISECT(from, t->names.n, i,
	       at[i].index < index || (at[i].index == index && at[i].from_ns <= time_ns));
	if (from > 0 && at[from - 1].index == index)
		return at[from - 1];
	/* Clocks differ a little: the first name is good for what comes before it. */
	if (from < t->names.n && at[from].index == index) {
		struct heap_name n = at[from];

		n.to_ns = n.from_ns;
		return n;
	}
	add_name(t, index, INT64_MIN, -1, (string_id){ 0 });
	return apply_records_thread(t, index, time_ns);
}

void apply_records_roots(struct apply_records *t)
{
	for (size_t i = 0; i < t->names.n; i++) {
		struct heap_name *n = &t->names.at[i];
		const struct thread *thread = profile_thread(t->profile, n->thread);

		n->root = root_of(t, thread->tid, thread->name);
	}
}

void apply_records_done(struct apply_records *t)
{
	for (size_t i = 0; i < t->modules.n; i++)
		free(t->modules.at[i].path);
	vec_done(&t->modules);
	vec_done(&t->names);
	vec_done(&t->culled);
	vec_done(&t->samplings);
}
