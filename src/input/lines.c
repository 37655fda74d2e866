/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Blocks are read behind what is left of the last line, which is moved to the front first. One that was read ahead comes in a text
 * of its own, and what is left is copied before it.
 */
#include "config.h"

#include "input/lines.h"

#include "base/task.h"
#include "base/text.h"
#include "input/input.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK_BYTES ((size_t)1 << 20)
#define REPLACEMENT 0xFFFDu

/* Room before a block that is read ahead: what is left of a line is seldom more. */
#define LEFT_BYTES ((size_t)64 << 10)

void lines_init(struct lines *l, struct input *in)
{
	*l = (struct lines){ .in = in };
}

void lines_done(struct lines *l)
{
	task_join(l->ahead.task);
	l->ahead.task = NULL;
	vec_done(&l->ahead.text);
	err_clear(&l->ahead.damage);
	vec_done(&l->text);
	free(l->raw);
	l->raw = NULL;
}

enum lines_encoding lines_encoding_of(const uint8_t *bytes, size_t n, size_t *mark)
{
	*mark = 0;
	if (n >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0) {
		*mark = 3;
		return LINES_UTF8;
	}
	if (n >= 2 && (memcmp(bytes, "\xff\xfe", 2) == 0 || memcmp(bytes, "\xfe\xff", 2) == 0)) {
		*mark = 2;
		return bytes[0] == 0xff ? LINES_UTF16LE : LINES_UTF16BE;
	}
	return LINES_UTF8;
}

static uint32_t unit_at(const uint8_t *b, bool big_endian)
{
	return big_endian ? (uint32_t)b[0] << 8 | b[1] : (uint32_t)b[1] << 8 | b[0];
}

size_t lines_from_utf16(const uint8_t *bytes, size_t n, bool big_endian, bool last, char *out,
			size_t *taken)
{
	size_t i = 0, written = 0;

	while (i + 1 < n) {
		uint32_t cp = unit_at(bytes + i, big_endian), low;

		if (cp >= 0xD800 && cp <= 0xDBFF && i + 3 >= n && !last)
			break;
		i += 2;
		if (cp >= 0xD800 && cp <= 0xDFFF) {
			low = i + 1 < n ? unit_at(bytes + i, big_endian) : 0;
			if (cp <= 0xDBFF && low >= 0xDC00 && low <= 0xDFFF) {
				cp = 0x10000 + ((cp - 0xD800) << 10) + (low - 0xDC00);
				i += 2;
			} else {
				cp = REPLACEMENT;
			}
		}
		written += text_encode(cp, out + written);
	}
	if (last && i < n) {
		written += text_encode(REPLACEMENT, out + written);
		i = n;
	}
	*taken = i;
	return written;
}

/* The encoding, and what precedes the text gone. */
static int begin(struct lines *l, struct err *e)
{
	const uint8_t *bytes;
	uint8_t skipped[4];
	size_t n, mark;
	int rc = input_peek(l->in, 3, &bytes, &n, e);

	if (rc < 0)
		return rc;
	l->encoding = lines_encoding_of(bytes, n, &mark);
	if (mark > 0)
		input_read_full(l->in, skipped, mark, NULL);
	if (l->encoding != LINES_UTF8)
		l->raw = xmalloc(BLOCK_BYTES);
	l->begun = true;
	return 0;
}

/* Reads and converts a block of UTF-16 behind text.n; returns what was read. */
static ssize_t fill_utf16(struct lines *l, struct err *e)
{
	ssize_t got = input_read(l->in, l->raw + l->raw_n, BLOCK_BYTES - l->raw_n, e);
	size_t taken;

	if (got > 0)
		l->raw_n += (size_t)got;
	vec_reserve(&l->text, l->text.n + 2 * BLOCK_BYTES);
	l->text.n += lines_from_utf16(l->raw, l->raw_n, l->encoding == LINES_UTF16BE, got <= 0,
				      l->text.at + l->text.n, &taken);
	memmove(l->raw, l->raw + taken, l->raw_n - taken);
	l->raw_n -= taken;
	return got;
}

/* Reads a block behind text.n; returns what was read. */
static ssize_t fill_utf8(struct lines *l, struct err *e)
{
	ssize_t got;

	vec_reserve(&l->text, l->text.n + BLOCK_BYTES);
	got = input_read(l->in, l->text.at + l->text.n, BLOCK_BYTES, e);
	if (got > 0)
		l->text.n += (size_t)got;
	return got;
}

static int read_ahead(void *arg)
{
	struct lines *l = arg;
	struct lines_ahead *a = &l->ahead;

	vec_reserve(&a->text, LEFT_BYTES + BLOCK_BYTES);
	a->got = input_read(l->in, a->text.at + LEFT_BYTES, BLOCK_BYTES, &a->damage);
	return 0;
}

/* What is small, plain, or comes when it likes is not worth a thread. */
static bool is_worth_a_thread(const struct lines *l)
{
	return l->encoding == LINES_UTF8 && l->offset >= BLOCK_BYTES && *input_packing(l->in) &&
	       input_file_bytes(l->in) > 0 && !input_follows(l->in);
}

/* Adds the block that was read ahead, waiting for it; returns what was read. */
static ssize_t fill_from_ahead(struct lines *l, struct err *e)
{
	struct lines_ahead *a = &l->ahead;
	size_t n, left = l->text.n - l->at;

	task_join(a->task);
	a->task = NULL;
	if (a->got < 0)
		err_set(e, (int)a->got, "%s", err_text(&a->damage));
	err_clear(&a->damage);
	n = a->got > 0 ? (size_t)a->got : 0;
	if (left <= LEFT_BYTES) {
		char *was = l->text.at;
		size_t cap = l->text.cap;

		memcpy(a->text.at + LEFT_BYTES - left, was + l->at, left);
		l->text.at = a->text.at;
		l->text.cap = a->text.cap;
		l->text.n = LEFT_BYTES + n;
		l->at = LEFT_BYTES - left;
		a->text.at = was;
		a->text.cap = cap;
	} else {
		vec_reserve(&l->text, l->text.n + n);
		memcpy(l->text.at + l->text.n, a->text.at + LEFT_BYTES, n);
		l->text.n += n;
	}
	return a->got;
}

/* NULs of text[from, n) become U+0001. */
static void replace_nuls(char *text, size_t from, size_t n)
{
	char *at = text + from;

	while (from < n && (at = memchr(at, '\0', n - (size_t)(at - text))))
		*at = '\1';
}

/* Moves what is left to the front. */
static void move_left(struct lines *l)
{
	size_t left = l->text.n - l->at;

	if (left > 0)
		memmove(l->text.at, l->text.at + l->at, left);
	l->text.n = left;
	l->at = 0;
}

int lines_fill(struct lines *l, struct err *e)
{
	size_t searched, left;
	ssize_t got;
	int rc;

	if (l->ended)
		return 0;
	if (l->text.n - l->at > LINES_MOST_BYTES) {
		l->skipping = true;
		l->at = l->searched = l->text.n;
	}
	left = l->text.n - l->at;
	searched = l->searched - l->at;
	rc = l->begun ? 0 : begin(l, e);
	if (rc < 0) {
		l->ended = true;
		return rc;
	}
	if (l->ahead.task) {
		got = fill_from_ahead(l, e);
	} else {
		move_left(l);
		got = l->encoding == LINES_UTF8 ? fill_utf8(l, e) : fill_utf16(l, e);
	}
	l->searched = l->at + searched;
	replace_nuls(l->text.at, l->at + left, l->text.n);
	l->ended = got <= 0;
	l->offset = input_offset(l->in);
	l->file_done = input_file_done(l->in);
	if (!l->ended && is_worth_a_thread(l))
		l->ahead.task = task_start(read_ahead, l, -1);
	return got > 0 ? 1 : (int)got;
}

bool lines_next(struct lines *l, const char **s, size_t *n)
{
	const char *from, *nl = NULL;

	if (!l->text.at)
		return false;
	from = l->text.at + l->at;
	if (l->searched < l->text.n)
		nl = memchr(l->text.at + l->searched, '\n', l->text.n - l->searched);
	if (!nl) {
		l->searched = l->text.n;
		if (!l->ended || (l->at == l->text.n && !l->skipping))
			return false;
	}
	*n = nl ? (size_t)(nl - from) : l->text.n - l->at;
	*s = l->skipping || *n > LINES_MOST_BYTES ? NULL : from;
	l->skipping = false;
	l->at += *n + (nl != NULL);
	l->searched = l->at;
	l->n++;
	return true;
}

bool lines_peek(const struct lines *l, const char **s, size_t *n)
{
	const char *from, *nl;

	if (!l->text.at || l->skipping || l->at >= l->text.n)
		return false;
	from = l->text.at + l->at;
	nl = memrchr(from, '\n', l->text.n - l->at);
	if (!nl)
		return false;
	*s = from;
	*n = (size_t)(nl + 1 - from);
	return true;
}

void lines_pass(struct lines *l, size_t n, uint64_t n_lines)
{
	l->at += n;
	l->searched = l->at;
	l->n += n_lines;
}
