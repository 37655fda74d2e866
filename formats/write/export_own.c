/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The kind of an event says what its weights are, so that a reader makes the same event again. */
#include "config.h"

#include "formats/write/export_own.h"

#include "formats/write/export_rows.h"
#include "formats/write/text_out.h"
#include "query/analysis.h"

#include <stdlib.h>
#include <string.h>

static const char *kind_of(const struct analysis *a, const struct export_series *s)
{
	const struct event *e = profile_event(a->profile, s->metric.event);

	if (e->is_counted)
		return "counted";
	if (e->is_summed || e->is_heap)
		return "summed";
	return e->has_weight ? "weighted" : "samples";
}

static void put_name(struct text_out *o, const struct profile *p, const char *key, string_id id)
{
	size_t n;
	const char *s = profile_string(p, id, &n);

	text_out(o, ",\"");
	text_out(o, key);
	text_out(o, "\":");
	text_out_json(o, s, n);
}

void export_own_put(struct text_out *o, const struct analysis *a, const struct export_series *s)
{
	char *metric = metric_name(a->profile, s->metric);
	const struct process *process;
	const struct thread *t;

	text_out(o, "\"proftop\":{\"metric\":");
	text_out_json(o, metric, strlen(metric));
	text_out(o, ",\"kind\":\"");
	text_out(o, kind_of(a, s));
	text_out_char(o, '"');
	free(metric);
	if (s->thread != ID_NONE) {
		t = profile_thread(a->profile, (thread_id){ s->thread });
		process = profile_process(a->profile, t->process);
		put_name(o, a->profile, "thread", t->name);
		put_name(o, a->profile, "process", process_name(process));
		text_out(o, ",\"pid\":");
		text_out_int(o, process->pid);
		text_out(o, ",\"tid\":");
		text_out_int(o, t->tid);
	}
	text_out_char(o, '}');
}
