/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Complaints about lines; see bad_lines.h. */
#include "config.h"

#include "formats/bad_lines.h"

#include "base/mem.h"

#include <inttypes.h>
#include <stdlib.h>

void bad_lines_add(struct bad_lines *b, uint64_t line, const char *problem)
{
	if (b->n < BAD_LINES_TOLD)
		b->told[b->n] = (struct bad_line){ line, problem };
	b->n++;
}

void bad_lines_tell(const struct bad_lines *b, struct profile *p, capture_id c)
{
	char *text;

	if (b->n == 0)
		return;
	text = xasprintf("%" PRIu64 " line%s skipped:", b->n, b->n == 1 ? "" : "s");
	for (uint64_t i = 0; i < b->n && i < BAD_LINES_TOLD; i++) {
		char *more = xasprintf("%s%s line %" PRIu64 " %s", text, i > 0 ? "," : "",
				       b->told[i].line, b->told[i].problem);

		free(text);
		text = more;
	}
	build_fact(p, c, "losses", "malformed lines", FACT_LOSS, "%s%s", text,
		   b->n > BAD_LINES_TOLD ? ", …" : "");
	free(text);
}
