/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A mark is a function with a flag of its own, in no module. */
#include "config.h"

#include "perf/callchain/frame_marks.h"

#include "profile/builder.h"

static const char *const texts[N_PERF_MARKS] = {
#define X(name, text) text,
	PERF_MARKS(X)
#undef X
};

void frame_marks_init(struct frame_marks *m, struct profile *p)
{
	m->profile = p;
	for (size_t i = 0; i < N_PERF_MARKS; i++)
		m->location[i] = ID_NONE;
}

struct perf_chain_part frame_marks_part(struct frame_marks *m, enum perf_mark mark)
{
	if (m->location[mark] == ID_NONE) {
		function_id f = build_function(m->profile, build_cstring(m->profile, texts[mark]),
					       (module_id){ 0 }, FUNCTION_MARK, (string_id){ 0 },
					       0);

		m->location[mark] = build_symbol_location(m->profile, f).v;
	}
	return (struct perf_chain_part){ .mode = MODE_USER,
					 .is_mark = true,
					 .ip = m->location[mark] };
}
