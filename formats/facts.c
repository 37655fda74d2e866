/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "formats/facts.h"

#include <errno.h>
#include <inttypes.h>

#include "base/err.h"
#include "base/fmt.h"
#include "formats/json/json_stream.h"
#include "input/input.h"
#include "profile/builder.h"

void facts_loss(struct profile *p, capture_id c, const char *name, uint64_t n, const char *one,
		const char *what)
{
	char text[FMT_COUNTED_SIZE];

	if (n > 0)
		build_fact(p, c, "losses", name, FACT_LOSS, "%s %s",
			   fmt_counted(text, (int64_t)n, one), what);
}

void facts_json_end(struct profile *p, capture_id c, const struct json_end *end)
{
	if (end->why)
		build_fact(p, c, "losses", "rest of the file", FACT_LOSS, "%s at offset %" PRIu64,
			   end->why, end->offset);
}

int facts_refuse_json(const struct json_end *end, const struct input *in, const char *what,
		      struct err *e)
{
	if (end->why)
		return err_set(e, -EBADMSG, "%s: %s at offset %" PRIu64 ", before its first sample",
			       input_name(in), end->why, end->offset);
	return err_set(e, -EBADMSG, "%s: %s without a sample", input_name(in), what);
}
