/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Segments of closed files; see segments.h. */
#include "config.h"

#include "elf/segments.h"

void segments_take(struct segments *s, const struct elf_file *f)
{
	const struct elf_segment *from;
	size_t n = 0;

	if (!f)
		return;
	from = elf_file_segments(f, &n);
	for (size_t i = 0; i < n; i++)
		vec_push(&s->all, from[i]);
}

void segments_done(struct segments *s)
{
	vec_done(&s->all);
}

bool segments_address(const struct segments *s, uint64_t offset, uint64_t *address)
{
	for (size_t i = 0; i < s->all.n; i++) {
		const struct elf_segment *p = &s->all.at[i];

		if (offset < p->offset || offset - p->offset >= p->file_bytes)
			continue;
		*address = offset - p->offset + p->address;
		return true;
	}
	return false;
}
