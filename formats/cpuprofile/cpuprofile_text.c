/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Words, the profiler's own frames, and names. */
#include "config.h"

#include "formats/cpuprofile/cpuprofile_text.h"

#include "base/hash.h"
#include "base/map.h"

#include <string.h>

#define HEAD_WORDS     5
/* Frames that the signal's handler may have left in every stack. */
#define HANDLER_MOST   2
/* One stack of so many may lack such a frame. */
#define HANDLER_MARGIN 32

struct words {
	const uint8_t *at;
	size_t left; /* bytes */
	uint32_t size;
	bool big_endian;
};

static uint64_t word_at(const struct words *w, const uint8_t *at)
{
	uint64_t x = 0;

	for (uint32_t i = 0; i < w->size; i++)
		x = x << 8 | at[w->big_endian ? i : w->size - 1 - i];
	return x;
}

/* False at the end. */
static bool take(struct words *w, uint64_t *x)
{
	if (w->left < w->size)
		return false;
	*x = word_at(w, w->at);
	w->at += w->size;
	w->left -= w->size;
	return true;
}

/* Which words make the first five a head? */
static bool take_head(struct words *w, const uint8_t *bytes, size_t n, uint64_t head[HEAD_WORDS])
{
	for (unsigned way = 0; way < 4; way++) {
		bool good = true;

		*w = (struct words){ bytes, n, way & 1 ? 4 : 8, (way & 2) != 0 };
		for (unsigned i = 0; i < HEAD_WORDS && good; i++)
			good = take(w, &head[i]);
		if (good && head[0] == 0 && head[1] == 3 && head[2] <= 1 && head[3] > 0 &&
		    head[3] < UINT32_MAX && head[4] == 0)
			return true;
	}
	return false;
}

bool cpuprofile_text_line(const char **text, size_t *n, const char **line, size_t *n_line)
{
	const char *end = *n ? memchr(*text, '\n', *n) : NULL;
	size_t len = end ? (size_t)(end - *text) : *n;

	if (*n == 0)
		return false;
	*line = *text;
	*n_line = len > 0 && (*text)[len - 1] == '\r' ? len - 1 : len;
	*text += len + (end != NULL);
	*n -= len + (end != NULL);
	return true;
}

/* "0x40ab10 name"; false for other lines. */
static bool take_name(struct cpuprofile_text *t, const char *s, size_t n)
{
	struct cpuprofile_name name = { 0 };
	size_t i = 0;

	while (i < n && (s[i] == ' ' || s[i] == '\t'))
		i++;
	if (n - i < 4 || s[i] != '0' || (s[i + 1] | 0x20) != 'x')
		return false;
	for (i += 2; i < n; i++) {
		char c = s[i];
		unsigned digit = c >= '0' && c <= '9' ? (unsigned)(c - '0')
				 : (c | 0x20) >= 'a' && (c | 0x20) <= 'f'
					 ? (unsigned)((c | 0x20) - 'a') + 10
					 : 16;

		if (digit == 16 || name.address >> 60)
			break;
		name.address = name.address << 4 | digit;
	}
	if (i == n || s[i] != ' ')
		return false;
	while (i < n && s[i] == ' ')
		i++;
	name.s = s + i;
	name.n = n - i;
	vec_push(&t->names, name);
	return true;
}

static bool begins(const uint8_t *bytes, size_t n, const char *with)
{
	return n >= strlen(with) && memcmp(bytes, with, strlen(with)) == 0;
}

/* Past "--- symbol", its lines, "---" and "--- profile"; 0 where there is no such head. */
static size_t take_symbols(struct cpuprofile_text *t, const uint8_t *bytes, size_t n)
{
	static const char binary[] = "binary=";
	const char *text = (const char *)bytes, *line;
	size_t left = n, n_line;

	if (!begins(bytes, n, "--- symbol") && !begins(bytes, n, "--- profile"))
		return 0;
	while (cpuprofile_text_line(&text, &left, &line, &n_line)) {
		if (n_line >= 11 && memcmp(line, "--- profile", 11) == 0)
			return n - left;
		if (n_line > sizeof(binary) && memcmp(line, binary, sizeof(binary) - 1) == 0) {
			t->binary = line + sizeof(binary) - 1;
			t->n_binary = n_line - (sizeof(binary) - 1);
		} else {
			take_name(t, line, n_line);
		}
	}
	return 0;
}

static void take_stacks(struct cpuprofile_text *t, struct words *w, const uint8_t *from)
{
	for (;;) {
		struct cpuprofile_stack s = { .first = t->addresses.n };
		uint64_t n, address = 0;

		t->cut_at = (size_t)(w->at - from);
		/* google-pprof --raw writes no last stack */
		if (w->left == 0 && t->is_raw)
			return;
		if (!take(w, &s.count) || !take(w, &n) || n > w->left / w->size || n > UINT32_MAX) {
			t->cut = true;
			return;
		}
		s.n = (uint32_t)n;
		for (uint32_t i = 0; i < s.n && take(w, &address); i++)
			vec_push(&t->addresses, address - (i > 0 && !t->is_java && address > 0));
		if (s.count == 0 && s.n == 1 && address == 0) {
			t->addresses.n = s.first;
			return;
		}
		vec_push(&t->stacks, s);
	}
}

/* The address that nearly all stacks have as their second, or 0. */
static uint64_t common_second(const struct cpuprofile_text *t)
{
	size_t margin = t->stacks.n / HANDLER_MARGIN, votes = 0, n = 0;
	uint64_t best = 0;

	/* by majority (Boyer and Moore, 1981), as it must be that of more than half */
	for (size_t i = 0; i < t->stacks.n; i++) {
		const struct cpuprofile_stack *s = &t->stacks.at[i];
		uint64_t second = s->n > 1 ? t->addresses.at[s->first + 1] : 0;

		if (votes == 0)
			best = second;
		votes = second == best ? votes + 1 : votes - 1;
	}
	for (size_t i = 0; i < t->stacks.n; i++)
		n += t->stacks.at[i].n > 1 && t->addresses.at[t->stacks.at[i].first + 1] == best;
	return best != 0 && n >= t->stacks.n - margin ? best : 0;
}

static void drop_second(struct cpuprofile_text *t, struct cpuprofile_stack *s)
{
	/* the innermost address moves in its place */
	t->addresses.at[s->first + 1] = t->addresses.at[s->first];
	s->first++;
	s->n--;
}

/* As pprof does: the handler's frame, which all stacks have, and a leaf that is there twice. */
static void drop_handler(struct cpuprofile_text *t)
{
	for (unsigned round = 0; round < HANDLER_MOST; round++) {
		uint64_t second = common_second(t);

		for (size_t i = 0; i < t->stacks.n && second; i++) {
			struct cpuprofile_stack *s = &t->stacks.at[i];

			if (s->n > 1 && t->addresses.at[s->first + 1] == second) {
				drop_second(t, s);
				t->n_handler++;
			}
		}
	}
	for (size_t i = 0; i < t->stacks.n; i++) {
		struct cpuprofile_stack *s = &t->stacks.at[i];

		if (s->n > 1 && t->addresses.at[s->first] == t->addresses.at[s->first + 1] + 1)
			drop_second(t, s);
	}
}

bool cpuprofile_text_read(struct cpuprofile_text *t, const uint8_t *bytes, size_t n)
{
	uint64_t head[HEAD_WORDS];
	const char *text, *line;
	struct words w;
	size_t skip, left, n_line;

	*t = (struct cpuprofile_text){ 0 };
	skip = take_symbols(t, bytes, n);
	if (!take_head(&w, bytes + skip, n - skip, head))
		return false;
	t->is_raw = skip > 0;
	t->is_java = head[2] == 1;
	t->period_us = head[3];
	t->word = w.size;
	take_stacks(t, &w, bytes);
	if (!t->is_java)
		drop_handler(t);
	t->rest = (const char *)w.at;
	t->n_rest = t->cut ? 0 : w.left;
	text = t->rest;
	left = t->is_java ? t->n_rest : 0;
	while (cpuprofile_text_line(&text, &left, &line, &n_line))
		take_name(t, line, n_line);
	return true;
}

void cpuprofile_text_done(struct cpuprofile_text *t)
{
	vec_done(&t->stacks);
	vec_done(&t->addresses);
	vec_done(&t->names);
}

bool cpuprofile_text_begins(const uint8_t *bytes, size_t n)
{
	uint64_t head[HEAD_WORDS];
	struct words w;

	return take_head(&w, bytes, n, head) || begins(bytes, n, "--- profile\n") ||
	       (begins(bytes, n, "--- symbol\n") && !memmem(bytes, n, "--- heap", 8) &&
		!memmem(bytes, n, "--- growth", 10) && !memmem(bytes, n, "--- contention", 14));
}
