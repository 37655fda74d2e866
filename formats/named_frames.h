/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Frames of inputs that have names and positions in sources, and no addresses. Interpreted code has no modules: its file stands for
 * one, so that functions of one name in two files stay apart.
 */
#ifndef PROFTOP_FORMATS_NAMED_FRAMES_H
#define PROFTOP_FORMATS_NAMED_FRAMES_H

#include "profile/builder.h"

#include <stdint.h>

struct named_frame {
	string_id name;    /* empty: "(anonymous)" */
	string_id file;    /* path or URL; empty: unknown */
	uint32_t line;     /* of the frame's position; 0: unknown */
	uint32_t declared; /* where the function begins; 0: unknown */
};

/* A new location of that one frame, for the caller to keep; its module is its file. Wants the pen. */
location_id named_frame_location(struct profile *p, const struct named_frame *f);
/* The same of code that is in a module. */
location_id named_frame_location_in(struct profile *p, const struct named_frame *f, module_id m);

/* The function alone, in that module; without one, in its file's. Wants the pen. */
function_id named_frame_function(struct profile *p, const struct named_frame *f, module_id m);

/* How the code of a program or library of that path is coloured. */
enum family named_frame_family(const char *path);

/* The module of a program or library of which nothing but the path is known; {0} for none. Wants the pen. */
module_id named_frame_object(struct profile *p, string_id path);

#endif
