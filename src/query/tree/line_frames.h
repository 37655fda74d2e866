/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Frames of GROUP_LINE before they are grouped: a frame id (frame_ids.h) where no line is known, else a number above those,
 * which stands for a frame id at one line, so that transforms know the function and rows the line.
 */
#ifndef PROFTOP_QUERY_TREE_LINE_FRAMES_H
#define PROFTOP_QUERY_TREE_LINE_FRAMES_H

#include "base/map.h"
#include "base/mem.h"

#include <stdint.h>

struct groups;

/* A frame id, and the key of one of its lines. */
struct line_frame {
	uint32_t frame_id;
	uint32_t key;
};

/* Zeroed but for first is empty. */
struct line_frames {
	uint32_t first;            /* the first number that is no frame id: frame_ids_n() */
	VEC(struct line_frame) of; /* of number first + i; owned */
	struct map by_pair;        /* of of */
};

void line_frames_done(struct line_frames *l);

/* The number of a frame that keys put into the row key: frame_id itself where that is no line's. */
uint32_t line_frames_number(struct line_frames *l, const struct groups *keys, uint32_t frame_id,
			    uint32_t key);

/* The frame id of a number. */
static inline uint32_t line_frames_id(const struct line_frames *l, uint32_t number)
{
	return number < l->first ? number : l->of.at[number - l->first].frame_id;
}

#endif
