/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fields of tracepoints as frames; see tracepoint_frames.h. Their module is the event, in brackets. */
#include "config.h"

#include "perf/tracepoint/tracepoint_frames.h"

#include <stdlib.h>

#include "base/mem.h"
#include "perf/tracepoint/print_fmt.h"
#include "perf/tracepoint/trace_field.h"
#include "perf/tracepoint/trace_fields.h"
#include "profile/builder.h"
#include "symbols/resolver.h"

#define TEXT_MAX 512

struct tracepoint_frames {
	struct profile *p;
	struct resolver *r;
	const struct trace_fields *fields;
	const char *list;
	int64_t time_ns; /* of the sample that is looked at */
};

struct tracepoint_frames *tracepoint_frames_new(struct profile *p, struct resolver *r,
						const struct trace_fields *fields, const char *list)
{
	struct tracepoint_frames *l = xcalloc(1, sizeof(*l));

	*l = (struct tracepoint_frames){ .p = p, .r = r, .fields = fields, .list = list };
	return l;
}

void tracepoint_frames_free(struct tracepoint_frames *l)
{
	free(l);
}

/* print_symbols. */
static const char *find_symbol(void *arg, uint64_t address, uint64_t *offset)
{
	const struct tracepoint_frames *l = arg;

	return resolver_kernel_symbol(l->r, l->time_ns, address, offset);
}

bool tracepoint_frames_part(struct tracepoint_frames *l, struct perf_event *e,
			    const struct perf_sample *s, int64_t time_ns, bool swap,
			    struct perf_chain_part *out)
{
	struct print_symbols symbols = { find_symbol, l };
	struct trace_raw raw = { s->raw, s->raw_bytes, swap };
	string_id no_file = { 0 };
	char text[TEXT_MAX], *path;
	function_id f;
	module_id m;

	l->time_ns = time_ns;
	if (e->attr.type != PERF_T_TRACEPOINT || s->raw_bytes == 0 ||
	    !trace_fields_text(l->fields, e->attr.config, &raw, l->list, &symbols, text,
			       sizeof(text)))
		return false;
	path = xasprintf("[%s]", perf_event_name_of(e));
	m = build_module(l->p, path, "", FAMILY_UNKNOWN);
	free(path);
	f = build_function(l->p, build_cstring(l->p, text), m, 0, no_file, 0);
	*out = (struct perf_chain_part){ .mode = MODE_USER, .is_mark = true };
	out->ip = build_symbol_location(l->p, f).v;
	return true;
}
