/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Packs: what is read is what was packed, to the byte in every export; what was left out is nowhere; broken files keep what is whole. */
#include "config.h"

#include "base/err.h"
#include "base/mem.h"
#include "formats/format.h"
#include "formats/pack/pack.h"
#include "formats/pack/pack_file.h"
#include "formats/pack/pack_write.h"
#include "formats/perf_script/perf_script_write.h"
#include "formats/samples/samples.h"
#include "input/input.h"
#include "profile/builder.h"
#include "profile/heap/heap_builder.h"
#include "profile/profile.h"
#include "query/analysis.h"
#include "query/core/lens.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/made_everything.h"
#include "tests/support/made_story.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define N(cases) (sizeof(cases) / sizeof(*(cases)))

struct packed {
	char *bytes; /* owned */
	size_t n;
	unsigned holds;
};

static struct packed pack(const struct profile *p, unsigned without)
{
	struct packed k = { 0 };
	struct err e = ERR_INIT;
	FILE *to = open_memstream(&k.bytes, &k.n);

	cr_assert_eq(pack_write(p, NULL, without, to, &k.holds, &e), 0, "%s", err_text(&e));
	fclose(to);
	return k;
}

static struct profile *unpack_as(const char *path, const void *bytes, size_t n, int *rc,
				 struct err *e)
{
	struct input *in = input_of_bytes(bytes, n, "x.pack");
	struct profile *p = profile_new();
	capture_id c;

	builder_begin(p);
	c = build_capture(p, path, "pack");
	builder_end(p);
	*rc = format_pack.read(in, p, c, NULL, NULL, e);
	input_close(in);
	return p;
}

static struct profile *unpack(const void *bytes, size_t n, int *rc, struct err *e)
{
	return unpack_as("everything", bytes, n, rc, e);
}

/* All that is told of a profile: rows with who, when, where and how much, measures of heaps, and text of perf script with addresses. */
static char *told(const struct profile *p)
{
	struct err e = ERR_INIT;
	struct analysis *a;
	struct lens lens;
	char *text = NULL;
	size_t n = 0;
	FILE *to = open_memstream(&text, &n);
	int64_t begin;

	lens_init(&lens, p);
	cr_assert_eq(analysis_new(p, &lens, NULL, &a), 0);
	cr_assert_eq(format_samples_jsonl.write(a, NULL, to, &e), 0, "%s", err_text(&e));
	cr_assert_eq(perf_script_write(a, to, &begin, &e), 0, "%s", err_text(&e));
	analysis_free(a);
	lens_done(&lens);
	fclose(to);
	return text;
}

static void facts(const struct profile *p, FILE *to)
{
	struct profile_counts c;

	profile_counts_read(p, &c);
	for (uint32_t i = 0; i < c.n_facts; i++) {
		struct fact f = profile_fact(p, i);

		if (strcmp(profile_string(p, f.name, NULL), "packed from") != 0)
			fprintf(to, "%s %s %s %d\n", profile_string(p, f.section, NULL),
				profile_string(p, f.name, NULL), profile_string(p, f.text, NULL),
				(int)f.kind);
	}
}

static char *facts_of(const struct profile *p)
{
	char *text = NULL;
	size_t n = 0;
	FILE *to = open_memstream(&text, &n);

	facts(p, to);
	fclose(to);
	return text;
}

static void expect_same(const struct profile *p, const char *what)
{
	struct packed k = pack(p, 0);
	struct err e = ERR_INIT;
	int rc;
	const char *path = profile_string(p, profile_part(p, (part_id){ 0 })->path, NULL);
	struct profile *read = unpack_as(path, k.bytes, k.n, &rc, &e);
	char *before = told(p), *after = told(read), *f = facts_of(p), *g = facts_of(read);

	cr_assert_eq(rc, 0, "%s: %s", what, err_text(&e));
	cr_expect_str_eq(before, after, "%s", what);
	cr_expect_str_eq(f, g, "%s", what);
	free(before);
	free(after);
	free(f);
	free(g);
	profile_free(read);
	free(k.bytes);
}

Test(pack, samples_are_what_they_were)
{
	struct profile *p = made_everything();

	builder_begin(p);
	build_fact(p, (capture_id){ 0 }, "file", "command", FACT_PLAIN, "prog -x %d", 7);
	build_fact(p, (capture_id){ 0 }, "losses", "lost", FACT_LOSS, "3 samples");
	builder_end(p);
	expect_same(p, "everything");
	builder_begin(p);
	cr_assert_eq(build_sample(p, &(struct sample){ .thread = { ID_NONE },
						       .cpu = CPU_NONE,
						       .weight = -7,
						       .time_ns = TIME_NONE }),
		     0);
	builder_end(p);
	expect_same(p, "a weight below zero, as differences of pprof have");
	profile_free(p);
}

/* Readings and lives of all blocks: whoever asks for memory at any time gets the same answer. */
static void expect_same_heap(const struct profile *p, const struct profile *read)
{
	struct heap_columns a, b;

	profile_heap(p, &a);
	profile_heap(read, &b);
	cr_assert_eq(a.n_allocations, b.n_allocations);
	cr_assert_eq(a.n_tracks, b.n_tracks);
	cr_assert_eq(a.n_bulk, b.n_bulk);
	for (uint32_t i = 0; i < a.n_allocations; i++) {
		cr_expect_eq(allocation_begin(&a, i), allocation_begin(&b, i));
		cr_expect_eq(allocation_end(&a, i, UINT32_MAX), allocation_end(&b, i, UINT32_MAX));
		cr_expect_eq(allocation_size(&a, i), allocation_size(&b, i));
	}
	cr_expect_eq(!a.release, !b.release);
	for (uint32_t i = 0; i < a.n_tracks; i++) {
		struct heap_track t = profile_heap_track(p, (track_id){ i });
		struct heap_track u = profile_heap_track(read, (track_id){ i });

		cr_assert_eq(t.n_ticks, u.n_ticks);
		cr_assert_eq(t.n_rates, u.n_rates);
		cr_expect_eq(t.n_moments, u.n_moments);
		for (size_t k = 0; k < t.n_ticks; k++) {
			cr_expect_eq(t.tick[k].moment, u.tick[k].moment);
			cr_expect_eq(t.tick[k].time_ns, u.tick[k].time_ns);
		}
	}
}

Test(pack, allocations_are_what_they_were)
{
	for (unsigned seed = 1; seed <= 3; seed++) {
		struct story *s = story_new(seed);
		struct packed k = pack(s->p, 0);
		struct err e = ERR_INIT;
		int rc;
		struct profile *read = unpack(k.bytes, k.n, &rc, &e);

		cr_assert_eq(rc, 0, "%s", err_text(&e));
		expect_same_heap(s->p, read);
		expect_same(s->p, "a story");
		profile_free(read);
		free(k.bytes);
		story_free(s);
	}
}

/* In any section, unpacked. */
static bool has_text(const struct packed *k, const char *text)
{
	struct bytes b = bytes_over(k->bytes, k->n, false);
	struct err e = ERR_INIT;
	struct pack_section s;
	bool found = false;

	cr_assert_eq(pack_take_head(&b, PACK_MAGIC, &e), 0);
	while (pack_take_section(&b, (const uint8_t *)k->bytes, (size_t)1 << 30, &s, &e) > 0) {
		found |= memmem(s.bytes, s.n, text, strlen(text)) != NULL;
		free(s.owned);
	}
	return found;
}

/* What may be private is in the file, is said, and with its word is neither. */
Test(pack, what_is_left_out_is_nowhere)
{
	static const struct {
		const char *word, *text;
		bool from_facts;
	} cases[] = {
		{ "command", "secret-command", true },
		{ "host", "secret-host", true },
		{ "environment", "secret-value", true },
		{ "cgroups", "/system.slice/x", false },
		{ "labels", "kind=sort", false },
		{ "paths", "/usr/bin/", false },
		{ "paths", "/src/", false },
	};
	struct profile *p = made_everything();
	struct err e = ERR_INIT;
	struct packed whole;

	builder_begin(p);
	build_fact(p, (capture_id){ 0 }, "file", "command", FACT_PLAIN, "secret-command");
	build_fact(p, (capture_id){ 0 }, "file", "host", FACT_PLAIN, "secret-host");
	build_fact(p, (capture_id){ 0 }, "environment", "HOME", FACT_PLAIN, "secret-value");
	builder_end(p);
	whole = pack(p, 0);
	for (size_t i = 0; i < N(cases); i++) {
		unsigned bits = 0;
		struct packed k;

		cr_assert_eq(pack_private_parse(cases[i].word, &bits, &e), 0);
		k = pack(p, bits);
		cr_expect(has_text(&whole, cases[i].text) && whole.holds & bits, "%s",
			  cases[i].text);
		cr_expect(!has_text(&k, cases[i].text) && !(k.holds & bits), "%s is there",
			  cases[i].text);
		free(k.bytes);
	}
	free(whole.bytes);
	profile_free(p);
}

/* Two libraries of one name, without build-ids: their code at one address stays of two modules. */
Test(pack, modules_of_one_name_stay_apart_without_paths)
{
	static const char *const paths[] = { "/secret/a/lib.so", "/secret/b/lib.so",
					     "/c/other.so" };
	struct profile *p = profile_new(), *read;
	struct profile_counts before, after;
	struct err e = ERR_INIT;
	struct packed k;
	int rc;

	builder_begin(p);
	build_capture(p, "x", "made");
	for (size_t i = 0; i < N(paths); i++) {
		struct sample s = { .thread = { ID_NONE }, .cpu = CPU_NONE, .time_ns = TIME_NONE };
		module_id m = build_module(p, paths[i], "", FAMILY_LIBRARY);

		s.event = build_event(p, "cycles", UNIT_COUNT, true);
		s.stack = build_stack(p, (stack_id){ 0 }, build_location(p, m, 0x1000));
		s.weight = (int64_t)i + 1;
		cr_assert_eq(build_sample(p, &s), 0);
	}
	builder_end(p);
	k = pack(p, 1u << PACK_HAS_PATHS);
	cr_expect(!has_text(&k, "secret"));
	read = unpack(k.bytes, k.n, &rc, &e);
	cr_assert_eq(rc, 0, "%s", err_text(&e));
	profile_counts_read(p, &before);
	profile_counts_read(read, &after);
	cr_expect_eq(after.n_modules, before.n_modules);
	cr_expect_eq(after.n_locations, before.n_locations);
	cr_expect_eq(after.n_stacks, before.n_stacks);
	for (uint32_t i = 1; i < after.n_modules; i++)
		cr_expect_str_eq(
			profile_string(read, profile_module(read, (module_id){ i })->name, NULL),
			profile_string(p, profile_module(p, (module_id){ i })->name, NULL));
	profile_free(read);
	profile_free(p);
	free(k.bytes);
}

Test(pack, words_of_without)
{
	unsigned bits;
	struct err e = ERR_INIT;
	char *all;

	cr_assert_eq(pack_private_parse("host,command", &bits, &e), 0);
	all = pack_private_say(bits);
	cr_expect_str_eq(all, "the command line and the name of the host (--without command,host "
			      "leaves out)");
	free(all);
	cr_expect_null(pack_private_say(0));
	cr_expect_eq(pack_private_parse("host,hosts", &bits, &e), -EINVAL);
	cr_expect(strstr(err_text(&e), "not \"hosts\""), "%s", err_text(&e));
	err_clear(&e);
}

/* Of several captures nobody knows which samples without a thread are whose: each is a pack of its own. */
Test(pack, one_recording)
{
	struct profile *p = made_everything();
	struct err e = ERR_INIT;
	unsigned holds;

	builder_begin(p);
	build_capture(p, "another", "made");
	builder_end(p);
	cr_expect_eq(pack_write(p, NULL, 0, stdout, &holds, &e), -EINVAL);
	cr_expect(strstr(err_text(&e), "pack each"), "%s", err_text(&e));
	err_clear(&e);
	profile_free(p);
}

/* Wherever it ends it is read, or refused with a sentence; whole sections count. */
Test(pack, a_cut_at_each_offset)
{
	struct profile *p = made_everything();
	struct packed k = pack(p, 0);
	unsigned n_read = 0;

	for (size_t n = 0; n < k.n; n++) {
		struct err e = ERR_INIT;
		int rc;
		struct profile *read = unpack(k.bytes, n, &rc, &e);
		char *all = facts_of(read);

		cr_expect(rc == 0 || (rc == -EBADMSG && strstr(err_text(&e), "x.pack")),
			  "%zu bytes: %d %s", n, rc, err_text(&e));
		cr_expect(rc != 0 || strstr(all, "the file is cut at offset"), "%zu bytes: %s", n,
			  all);
		n_read += rc == 0;
		free(all);
		profile_free(read);
		err_clear(&e);
	}
	cr_expect_gt(n_read, 0, "no cut keeps the samples before it");
	free(k.bytes);
	profile_free(p);
}

/* A checksum tells a changed byte of a section. */
Test(pack, a_changed_byte)
{
	struct profile *p = made_everything();
	struct packed k = pack(p, 0);
	char *whole = told(p);

	for (size_t i = 0; i < k.n; i += 3) {
		struct err e = ERR_INIT;
		struct profile *read;
		int rc;

		k.bytes[i] ^= 0x20;
		read = unpack(k.bytes, k.n, &rc, &e);
		if (rc == 0) {
			char *all = facts_of(read), *text = told(read);

			cr_expect(strstr(all, "rest of the pack") || strcmp(text, whole) == 0,
				  "byte %zu is another one, and nobody says so", i);
			free(all);
			free(text);
		}
		k.bytes[i] ^= 0x20;
		profile_free(read);
		err_clear(&e);
	}
	free(whole);
	free(k.bytes);
	profile_free(p);
}

/* As fuzz_pack() takes them: the sections of a pack, each with its id and its length before it. */
static size_t bodies_of(const struct packed *k, uint8_t *out, size_t most)
{
	struct bytes b = bytes_over(k->bytes, k->n, false);
	struct err e = ERR_INIT;
	struct pack_section s;
	size_t n = 0;

	pack_take_head(&b, PACK_MAGIC, &e);
	while (pack_take_section(&b, (const uint8_t *)k->bytes, (size_t)1 << 30, &s, &e) > 0) {
		cr_assert_lt(n + 3 + s.n, most);
		out[n++] = (uint8_t)s.id;
		out[n++] = (uint8_t)s.n;
		out[n++] = (uint8_t)(s.n >> 8);
		memcpy(out + n, s.bytes, s.n);
		n += s.n;
		free(s.owned);
	}
	return n;
}

Test(pack, hostile_bytes)
{
	static uint8_t bodies[65536];
	struct profile *p = made_everything();
	struct packed k = pack(p, 0);
	size_t n = bodies_of(&k, bodies, sizeof(bodies));

	fuzz_vary(fuzz_pack, bodies, n, 500);
	free(k.bytes);
	profile_free(p);
}

/* A version of later, and sections of later. */
Test(pack, what_is_newer)
{
	struct profile *p = made_everything(), *read;
	struct packed k = pack(p, 0);
	pack_bytes file = { 0 }, body = { 0 };
	char *before = told(p), *after;
	struct err e = ERR_INIT;
	int rc;

	pack_put_head(&file, PACK_MAGIC);
	pack_put_text(&body, "something new", 13);
	pack_put_section(&file, (enum pack_section_id)77, PACK_SMALL, &body);
	for (size_t i = PACK_HEAD; i < k.n; i++)
		vec_push(&file, (uint8_t)k.bytes[i]);
	read = unpack(file.at, file.n, &rc, &e);
	after = told(read);
	cr_expect_eq(rc, 0, "%s", err_text(&e));
	cr_expect_str_eq(before, after);
	profile_free(read);
	k.bytes[8] = 2;
	read = unpack(k.bytes, k.n, &rc, &e);
	cr_expect(rc == -EBADMSG && strstr(err_text(&e), "x.pack: is a pack of version 2"), "%s",
		  err_text(&e));
	profile_free(read);
	profile_free(p);
	free(before);
	free(after);
	free(k.bytes);
	vec_done(&file);
	vec_done(&body);
	err_clear(&e);
}

/* Attachments that are allowed each, and too many together: the first ones stay, the others are counted. */
Test(pack, attachments_have_room)
{
	struct profile *p = made_everything(), *read;
	struct packed k = pack(p, 0);
	pack_bytes file = { 0 }, body = { 0 };
	size_t n = (size_t)(PACK_ATTACHMENTS_MOST / 2) - 4096;
	char *zeros = xcalloc(n, 1), *text;
	struct err e = ERR_INIT;
	uint32_t cursor = 0;
	size_t n_first = 0;
	int rc;

	pack_put_head(&file, PACK_MAGIC);
	pack_put(&body, 3);
	for (size_t i = 0; i < 3; i++) {
		pack_put_text(&body, "/x.c", 4);
		pack_put_text(&body, zeros, n);
	}
	pack_put_section(&file, PACK_SOURCES, PACK_SMALL, &body);
	for (size_t i = PACK_HEAD; i < k.n; i++)
		vec_push(&file, (uint8_t)k.bytes[i]);
	read = unpack(file.at, file.n, &rc, &e);
	cr_assert_eq(rc, 0, "%s", err_text(&e));
	text = facts_of(read);
	cr_expect_not_null(strstr(text, "code and sources 1 file left out"), "%s", text);
	for (size_t i = 0; i < 3; i++) {
		const uint8_t *got = profile_attachment(read, ATTACHMENT_SOURCE, "/x.c", &cursor,
							&n_first);

		cr_expect_eq(got != NULL, i < 2);
		if (got)
			cr_expect_eq(n_first, n);
		else
			break;
	}
	free(text);
	free(zeros);
	free(k.bytes);
	profile_free(read);
	profile_free(p);
	vec_done(&file);
	vec_done(&body);
}
