/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Every recording of the corpus, by its list: read, or refused with a sentence; as many samples of each
 * event as perf counted, or as there are whole ones in a damaged file; and each sample - weight, time,
 * thread, and module of every frame - as perf script printed it.
 *
 * What perf script printed is read by the reader of such texts, and the two profiles are compared. There
 * are no symbol files, neither then nor here, so modules are what frames can be compared by.
 */
#include "config.h"

#include "base/err.h"
#include "base/mem.h"
#include "formats/format.h"
#include "input/input.h"
#include "profile/builder.h"
#include "query/analysis.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define N(array) (sizeof(array) / sizeof(*(array)))

/* A line of perfdata.tsv; all strings are parts of it. */
struct row {
	const char *name;     /* the file's, below the corpus */
	const char *counts;   /* "event=samples;…" as perf counts them, or "-" */
	const char *n_walked; /* samples that a walk from record to record finds */
	const char *note;     /* of whom it is a twin */
	bool damaged;         /* on purpose */
	char *path;           /* owned */
};

/* What reading gave. */
struct result {
	int rc;
	struct err error;
	struct profile *profile;
};

static struct result read_file(const char *path)
{
	struct result r = { .error = ERR_INIT, .profile = profile_new() };
	const struct format *f = NULL;
	struct input *in = NULL;
	capture_id c;

	r.rc = input_open(path, &in, &r.error);
	if (r.rc == 0)
		f = format_probe(in, &r.error);
	if (f) {
		builder_begin(r.profile);
		c = build_capture(r.profile, path, f->name);
		builder_end(r.profile);
		r.rc = f->read(in, r.profile, c, NULL, NULL, &r.error);
	} else {
		r.rc = -1;
	}
	input_close(in);
	return r;
}

static void done(struct result *r)
{
	err_clear(&r->error);
	profile_free(r->profile);
}

/* Calls each() for the rows of the list; says how many there were, 0 without a corpus. */
static size_t for_each_row(void (*each)(const struct row *))
{
	FILE *list = fopen(CORPUS "/perfdata.tsv", "r");
	char *line = NULL;
	size_t room = 0, n = 0;

	if (!list)
		return 0;
	while (getline(&line, &room, list) > 0) {
		char *column[24] = { 0 }, *save = line;
		struct row row;

		for (size_t i = 0; i < N(column); i++)
			column[i] = strsep(&save, "\t");
		cr_assert(column[23], "%s", column[0]);
		if (strcmp(column[3], "mode") == 0)
			continue;
		row = (struct row){
			.name = column[0],
			.counts = column[8],
			.n_walked = column[10],
			.note = column[23],
			.damaged = strstr(column[16], "damaged") != NULL,
			.path = xasprintf("%s/%s", CORPUS, column[0]),
		};
		each(&row);
		free(row.path);
		n++;
	}
	free(line);
	fclose(list);
	return n;
}

/* How many. */

/* "a=1;b=2" of the profile, in the order of its events, those left out that were worked out. */
static char *counts_of(const struct profile *p, uint64_t *n_all)
{
	struct profile_counts n;
	struct sample_columns s;
	char *text = NULL;
	size_t bytes;
	FILE *to = open_memstream(&text, &bytes);

	profile_counts_read(p, &n);
	profile_samples(p, &s);
	*n_all = 0;
	for (uint32_t e = 0; e < n.n_events; e++) {
		uint64_t count = 0;

		if (profile_event(p, (event_id){ e })->is_derived)
			continue;
		for (uint64_t i = 0; i < n.n_samples; i++)
			count += (s.event ? s.event[i] : 0) == e;
		fprintf(to, "%s%s=%" PRIu64, e ? ";" : "",
			profile_string(p, profile_event(p, (event_id){ e })->name, NULL), count);
		*n_all += count;
	}
	fclose(to);
	return text;
}

/* Is each "name=count" of one list in the other? Both are joined by ';'. */
static bool same_counts(const char *a, const char *b)
{
	char *items = xstrdup(a), *all = xasprintf(";%s;", b), *save = NULL;
	bool same = strlen(a) == strlen(b);

	for (char *item = strtok_r(items, ";", &save); item; item = strtok_r(NULL, ";", &save)) {
		char *wanted = xasprintf(";%s;", item);

		same = same && strstr(all, wanted);
		free(wanted);
	}
	free(items);
	free(all);
	return same;
}

/* Names that perf 6.1 makes up where the recording perf's own are in the file; see doc/differences.md. */
static const struct {
	const char *name, *counts;
} named_otherwise[] = {
	{ "quipper/perf.data.piped.header_features_aligned-6.12", "cycles:u=9" },
	{ "quipper/perf.data.piped.header_feautres_group_desc-6.8",
	  "cycles:u=11;instructions:u=10" },
	{ "simpleperf/testdata/perf_with_tracepoint_event.data",
	  "sched:sched_switch=31;cycles:HG=14" },
	{ "simpleperf/testdata/perf_with_tracepoint_event_dynamic_field.data",
	  "kprobes:myopen=10" },
};

static const char *wanted_counts(const struct row *row)
{
	for (size_t i = 0; i < N(named_otherwise); i++)
		if (strcmp(row->name, named_otherwise[i].name) == 0)
			return named_otherwise[i].counts;
	return strcmp(row->counts, "-") == 0 ? "" : row->counts;
}

/* Damaged files in which a simple walk from record to record finds another number of samples. */
static const struct {
	const char *name;
	uint64_t n;
} walked_otherwise[] = {
	/* a sample without a body */
	{ "made/damaged/rec_size_8.data", 98 },
	/* an attr section outside of the file: refused */
	{ "made/damaged/flip_ev_context_switches_2000.data", 0 },
	/* what can be unpacked before the damage; the walk gives up all of it */
	{ "made/damaged/flip_pipe_z_20.data", 1 },
	{ "made/damaged/flip_z22_1.data", 2878 },
	{ "made/damaged/flip_z22_20.data", 14 },
	{ "made/damaged/flip_z22_200.data", 14 },
	{ "made/damaged/z_bad_frame.data", 2769 },
	/* packed as a whole */
	{ "made/damaged/gz_of_perf.data", 196 },
	{ "made/damaged/zst_of_perf.data", 196 },
};

static uint64_t wanted_samples(const struct row *row)
{
	for (size_t i = 0; i < N(walked_otherwise); i++)
		if (strcmp(row->name, walked_otherwise[i].name) == 0)
			return walked_otherwise[i].n;
	return strtoull(row->n_walked, NULL, 10);
}

/* The facts of a section follow each other, or it would have two headings. */
static void check_sections(const struct row *row, const struct profile *p)
{
	struct profile_counts n;

	profile_counts_read(p, &n);
	for (uint32_t i = 1; i < n.n_facts; i++) {
		string_id section = profile_fact(p, i).section;

		for (uint32_t k = 0; section.v != profile_fact(p, i - 1).section.v && k < i; k++)
			cr_expect_neq(profile_fact(p, k).section.v, section.v, "%s: %s", row->name,
				      profile_string(p, section, NULL));
	}
}

static void check_counts(const struct row *row)
{
	struct result r = read_file(row->path);
	char *prefix = xasprintf("%s: ", row->path), *got;
	uint64_t n;

	got = counts_of(r.profile, &n);
	if (r.rc != 0)
		cr_expect(n == 0 && strncmp(err_text(&r.error), prefix, strlen(prefix)) == 0,
			  "%s: %d, %" PRIu64 " samples, %s", row->name, r.rc, n,
			  err_text(&r.error));
	if (row->damaged)
		cr_expect_eq(n, wanted_samples(row), "%s: %" PRIu64 " samples, not %" PRIu64,
			     row->name, n, wanted_samples(row));
	else
		cr_expect(same_counts(wanted_counts(row), got), "%s: %s, not %s", row->name, got,
			  row->counts);
	check_sections(row, r.profile);
	free(prefix);
	free(got);
	done(&r);
}

Test(perf_corpus, counts_are_those_of_perf_or_of_a_walk, .timeout = 300)
{
	size_t n = for_each_row(check_counts);

	if (n == 0)
		cr_skip("skipped: no corpus");
	cr_expect_gt(n, 200);
}

/* Each sample. */

/* Samples of a profile as lines of text, sorted. */
struct samples {
	char **at; /* "EVENT WEIGHT TIME PID/TID COMM;LEAF;CALLER;…", frames by their modules */
	size_t n;
};

/* Begins the name of a frame that is a remark. */
#define MARK "# "

static const char *module_name(const struct profile *p, uint32_t module)
{
	const struct module *m = profile_module(p, (module_id){ module });
	/* the kernel's go by their names: perf shows those of ".ko" files by the files' */
	const char *name = profile_string(p, m->family == FAMILY_KERNEL ? m->name : m->path, NULL);

	if (strcmp(name, "vmlinux") == 0)
		return "[kernel]";
	return *name ? name : "[unknown]";
}

static void put_frame(FILE *to, const struct profile *p, uint32_t location)
{
	struct location_columns l;
	const struct function *f = NULL;
	uint32_t function, module;

	profile_locations(p, &l);
	function = location_function(&l, location);
	module = l.module[location];
	if (function != ID_NONE)
		f = profile_function(p, (function_id){ function });
	if (f && module == 0)
		module = f->module.v;
	if (f && f->flags & FUNCTION_MARK)
		fprintf(to, ";%s%s", MARK, profile_string(p, f->name, NULL));
	else if (!f || !(f->flags & FUNCTION_COMM))
		fprintf(to, ";%s", module_name(p, module));
}

static void put_stack(FILE *to, const struct profile *p, uint32_t stack)
{
	struct stack_columns s;

	profile_stacks(p, &s);
	for (; stack != 0; stack = s.parent[stack])
		put_frame(to, p, s.location[stack]);
}

static char *text_of(const struct profile *p, const struct sample_columns *s, uint64_t i)
{
	const struct event *e = profile_event(p, (event_id){ s->event ? s->event[i] : 0 });
	const struct thread *t = profile_thread(p, (thread_id){ s->thread[i] });
	char *text = NULL;
	size_t n;
	FILE *to = open_memstream(&text, &n);

	fprintf(to, "%s %" PRId64 " ", profile_string(p, e->name, NULL),
		s->weight ? s->weight[i] : 1);
	if (s->time_ns && s->time_ns[i] != TIME_NONE)
		fprintf(to, "%" PRId64 " ", s->time_ns[i] / 1000);
	else
		fputs("- ", to);
	fprintf(to, "%d/%d %s", profile_process(p, t->process)->pid, t->tid,
		profile_string(p, t->name, NULL));
	put_stack(to, p, s->stack[i]);
	fclose(to);
	return text;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static struct samples samples_of(const struct profile *p)
{
	struct samples out = { 0 };
	struct profile_counts n;
	struct sample_columns s;

	profile_counts_read(p, &n);
	profile_samples(p, &s);
	out.at = xcalloc(n.n_samples + 1, sizeof(*out.at));
	for (uint64_t i = 0; i < n.n_samples; i++)
		if (!profile_event(p, (event_id){ s.event ? s.event[i] : 0 })->is_derived)
			out.at[out.n++] = text_of(p, &s, i);
	qsort(out.at, out.n, sizeof(*out.at), by_text);
	return out;
}

static void samples_done(struct samples *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->at[i]);
	free(s->at);
}

/* Takes the samples from both that the other has as well. */
static void drop_equal(struct samples *a, struct samples *b)
{
	size_t i = 0, k = 0, n_a = 0, n_b = 0;

	while (i < a->n || k < b->n) {
		int order = i == a->n ? 1 : k == b->n ? -1 : strcmp(a->at[i], b->at[k]);

		if (order == 0) {
			free(a->at[i++]);
			free(b->at[k++]);
		} else if (order < 0) {
			a->at[n_a++] = a->at[i++];
		} else {
			b->at[n_b++] = b->at[k++];
		}
	}
	a->n = n_a;
	b->n = n_b;
}

/*
 * Copied stacks: without files neither can unwind, and perf gives up at once, where we follow frame
 * pointers and say so. What perf has is to be the inner part of ours.
 */
static bool is_inner_part(const char *theirs, const char *ours)
{
	size_t n = strlen(theirs);

	return strncmp(theirs, ours, n) == 0 && ours[n] == ';' && strstr(ours + n, ";" MARK);
}

static void drop_copied_stacks(struct samples *ours, struct samples *theirs)
{
	size_t n = 0;

	for (size_t i = 0; i < ours->n; i++) {
		size_t k = 0;

		while (k < theirs->n && !is_inner_part(theirs->at[k], ours->at[i]))
			k++;
		if (k == theirs->n) {
			ours->at[n++] = ours->at[i];
			continue;
		}
		free(ours->at[i]);
		free(theirs->at[k]);
		theirs->at[k] = theirs->at[--theirs->n];
	}
	ours->n = n;
}

/* Recordings of which some samples differ, and how many of ours and of perf's. */
static const struct {
	const char *name;
	size_t n_more, n_less;
} different[] = {
	/* perf stops where we go on: a damaged sample, or piece of packed data */
	{ "made/damaged/callchain_nr_2_40.data", 98, 0 },
	{ "made/damaged/flip_z22_1.data", 19, 0 },
	{ "made/damaged/z_bad_frame.data", 858, 0 },
	/* perf reads a sample behind the end of the file, and nothing before it */
	{ "made/damaged/trunc_rec_mid.data", 98, 1 },
	/* a sample with the time 2^64 - 1 comes before all mappings to perf */
	{ "made/damaged/time_max.data", 1, 1 },
	/* perf shows no frame of an empty chain, nor of one with an entry that is no address */
	{ "made/damaged/callchain_nr_0.data", 1, 1 },
	{ "made/perf/opt_threads_dir.data", 1, 1 },
	{ "made/perf/python311.data", 4, 4 },
	/* addresses of the kernel behind what it says it spans: its code for the start */
	{ "made/perf/pipe_tracepoint.data", 6, 6 },
	/* calls that the cpu kept: the leaf is where the cpu was, not the function called last */
	{ "perfparser/vector_static_gcc/perf.lbr.data", 1, 1 },
	/* more than 127 frames */
	{ "quipper/perf.data.callgraph_and_branch-3.4", 2, 2 },
	/* another name of the event: see named_otherwise */
	{ "simpleperf/testdata/perf_with_tracepoint_event.data", 31, 31 },
	{ "simpleperf/testdata/perf_with_tracepoint_event_dynamic_field.data", 10, 10 },
};

static void check_samples(const struct row *row)
{
	char *path = xasprintf("%s/golden/%s/script.txt", CORPUS, row->name);
	size_t n_more = 0, n_less = 0;
	struct samples ours, theirs;
	struct result r, golden;

	if (access(path, R_OK) != 0) {
		free(path);
		path = xasprintf("%s/golden/%s/script.txt.zst", CORPUS, row->name);
	}
	/* of a `perf stat record` it is a table of counts */
	if (access(path, R_OK) != 0 || strcmp(row->counts, "-") == 0) {
		free(path);
		return;
	}
	r = read_file(row->path);
	golden = read_file(path);
	cr_expect_eq(golden.rc, 0, "%s: %s", path, err_text(&golden.error));
	ours = samples_of(r.profile);
	theirs = samples_of(golden.profile);
	drop_equal(&ours, &theirs);
	drop_copied_stacks(&ours, &theirs);
	for (size_t i = 0; i < N(different); i++)
		if (strcmp(different[i].name, row->name) == 0) {
			n_more = different[i].n_more;
			n_less = different[i].n_less;
		}
	cr_expect(ours.n == n_more && theirs.n == n_less,
		  "%s: %zu samples that perf has not, %zu that only perf has\n+ %s\n- %s",
		  row->name, ours.n, theirs.n, ours.n ? ours.at[0] : "",
		  theirs.n ? theirs.at[0] : "");
	samples_done(&ours);
	samples_done(&theirs);
	done(&r);
	done(&golden);
	free(path);
}

Test(perf_corpus, samples_are_those_of_perf, .timeout = 300)
{
	if (for_each_row(check_samples) == 0)
		cr_skip("skipped: no corpus");
}

/* What Android's runtime compiled has names, as often as simpleperf's own summary of the file says (perf_with_jit_symbol.foldedstack). */
Test(perf_corpus, names_of_androids_generated_code)
{
	char *path = xasprintf("%s/simpleperf/testdata/perf_with_jit_symbol.data", CORPUS);
	int64_t self = 0;
	struct analysis *a;
	struct lens lens;
	struct result r;

	if (access(path, R_OK) != 0)
		cr_skip_test("no corpus");
	r = read_file(path);
	cr_assert_eq(r.rc, 0, "%s", err_text(&r.error));
	lens_init(&lens, r.profile);
	cr_assert_eq(analysis_new(r.profile, &lens, NULL, &a), 0);
	for (uint32_t i = 0; i < a->table.n_rows; i++)
		if (strcmp(a->table_keys->key[a->table.key[i]].label,
			   "com.android.simpleperf.debuggable.MainActivity$1.run") == 0)
			self += a->table.self[i];
	cr_expect_eq(self, 17889729, "%ld", (long)self);
	analysis_free(a);
	lens_done(&lens);
	done(&r);
	free(path);
}
