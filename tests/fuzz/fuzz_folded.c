/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "tests/fuzz/fuzz.h"

#include "formats/folded/folded.h"
#include "formats/folded/folded_line.h"
#include "tests/fuzz/fuzz_format.h"

#include <stdlib.h>
#include <string.h>

/* What is written is text of stacks with counts, and nothing else. */
static void check_written(const char *text, size_t n)
{
	for (size_t at = 0; at < n;) {
		const char *nl = memchr(text + at, '\n', n - at);
		struct folded_line line;
		size_t len;

		if (!nl)
			abort();
		len = (size_t)(nl - (text + at));
		for (size_t i = 0; i < len; i++)
			if ((unsigned char)text[at + i] < 0x20 || text[at + i] == 0x7f)
				abort();
		if (folded_line_read(text + at, len, 1, &line) != FOLDED_STACK)
			abort();
		at += len + 1;
	}
}

static void write_again(const struct profile *p)
{
	struct analysis *a;
	struct lens lens;
	char *text = NULL;
	size_t n = 0;
	FILE *to = open_memstream(&text, &n);

	lens_init(&lens, p);
	if (!to || analysis_new(p, &lens, NULL, &a) < 0 ||
	    format_folded.write(a, NULL, to, NULL) < 0)
		abort();
	fclose(to);
	check_written(text, n);
	free(text);
	analysis_free(a);
	lens_done(&lens);
}

void fuzz_folded(const uint8_t *bytes, size_t n)
{
	format_folded.probe(bytes, n);
	fuzz_read(&format_folded, bytes, n, write_again);
}
