/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Rows come series by series, each in the order of its times. A column is there for what any profile may know, and empty (null) where this
 * one does not. Weights are in the event's unit: ns, bytes, or a count.
 */
#include "config.h"

#include "formats/samples/samples.h"

#include "base/err.h"
#include "formats/write/export_rows.h"
#include "formats/write/export_stacks.h"
#include "formats/write/text_out.h"
#include "query/analysis.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct writer {
	const struct analysis *a;
	const struct profile *p;
	struct export_stacks stacks;
	struct export_rows rows;
	VEC(uint32_t) path; /* frames of the row's stack, innermost first */
	bool json;
	struct text_out out;
};

/* Columns: what each is called in both forms. */
#define COLUMNS \
	"file,process,pid,thread,tid,cgroup,labels,cpu,time_ns,event,unit,weight,samples," \
	"leaf_module,leaf_file,leaf_line,stack"

/* Before each value: its name in JSON, or a comma. */
static void key(struct writer *w, const char *name)
{
	if (w->json) {
		text_out(&w->out, name[0] == 'f' && name[1] == 'i' ? "{\"" : ",\"");
		text_out(&w->out, name);
		text_out(&w->out, "\":");
	} else if (!(name[0] == 'f' && name[1] == 'i')) {
		text_out_char(&w->out, ',');
	}
}

static void nothing(struct writer *w)
{
	if (w->json)
		text_out(&w->out, "null");
}

static void put_text(struct writer *w, const char *name, const char *s, size_t n)
{
	key(w, name);
	if (n == 0)
		nothing(w);
	else if (w->json)
		text_out_json(&w->out, s, n);
	else
		text_out_csv(&w->out, s, n);
}

static void put_string(struct writer *w, const char *name, string_id id)
{
	size_t n;
	const char *s = profile_string(w->p, id, &n);

	put_text(w, name, s, n);
}

static void put_number(struct writer *w, const char *name, int64_t v, bool known)
{
	key(w, name);
	if (known)
		text_out_int(&w->out, v);
	else
		nothing(w);
}

static void put_who(struct writer *w, uint32_t id)
{
	const struct thread none = { .tid = -1, .cgroup = ID_NONE }, *t = &none;
	const struct process nobody = { .pid = -1 }, *process = &nobody;
	string_id group = { 0 }, path = { 0 };

	if (id != ID_NONE) {
		t = profile_thread(w->p, (thread_id){ id });
		process = profile_process(w->p, t->process);
	}
	for (uint32_t i = 0; i < w->a->counts.n_parts && path.v == 0; i++) {
		const struct capture_part *part = profile_part(w->p, (part_id){ i });

		if (part->capture.v == process->capture.v)
			path = part->path;
	}
	if (t->cgroup != ID_NONE)
		group = cgroup_path(profile_cgroup(w->p, (cgroup_id){ t->cgroup }));
	put_string(w, "file", path);
	put_string(w, "process", process_name(process));
	put_number(w, "pid", process->pid, process->pid >= 0);
	put_string(w, "thread", t->name);
	put_number(w, "tid", t->tid, t->tid >= 0);
	put_string(w, "cgroup", group);
	put_string(w, "labels", t->labels);
}

static void put_frames(struct writer *w, uint32_t node)
{
	vec_clear(&w->path);
	for (; node != 0; node = w->stacks.nodes.at[node].parent)
		vec_push(&w->path, w->stacks.nodes.at[node].frame);
}

/* The innermost frame's place, and all names, outermost first. */
static void put_stack(struct writer *w, uint32_t node)
{
	const struct export_frame *leaf;
	string_id module = { 0 };

	put_frames(w, node);
	leaf = w->path.n > 0 ? &w->stacks.frames.at[w->path.at[0]] : NULL;
	if (leaf)
		module = profile_module(w->p, (module_id){ leaf->module })->path;
	put_string(w, "leaf_module", module);
	put_string(w, "leaf_file", leaf ? leaf->file : module);
	put_number(w, "leaf_line", leaf ? leaf->line : 0, leaf && leaf->line > 0);
	key(w, "stack");
	if (w->json)
		text_out_char(&w->out, '[');
	else
		text_out_char(&w->out, '"');
	while (w->path.n > 0) {
		const char *name = w->stacks.frames.at[w->path.at[--w->path.n]].name;

		if (w->json)
			text_out_json(&w->out, name, strlen(name));
		else
			text_out_csv_part(&w->out, name, strlen(name), ';');
		if (w->path.n > 0)
			text_out_char(&w->out, w->json ? ',' : ';');
	}
	text_out(&w->out, w->json ? "]}\n" : "\"\n");
}

static void put_row(struct writer *w, const struct export_series *s, const char *event,
		    const struct export_row *row)
{
	static const char *const units[] = {
		[UNIT_COUNT] = "count", [UNIT_NS] = "ns", [UNIT_BYTES] = "bytes"
	};
	uint32_t node = export_stacks_node(&w->stacks, row->stack);

	if (node == EXPORT_GONE)
		return;
	put_who(w, s->thread);
	put_number(w, "cpu", row->cpu, row->cpu != CPU_NONE);
	put_number(w, "time_ns", row->time_ns, row->time_ns != TIME_NONE);
	put_text(w, "event", event, strlen(event));
	put_text(w, "unit", units[s->unit], strlen(units[s->unit]));
	key(w, "weight");
	text_out_scaled(&w->out, row->weight, s->scale);
	put_number(w, "samples", row->count,
		   !profile_event(w->p, s->metric.event)->is_summed &&
			   !profile_event(w->p, s->metric.event)->is_heap);
	put_stack(w, node);
}

static void put_all(struct writer *w)
{
	if (!w->json)
		text_out(&w->out, COLUMNS "\n");
	for (size_t i = 0; i < w->rows.series.n; i++) {
		const struct export_series *s = &w->rows.series.at[i];
		char *event = metric_name(w->p, s->metric);

		for (size_t k = 0; k < s->n; k++)
			put_row(w, s, event, &w->rows.rows.at[s->first + k]);
		free(event);
	}
}

static int write_rows(const struct analysis *a, bool json, FILE *to, struct err *e)
{
	struct writer *w = xcalloc(1, sizeof(*w));
	int rc, written = 0;

	w->a = a;
	w->p = a->profile;
	w->json = json;
	text_out_init(&w->out, to);
	rc = export_stacks_init(&w->stacks, a, EXPORT_LOCATIONS);
	if (rc == 0)
		rc = export_rows_init_labelled(&w->rows, a);
	if (rc == 0) {
		put_all(w);
		written = text_out_done(&w->out, e);
	}
	export_rows_done(&w->rows);
	export_stacks_done(&w->stacks);
	vec_done(&w->path);
	free(w);
	return rc ? err_set(e, rc, "cannot go through the samples") : written;
}

static int write_csv(const struct analysis *a, const struct write_options *o, FILE *to,
		     struct err *e)
{
	(void)o;
	return write_rows(a, false, to, e);
}

static int write_jsonl(const struct analysis *a, const struct write_options *o, FILE *to,
		       struct err *e)
{
	(void)o;
	return write_rows(a, true, to, e);
}

#define ROWS_HOLD \
	(HOLDS(STACKS) | HOLDS(SAMPLES) | HOLDS(TIMES) | HOLDS(THREADS) | HOLDS(CPUS) | \
	 HOLDS(MODULES) | HOLDS(LINES) | HOLDS(LABELS) | HOLDS(CGROUPS))

const struct format format_samples_csv = {
	.name = "samples-csv",
	.title = "a row for each sample, as comma separated values",
	.inlined = true,
	.holds = ROWS_HOLD,
	.write = write_csv,
};

const struct format format_samples_jsonl = {
	.name = "samples-jsonl",
	.title = "a row for each sample, as lines of JSON",
	.inlined = true,
	.holds = ROWS_HOLD,
	.write = write_jsonl,
};
