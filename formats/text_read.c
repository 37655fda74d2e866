/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The reading loop. A regular file does not keep the pen waiting, so that it is held for more than
 * one block; what comes through a pipe is published as it comes.
 */
#include "config.h"

#include "formats/text_read.h"

#include "base/mem.h"
#include "base/task.h"
#include "input/input.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* What is read is published after so much of either. */
#define PUBLISH_BYTES ((uint64_t)8 << 20)
#define PUBLISH_NS    INT64_C(50000000)

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void text_read_init(struct text_read *t, struct input *in, struct profile *p, capture_id c)
{
	*t = (struct text_read){ .p = p, .capture = c, .damage = ERR_INIT };
	t->waits = input_file_bytes(in) == 0 || input_follows(in);
	lines_init(&t->lines, in);
}

void text_read_done(struct text_read *t)
{
	lines_done(&t->lines);
	err_clear(&t->damage);
}

int text_read_all(struct text_read *t, text_take *take, void *reader, struct progress *progress)
{
	struct input *in = t->lines.in;
	uint64_t published = 0;
	int64_t since = now_ns();
	bool pen = false;
	int rc = 1;

	while (rc > 0 && !t->full) {
		if (progress_cancelled(progress)) {
			rc = -ECANCELED;
			break;
		}
		rc = lines_fill(&t->lines, &t->damage);
		progress_set(progress, t->lines.file_done,
			     input_follows(in) ? 0 : input_file_bytes(in));
		if (!pen)
			builder_begin(t->p);
		pen = true;
		take(reader, rc <= 0);
		progress_lost(progress, t->bad.n);
		if (!t->waits && t->lines.offset - published < PUBLISH_BYTES &&
		    now_ns() - since < PUBLISH_NS)
			continue;
		t->full = builder_end(t->p) < 0;
		pen = false;
		published = t->lines.offset;
		since = now_ns();
	}
	if (pen)
		t->full |= builder_end(t->p) < 0;
	return rc < 0 ? rc : 0;
}

void text_read_complain(struct text_read *t, const char *problem)
{
	bad_lines_add(&t->bad, t->lines.n, problem);
}

void text_read_tell(const struct text_read *t)
{
	const char *packing = input_packing(t->lines.in);

	if (t->lines.encoding != LINES_UTF8)
		build_fact(t->p, t->capture, "file", "encoding", FACT_PLAIN, "UTF-16");
	if (*packing)
		build_fact(t->p, t->capture, "file", "packing", FACT_PLAIN, "%s", packing);
	bad_lines_tell(&t->bad, t->p, t->capture);
	if (t->full)
		build_fact(t->p, t->capture, "losses", "rest of the file", FACT_LOSS,
			   "does not fit into memory; read up to byte %" PRIu64, t->lines.offset);
	if (t->damage.code != 0)
		build_fact(t->p, t->capture, "losses", "rest of the file", FACT_LOSS, "%s",
			   err_text(&t->damage));
}

int text_read_refuse(const struct text_read *t, int rc, const char *what, struct err *e)
{
	const char *name = input_name(t->lines.in);

	if (rc == -ECANCELED)
		return err_set(e, rc, "%s: reading was stopped", name);
	if (rc < 0)
		return err_set(e, rc, "%s", err_text(&t->damage));
	if (t->bad.n > 0)
		return err_set(e, -EBADMSG, "%s: there is no %s in it; line %" PRIu64 " %s", name,
			       what, t->bad.told[0].line, t->bad.told[0].problem);
	return err_set(e, -EBADMSG, "%s: there is no %s in its %" PRIu64 " line%s", name, what,
		       t->lines.n, t->lines.n == 1 ? "" : "s");
}

int text_read_refuse_most(const struct text_read *t, const char *what, struct err *e)
{
	return err_set(e, -EBADMSG,
		       "%s: %" PRIu64 " of its %" PRIu64 " lines are %s: line %" PRIu64 " %s",
		       input_name(t->lines.in), t->bad.n, t->lines.n, what, t->bad.told[0].line,
		       t->bad.told[0].problem);
}

int text_probe(const uint8_t *bytes, size_t n, int (*probe)(const char *text, size_t n))
{
	const char *text = (const char *)bytes;
	enum lines_encoding encoding;
	size_t mark, taken;
	char *copy = NULL;
	int score;

	encoding = lines_encoding_of(bytes, n, &mark);
	text += mark;
	n -= mark;
	if (encoding != LINES_UTF8) {
		copy = xmalloc(2 * n + 1);
		n = lines_from_utf16(bytes + mark, n, encoding == LINES_UTF16BE, false, copy,
				     &taken);
		text = copy;
	}
	score = memchr(text, '\0', n) ? 0 : probe(text, n);
	free(copy);
	return score;
}
