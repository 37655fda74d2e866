/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Indexes: what is read is what was written, to the byte; a damaged one gives nothing, and the profile stays as it was. */
#include "config.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/task.h"
#include "formats/pack/index_file.h"
#include "formats/pack/pack_file.h"
#include "formats/pack/pack_write.h"
#include "formats/samples/samples.h"
#include "profile/builder.h"
#include "profile/profile.h"
#include "query/analysis.h"
#include "query/core/lens.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/made_everything.h"
#include "tests/support/made_story.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define KEY "what it is of"

struct made {
	char *bytes; /* owned */
	size_t n;
};

static struct made index_of(const struct profile *p)
{
	pack_bytes key = { 0 };
	struct err e = ERR_INIT;
	struct made m = { 0 };
	FILE *to = open_memstream(&m.bytes, &m.n);

	pack_put_bytes(&key, KEY, strlen(KEY));
	cr_assert(pack_index_can(p));
	cr_assert_eq(pack_write_index(p, &key, UINT64_MAX, to, NULL, &e), 0, "%s", err_text(&e));
	fclose(to);
	vec_done(&key);
	return m;
}

static struct index_file *open_bytes(const void *bytes, size_t n)
{
	int fd = memfd_create("index", MFD_CLOEXEC);

	cr_assert_eq(write(fd, bytes, n), (ssize_t)n);
	return index_file_open(fd);
}

/* A profile with the capture, and what the index gave it. */
static struct profile *recall(const void *bytes, size_t n, int *rc)
{
	struct index_file *f = open_bytes(bytes, n);
	struct profile *p = profile_new();
	capture_id c;

	builder_begin(p);
	c = build_capture(p, "everything", "test");
	builder_end(p);
	*rc = f ? index_file_read(f, p, c, NULL) : -ENOENT;
	index_file_close(f);
	return p;
}

/* Rows with who, when, where and how much; functions, stacks and their totals; facts. */
static char *told(const struct profile *p)
{
	struct profile_counts c;
	struct analysis *a;
	struct lens lens;
	char *text = NULL;
	size_t n = 0;
	FILE *to = open_memstream(&text, &n);

	lens_init(&lens, p);
	cr_assert_eq(analysis_new(p, &lens, NULL, &a), 0);
	cr_assert_eq(format_samples_jsonl.write(a, NULL, to, NULL), 0);
	analysis_free(a);
	lens_done(&lens);
	profile_counts_read(p, &c);
	fprintf(to, "%u %u %u %u %llu\n", c.n_stacks, c.n_threads, c.n_locations, c.n_functions,
		(unsigned long long)c.n_taken);
	for (uint32_t i = 0; i < c.n_facts; i++) {
		struct fact f = profile_fact(p, i);

		fprintf(to, "%s %s %s %d\n", profile_string(p, f.section, NULL),
			profile_string(p, f.name, NULL), profile_string(p, f.text, NULL),
			(int)f.kind);
	}
	fclose(to);
	return text;
}

static void expect_same(const struct profile *p, const struct profile *q)
{
	char *a = told(p), *b = told(q);

	cr_expect_str_eq(a, b);
	free(a);
	free(b);
}

static struct profile *with_facts(void)
{
	struct profile *p = made_everything();

	builder_begin(p);
	build_fact(p, (capture_id){ 0 }, "file", "command", FACT_PLAIN, "prog -x %d", 7);
	build_fact(p, (capture_id){ 0 }, "losses", "lost", FACT_LOSS, "3 samples");
	builder_end(p);
	return p;
}

/* Some whole blocks, and the rest of one. */
static struct profile *with_rows(uint32_t n)
{
	struct profile *p = with_facts();
	struct profile_counts c;

	profile_counts_read(p, &c);
	builder_begin(p);
	for (uint32_t i = 0; i < n; i++)
		cr_assert_eq(build_sample(p, &(struct sample){ .stack = { i % c.n_stacks },
							       .thread = { i % c.n_threads },
							       .cpu = (uint16_t)(i % 3),
							       .weight = 1 + i % 5,
							       .time_ns = 1000 + i * 7 }),
			     0);
	builder_end(p);
	return p;
}

Test(index, what_is_read_is_what_was_written)
{
	static const uint32_t rows[] = { 0, 4096, 10000 };

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct profile *p = with_rows(rows[i]), *q;
		struct made m = index_of(p);
		int rc;

		q = recall(m.bytes, m.n, &rc);
		cr_assert_eq(rc, 0);
		expect_same(p, q);
		profile_free(p);
		profile_free(q);
		free(m.bytes);
	}
}

Test(index, says_what_it_is_of)
{
	struct profile *p = with_facts();
	struct made m = index_of(p);
	struct index_file *f = open_bytes(m.bytes, m.n);
	size_t n;

	cr_assert(f);
	cr_expect_eq(memcmp(index_file_key(f, &n), KEY, strlen(KEY)), 0);
	cr_expect_eq(n, strlen(KEY));
	index_file_close(f);
	free(m.bytes);
	profile_free(p);
}

/* There is nothing in the profile but its capture. */
static void expect_untouched(const struct profile *p)
{
	struct profile_counts c;

	profile_counts_read(p, &c);
	cr_assert_eq(c.n_samples, 0);
	cr_assert_eq(c.n_stacks, 1);
	cr_assert_eq(c.n_functions, 0);
	cr_assert_eq(c.n_facts, 0);
}

static bool is_same(const struct profile *p, const struct profile *q)
{
	char *a = told(p), *b = told(q);
	bool same = strcmp(a, b) == 0;

	free(a);
	free(b);
	return same;
}

/* Many a byte another one, and the file cut there: it is refused, or it is the same profile. */
Test(index, damage)
{
	struct profile *p = with_facts();
	struct made m = index_of(p);
	unsigned n_refused = 0, n_tried = 0;

	for (size_t i = 0; i < 2 * m.n; i += 5) {
		bool cut = i >= m.n;
		size_t at = cut ? i - m.n : i;
		struct profile *q;
		int rc;

		m.bytes[at] ^= 0x41;
		q = recall(m.bytes, cut ? at : m.n, &rc);
		m.bytes[at] ^= 0x41;
		cr_assert(rc == 0 || rc == -EBADMSG || rc == -ENOENT, "byte %zu: %d", at, rc);
		if (rc == 0)
			cr_assert(!cut && is_same(p, q), "byte %zu", at);
		else
			expect_untouched(q);
		n_refused += rc != 0;
		n_tried++;
		profile_free(q);
	}
	/* how the last section stands is of no account */
	cr_expect_gt(n_refused, n_tried - 6, "%u of %u", n_refused, n_tried);
	free(m.bytes);
	profile_free(p);
}

/* Rows before the tables that they are of, or twice, or no table at all. */
Test(index, sections_in_another_order)
{
	struct profile *p = with_rows(5000), *q;
	struct made m = index_of(p);
	struct bytes b = bytes_over(m.bytes, m.n, false);
	size_t begin[32], n = 0;
	pack_bytes other = { 0 };
	struct pack_section s;
	int rc;

	cr_assert_eq(pack_take_head(&b, PACK_INDEX_MAGIC, NULL), 0);
	do {
		begin[n++] = (size_t)((const char *)b.at - m.bytes);
		rc = pack_take_section(&b, (const uint8_t *)m.bytes, (size_t)1 << 30, &s, NULL);
		free(s.owned);
	} while (rc > 0);
	cr_assert_gt(n, 8);
	for (size_t i = 1; i + 1 < n; i++)
		for (size_t k = 0; k < 2; k++) {
			size_t len = begin[i + 1] - begin[i];

			vec_clear(&other);
			pack_put_bytes(&other, m.bytes, begin[1]);
			/* first, then where it is too; or it is nowhere */
			if (k == 0)
				pack_put_bytes(&other, m.bytes + begin[i], len);
			pack_put_bytes(&other, m.bytes + begin[1], begin[i] - begin[1]);
			pack_put_bytes(&other, m.bytes + begin[i + (k == 1)],
				       m.n - begin[i + (k == 1)]);
			q = recall(other.at, other.n, &rc);
			cr_assert(rc == 0 || rc == -EBADMSG);
			if (rc)
				expect_untouched(q);
			else
				free(told(q));
			profile_free(q);
		}
	vec_done(&other);
	free(m.bytes);
	profile_free(p);
}

Test(index, what_has_none)
{
	struct story *s = story_new(1);
	struct profile *p = profile_new();

	cr_expect(!pack_index_can(s->p), "a heap");
	cr_expect(!pack_index_can(p), "no capture");
	profile_free(p);
	story_free(s);
	p = with_facts();
	builder_begin(p);
	build_capture(p, "another", "test");
	builder_end(p);
	cr_expect(!pack_index_can(p), "two files");
	profile_free(p);
}

Test(index, limits_of_writing)
{
	struct profile *p = with_rows(100000);
	struct progress stopped = { 0 };
	pack_bytes key = { 0 };
	FILE *to = tmpfile();

	cr_expect_eq(pack_write_index(p, &key, 10000, to, NULL, NULL), -EFBIG);
	progress_cancel(&stopped);
	cr_expect_eq(pack_write_index(p, &key, UINT64_MAX, to, &stopped, NULL), -ECANCELED);
	fclose(to);
	to = fopen("/dev/full", "we");
	if (to)
		cr_expect_eq(pack_write_index(p, &key, UINT64_MAX, to, NULL, NULL), -ENOSPC);
	if (to)
		fclose(to);
	profile_free(p);
}

Test(index, hostile_bytes)
{
	static uint8_t bodies[65536];
	struct profile *p = with_rows(4096 - 100);
	struct made m = index_of(p);
	struct bytes b = bytes_over(m.bytes, m.n, false);
	struct pack_section s;
	size_t n = 0;

	pack_take_head(&b, PACK_INDEX_MAGIC, NULL);
	while (pack_take_section(&b, (const uint8_t *)m.bytes, (size_t)1 << 30, &s, NULL) > 0) {
		if (s.id != PACK_KEY && s.n < 65536 && n + 3 + s.n <= sizeof(bodies)) {
			bodies[n++] = (uint8_t)s.id;
			bodies[n++] = (uint8_t)s.n;
			bodies[n++] = (uint8_t)(s.n >> 8);
			memcpy(bodies + n, s.bytes, s.n);
			n += s.n;
		}
		free(s.owned);
	}
	fuzz_vary(fuzz_index, bodies, n, 200);
	free(m.bytes);
	profile_free(p);
}
