/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The threads of a trace: numbers that may be of any size, and names that the trace gives them. */
#ifndef PROFTOP_FORMATS_V8_V8_THREADS_H
#define PROFTOP_FORMATS_V8_V8_THREADS_H

#include "profile/builder.h"

#include <stdint.h>

struct v8_text;

/* The thread, or {ID_NONE} where nothing is known of it; *root becomes the stack of its name's frame. Wants the write lock. */
thread_id v8_thread(struct v8_text *t, capture_id c, int64_t pid, int64_t tid,
		    enum root_names root_names, stack_id *root);

#endif
