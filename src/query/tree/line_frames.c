/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pairs of a frame id and a line, numbered as they are met. */
#include "config.h"

#include "query/tree/line_frames.h"

#include "base/hash.h"
#include "query/core/groups.h"

void line_frames_done(struct line_frames *l)
{
	vec_done(&l->of);
	map_done(&l->by_pair);
}

static bool same_pair(const void *things, uint32_t value, const void *key)
{
	const struct line_frames *l = things;
	const struct line_frame *f = key;

	return l->of.at[value].frame_id == f->frame_id && l->of.at[value].key == f->key;
}

uint32_t line_frames_number(struct line_frames *l, const struct groups *keys, uint32_t frame_id,
			    uint32_t key)
{
	struct line_frame f = { frame_id, key };
	uint64_t hash = hash_pair(frame_id, key);
	uint32_t at;

	if (!key_is_line(keys->key[key].id))
		return frame_id;
	at = map_find(&l->by_pair, hash, same_pair, l, &f);
	if (at == MAP_NONE) {
		at = (uint32_t)l->of.n;
		map_add(&l->by_pair, hash, at);
		vec_push(&l->of, f);
	}
	return l->first + at;
}
