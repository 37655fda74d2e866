/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A buffer that doubles, up to a bound: what is packed may unpack to any size. */
#include "config.h"

#include "input/whole_input.h"

#include "base/err.h"
#include "base/fmt.h"
#include "base/mem.h"
#include "base/system_limits.h"
#include "base/task.h"
#include "input/input.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#define FIRST_BYTES ((size_t)1 << 20)
/* Taken at once at most, so that a wish to stop is heard. */
#define PIECE_BYTES ((size_t)4 << 20)

static int too_large(const struct input *in, uint64_t most, struct err *e)
{
	char text[FMT_SIZE];

	return err_set(e, -EFBIG,
		       "%s: more than %s, which is half of the memory here, at offset %llu",
		       input_name(in), fmt_bytes(text, (int64_t)most),
		       (unsigned long long)input_offset(in));
}

/* Room for one more byte and the NUL. False: that would be more than `most`. */
static int make_room(struct whole_input *w, size_t *cap, uint64_t most)
{
	if (w->n + 1 < *cap)
		return true;
	if (*cap >= most)
		return false;
	*cap = *cap ? 2 * *cap : FIRST_BYTES;
	w->bytes = xreallocarray(w->bytes, *cap, 1);
	return true;
}

int whole_input_read(struct whole_input *w, struct input *in, struct progress *progress,
		     struct err *e)
{
	uint64_t most = system_limits_memory_bytes() / 2;
	struct err broken = ERR_INIT;
	size_t cap = 0;
	ssize_t n = 1;

	*w = (struct whole_input){ 0 };
	w->bytes = input_take_ahead(in, &w->n, &cap);
	if (!w->bytes && input_seekable(in) && input_file_bytes(in) < most)
		w->bytes = xmalloc(cap = (size_t)input_file_bytes(in) + 2);
	while (n > 0) {
		size_t room;

		if (progress_cancelled(progress))
			return -ECANCELED;
		if (!make_room(w, &cap, most))
			return too_large(in, most, e);
		room = cap - w->n - 1;
		n = input_read(in, w->bytes + w->n, room < PIECE_BYTES ? room : PIECE_BYTES,
			       &broken);
		w->n += n > 0 ? (size_t)n : 0;
		progress_set(progress, input_file_done(in), input_file_bytes(in));
	}
	w->bytes[w->n] = '\0';
	if (n < 0 && (w->n == 0 || n == -ECANCELED)) {
		err_set(e, (int)n, "%s", err_text(&broken));
		err_clear(&broken);
		return (int)n;
	}
	if (n < 0)
		w->cut = xstrdup(err_text(&broken));
	err_clear(&broken);
	return 0;
}

void whole_input_done(struct whole_input *w)
{
	free(w->bytes);
	free(w->cut);
	*w = (struct whole_input){ 0 };
}
