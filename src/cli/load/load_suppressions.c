/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "cli/load/load_suppressions.h"

#include <stddef.h>

#include "input/input.h"
#include "input/whole_input.h"
#include "query/heap/suppressions.h"

int load_suppressions(const char *path, struct suppressions **out, struct err *e)
{
	struct whole_input w = { 0 };
	struct input *in;
	int rc;

	if (!path)
		return 0;
	rc = input_open(path, &in, e);
	if (rc)
		return rc;
	rc = whole_input_read(&w, in, NULL, e);
	if (rc == 0)
		rc = suppressions_parse(path, (const char *)w.bytes, w.n, out, e);
	whole_input_done(&w);
	input_close(in);
	return rc;
}
