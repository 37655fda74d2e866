/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fields of tracepoints as frames; see perf_labels.h. Their module is the event, in brackets. */
#include "config.h"

#include "perf_labels.h"

#include <stdlib.h>

#include "builder.h"
#include "mem.h"
#include "trace_field.h"
#include "trace_fields.h"

#define TEXT_MAX 512

struct perf_labels {
	struct profile *p;
	const struct trace_fields *fields;
	const char *list;
};

struct perf_labels *perf_labels_new(struct profile *p, const struct trace_fields *fields,
				    const char *list)
{
	struct perf_labels *l = xcalloc(1, sizeof(*l));

	*l = (struct perf_labels){ .p = p, .fields = fields, .list = list };
	return l;
}

void perf_labels_free(struct perf_labels *l)
{
	free(l);
}

bool perf_labels_part(struct perf_labels *l, struct perf_event *e, const struct perf_sample *s,
		      bool swap, struct perf_chain_part *out)
{
	struct trace_raw raw = { s->raw, s->raw_bytes, swap };
	string_id no_file = { 0 };
	char text[TEXT_MAX], *path;
	function_id f;
	module_id m;

	if (e->attr.type != PERF_T_TRACEPOINT || s->raw_bytes == 0 ||
	    !trace_fields_text(l->fields, e->attr.config, &raw, l->list, text, sizeof(text)))
		return false;
	path = xasprintf("[%s]", perf_event_name_of(e));
	m = build_module(l->p, path, "", FAMILY_UNKNOWN);
	free(path);
	f = build_function(l->p, build_cstring(l->p, text), m, 0, no_file, 0);
	*out = (struct perf_chain_part){ .mode = MODE_USER, .is_mark = true };
	out->ip = build_symbol_location(l->p, f).v;
	return true;
}
