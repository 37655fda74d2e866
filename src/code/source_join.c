/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Texts that differ are compared from both ends only: an edit leaves the lines before and behind it in place, and what lies
 * between the first edit and the last stays with its own path. So no line ever stands on another line's text.
 */
#include "config.h"

#include "code/source_join.h"

#include <string.h>

#include "base/path.h"
#include "code/source_file.h"

/* More than any number of parts. */
#define SURELY UINT32_MAX

/* Paths of one side that are compared with those of the other. */
#define PATHS_MOST 64u

static bool of_one_side(const struct source_side *s, enum side side)
{
	return s->own && s->of_side[side] && !s->of_side[side == SIDE_BEFORE];
}

/* 0: they are not of one file. */
static uint32_t likeness(const struct source_side *a, const struct source_side *b)
{
	const char *pa = a->mapped ? a->mapped : a->path, *pb = b->mapped ? b->mapped : b->path;

	if (strcmp(pa, pb) == 0)
		return SURELY;
	if (a->file->path && b->file->path && strcmp(a->file->path, b->file->path) == 0)
		return SURELY;
	return path_common_parts(a->path, b->path);
}

static bool has_text(const struct source_side *s)
{
	return s->file->n_lines > 0;
}

/* Lines that a pack lacks may be the same. */
static bool same_line(const struct source_file *a, uint32_t i, const struct source_file *b,
		      uint32_t k)
{
	const char *x = source_file_line(a, i), *y = source_file_line(b, k);

	return !x || !y || strcmp(x, y) == 0;
}

static void compare_texts(const struct source_file *from, const struct source_file *to,
			  struct source_join *out)
{
	uint32_t n = from->n_lines, k = to->n_lines, least = n < k ? n : k, head = 0, tail = 0;

	while (head < least && same_line(from, head + 1, to, head + 1))
		head++;
	if (head == n && head == k)
		return;
	while (tail < least - head && same_line(from, n - tail, to, k - tail))
		tail++;
	out->n_head = head;
	out->tail = tail > 0 ? n - tail + 1 : UINT32_MAX;
	out->shift = (int64_t)k - n;
}

static void join(const struct source_side *side, uint32_t before, uint32_t after, bool by_tail,
		 struct source_join *out)
{
	bool backwards = has_text(&side[before]) && !has_text(&side[after]);
	uint32_t from = backwards ? after : before, to = backwards ? before : after;
	const struct source_file *a = side[from].file, *b = side[to].file;

	out[from].to = to;
	out[from].by_tail = by_tail;
	if (has_text(&side[from]) && has_text(&side[to]) && strcmp(a->path, b->path) != 0)
		compare_texts(a, b, &out[from]);
}

/* The paths that one side has alone, as far as they are looked at. */
static size_t alone(const struct source_side *side, size_t n, enum side which, uint32_t *out)
{
	size_t found = 0;

	for (uint32_t i = 0; i < n && found < PATHS_MOST; i++)
		if (of_one_side(&side[i], which))
			out[found++] = i;
	return found;
}

void source_join_find(const struct source_side *side, size_t n, struct source_join *out)
{
	uint32_t before[PATHS_MOST], after[PATHS_MOST];
	size_t n_before = alone(side, n, SIDE_BEFORE, before);
	size_t n_after = alone(side, n, SIDE_AFTER, after);
	bool left[PATHS_MOST] = { false }, right[PATHS_MOST] = { false };

	for (size_t i = 0; i < n; i++)
		out[i] = (struct source_join){ .to = SOURCE_JOIN_NONE, .n_head = UINT32_MAX };
	/* What is sure comes first, so that nothing else takes its place. */
	for (int sure = 1; sure >= 0; sure--) {
		for (size_t i = 0; i < n_before; i++) {
			uint32_t best = 0;
			size_t at = n_after;

			for (size_t k = 0; k < n_after && !left[i]; k++) {
				uint32_t like =
					right[k] ? 0 : likeness(&side[before[i]], &side[after[k]]);

				if (like <= best || (sure && like != SURELY))
					continue;
				best = like;
				at = k;
			}
			if (at == n_after)
				continue;
			left[i] = right[at] = true;
			join(side, before[i], after[at], best != SURELY, out);
		}
	}
}

bool source_join_move(const struct source_join *join, uint32_t *path, uint32_t *line)
{
	if (join->to == SOURCE_JOIN_NONE || (*line > join->n_head && *line < join->tail))
		return false;
	if (*line > join->n_head)
		*line = (uint32_t)(*line + join->shift);
	*path = join->to;
	return true;
}
