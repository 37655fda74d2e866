/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads the bytes as an index, and an index of sections that they are the bodies of, as fuzz_pack() does. What is refused leaves
 * the profile as it was.
 */
#include "config.h"

#include "tests/fuzz/fuzz.h"

#include "formats/pack/index_file.h"
#include "formats/pack/pack_file.h"
#include "tests/fuzz/fuzz_format.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static void read_index(const uint8_t *bytes, size_t n)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct index_file *f;
	struct profile_counts c;
	struct profile *p;
	capture_id capture;
	int rc;

	if (fd < 0 || write(fd, bytes, n) != (ssize_t)n)
		abort();
	f = index_file_open(fd);
	if (!f)
		return;
	p = profile_new();
	builder_begin(p);
	capture = build_capture(p, "fuzz", "perf.data");
	builder_end(p);
	rc = index_file_read(f, p, capture, NULL);
	profile_counts_read(p, &c);
	if (rc != 0 && rc != -EBADMSG)
		abort();
	if (rc == 0 ? c.n_samples == 0 : c.n_samples + c.n_stacks + c.n_facts != 1)
		abort();
	if (rc == 0)
		fuzz_ask(p);
	profile_free(p);
	index_file_close(f);
}

/* Adds a section; the sum with it. */
static uint64_t put(pack_bytes *file, enum pack_section_id id, pack_bytes *body, uint64_t sum)
{
	size_t before = file->n;

	pack_put_section(file, id, PACK_AS_IS, body);
	return pack_sum(sum, file->at + before, file->n - before);
}

void fuzz_index(const uint8_t *bytes, size_t n)
{
	pack_bytes file = { 0 }, body = { 0 };
	uint64_t sum = 0;
	size_t at = 0;

	read_index(bytes, n);
	pack_put_head(&file, PACK_INDEX_MAGIC);
	sum = pack_sum(sum, file.at, file.n);
	sum = put(&file, PACK_KEY, &body, sum);
	while (at + 3 <= n) {
		size_t len = (size_t)bytes[at + 1] | (size_t)bytes[at + 2] << 8;

		len = len < n - at - 3 ? len : n - at - 3;
		pack_put_bytes(&body, bytes + at + 3, len);
		sum = put(&file, (enum pack_section_id)bytes[at], &body, sum);
		at += 3 + len;
	}
	pack_put(&body, sum);
	put(&file, PACK_END, &body, sum);
	read_index(file.at, file.n);
	vec_done(&file);
	vec_done(&body);
}
