/* SPDX-License-Identifier: GPL-3.0-or-later */
/* OpenTelemetry profiles as protobuf and JSON, alone and several in a file: all say the same. */
#include "config.h"

#include "base/err.h"
#include "base/mem.h"
#include "formats/format.h"
#include "formats/otlp/otlp.h"
#include "profile/profile.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/read_rows.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N(cases) (sizeof(cases) / sizeof(*(cases)))

static uint8_t *data_of(const char *name, size_t *n)
{
	char *path = xasprintf("%s/otlp/%s", TEST_DATA, name);
	uint8_t *bytes = xcalloc(1, (size_t)1 << 20);
	FILE *f = fopen(path, "r");

	cr_assert(f, "%s", path);
	*n = fread(bytes, 1, ((size_t)1 << 20) - 1, f);
	fclose(f);
	free(path);
	return bytes;
}

/* The file as it is, and twice as the collector's file exporter writes it. */
static uint8_t *twice(const char *name, size_t *n)
{
	size_t n_one, head = strstr(name, "json") ? 0 : 4;
	uint8_t *one = data_of(name, &n_one), *two = xmalloc(2 * (n_one + head)), *at = two;

	for (unsigned i = 0; i < 2; i++) {
		for (unsigned k = 0; k < head; k++)
			*at++ = (uint8_t)(n_one >> 8 * (3 - k));
		memcpy(at, one, n_one);
		at += n_one;
	}
	*n = (size_t)(at - two);
	free(one);
	return two;
}

static const char *const names[] = { "stacks.otlp", "stacks.json" };

/* make.py: three times worker runs inlined() in work(), io is once in the kernel, and 5 + 7 samples have no function. */
Test(otlp, all_encodings_say_the_same)
{
	for (unsigned i = 0; i < 2 * N(names); i++) {
		size_t n;
		uint8_t *bytes = i < N(names) ? data_of(names[i], &n) : twice(names[i % 2], &n);
		unsigned times = i < N(names) ? 1 : 2;
		struct err e = ERR_INIT;
		char *rows, *want;
		struct profile *p;
		int rc;

		cr_expect_eq(probe_bytes(bytes, n), &format_otlp, "%u", i);
		p = read_bytes_as(&format_otlp, bytes, n, &rc, &e);
		cr_assert_eq(rc, 0, "%u: %s", i, err_text(&e));
		rows = rows_of_event(p, NULL);
		want = xasprintf("[app]:app/%u/%u do_syscall_64:[kernel]/%u/%u inlined:w.py/%u/%u "
				 "main:main.py/0/%u work:w.py/0/%u ",
				 12 * times, 12 * times, times, times, 3 * times, 3 * times,
				 16 * times, 3 * times);
		cr_expect_str_eq(rows, want, "%u: %s", i, rows);
		cr_expect_eq(total_of_event(p, "alloc_space"), 1000 * times);
		cr_expect(has_fact(p, "without a function"));
		free(rows);
		free(want);
		profile_free(p);
		free(bytes);
	}
}

/* The collector's own writer, alone and behind a length: fields from the last to the first, and texts of resources in the dictionary. */
Test(otlp, files_of_the_collectors_library)
{
	static const char *const pdata[] = { "../tools/go.cpu.otlp",
					     "../tools/go.mutex.otlp.json" };

	for (unsigned i = 0; i < 2 * N(pdata); i++) {
		size_t n;
		uint8_t *bytes = i < N(pdata) ? data_of(pdata[i], &n) : twice(pdata[i % 2], &n);
		struct profile_counts counts;
		struct sample_columns c;
		struct err e = ERR_INIT;
		struct profile *p;
		int rc;

		cr_expect_eq(probe_bytes(bytes, n), &format_otlp, "%u", i);
		p = read_bytes_as(&format_otlp, bytes, n, &rc, &e);
		cr_assert_eq(rc, 0, "%u: %s", i, err_text(&e));
		profile_counts_read(p, &counts);
		profile_samples(p, &c);
		cr_assert_gt(counts.n_samples, 0);
		cr_expect_str_eq(
			profile_string(p, profile_thread(p, (thread_id){ c.thread[0] })->labels,
				       NULL),
			"service.name=gowork");
		profile_free(p);
		free(bytes);
	}
}

Test(otlp, threads_labels_and_times)
{
	size_t n;
	uint8_t *bytes = data_of(names[1], &n);
	struct profile_counts counts;
	struct err e = ERR_INIT;
	struct sample_columns c;
	const struct thread *t;
	int rc;
	struct profile *p = read_bytes_as(&format_otlp, bytes, n, &rc, &e);

	cr_assert_eq(rc, 0);
	profile_counts_read(p, &counts);
	profile_samples(p, &c);
	cr_assert_eq(counts.n_samples, 7);
	/* 19 digits, to the last */
	cr_expect_eq(c.time_ns[0], 1700000000000000001);
	cr_expect_eq(c.time_ns[3], 1700000000000000002);
	t = profile_thread(p, (thread_id){ c.thread[3] });
	cr_expect_eq(t->tid, 19);
	cr_expect_str_eq(profile_string(p, t->name, NULL), "io");
	cr_expect_str_eq(profile_string(p, t->labels, NULL),
			 "service.name=shop, container.id=c0ffee, bytes=4096 By");
	cr_expect_eq(profile_process(p, t->process)->pid, 17);
	cr_expect_str_eq(profile_string(p, profile_process(p, t->process)->name, NULL), "app");
	profile_free(p);
	free(bytes);
}

/* The dictionary comes last: what is cut has no stacks, and says that it is cut. */
Test(otlp, cut_at_each_offset)
{
	for (unsigned i = 0; i < 2 * N(names); i++) {
		size_t n;
		uint8_t *bytes = i < N(names) ? data_of(names[i], &n) : twice(names[i % 2], &n);

		/* of two, some offsets: those within the first were tried */
		for (size_t cut = 1; cut < n; cut += i < N(names) ? 1 : 13) {
			uint8_t *exact = xmalloc(cut);
			struct err e = ERR_INIT;
			struct profile *p;
			int rc;

			memcpy(exact, bytes, cut);
			p = read_bytes_as(&format_otlp, exact, cut, &rc, &e);
			if (rc < 0)
				cr_expect(rc == -EBADMSG && strstr(err_text(&e), "x: "),
					  "%u, %zu bytes: %d %s", i, cut, rc, err_text(&e));
			/* a whole message, alone or before others, lacks nothing that it has */
			else if (cut != n / 2 && cut != n / 2 - 1 && cut != n - 1)
				cr_expect(has_fact(p, "offset"), "%u, %zu bytes", i, cut);
			profile_free(p);
			err_clear(&e);
			free(exact);
		}
		free(bytes);
	}
}

Test(otlp, hostile_bytes, .timeout = 300)
{
	for (unsigned i = 0; i < N(names); i++) {
		size_t n;
		uint8_t *bytes = data_of(names[i], &n);

		fuzz_vary(fuzz_otlp, bytes, n, 1500);
		free(bytes);
		bytes = twice(names[i], &n);
		fuzz_vary(fuzz_otlp, bytes, n, 500);
		free(bytes);
	}
}

/* Indexes beyond their tables, a layout of before, numbers of values and times that differ. */
Test(otlp, what_is_wrong_is_said)
{
#define PROFILE(samples) \
	"{\"resourceProfiles\":[{\"scopeProfiles\":[{\"profiles\":[{\"samples\":[" samples \
	"]}]}]}]," \
	"\"dictionary\":{\"stringTable\":[\"\",\"f\"],\"functionTable\":[{},{\"nameStrindex\":1}]," \
	"\"locationTable\":[{},{\"lines\":[{\"functionIndex\":1}]},{\"lines\":[{\"functionIndex\":77}]," \
	"\"mappingIndex\":9,\"attributeIndices\":[-4,99]}],\"stackTable\":[{},{\"locationIndices\":[1]}," \
	"{\"locationIndices\":[2,2147483647,-1]}]}}"
	static const struct {
		const char *text, *rows, *fact; /* rows NULL: refused with that */
	} cases[] = {
		{ PROFILE("{\"stackIndex\":1,\"values\":[\"4\"]},{\"stackIndex\":9,\"values\":[1]}"),
		  "f:/4/4 ", "1 sample of stacks that are not in the file" },
		{ PROFILE("{\"stackIndex\":2,\"values\":[4],\"attributeIndices\":[-1,5000000000]}"),
		  "[unknown]:/4/4 ", "3 frames of locations or functions" },
		{ PROFILE("{\"stackIndex\":1,\"values\":[4,5,6],\"timestampsUnixNano\":[1,2]},"
			  "{\"stackIndex\":1,\"values\":[7],\"timestampsUnixNano\":[1,2]}"),
		  "f:/7/7 ", "1 sample without a value and a time" },
		{ PROFILE("{\"stackIndex\":1,\"values\":[9223372036854775807]},{\"stackIndex\":1,"
			  "\"values\":[1]}"),
		  "f:/9223372036854775807/9223372036854775807 ", "sum would be too large" },
		{ PROFILE("{\"locationsStartIndex\":0,\"locationsLength\":1,\"value\":[1]}"), NULL,
		  "before opentelemetry-proto 1.8" },
		/* There is no number at all to look for the values among. */
		{ PROFILE("{\"stackIndex\":1}"), NULL, "without a sample" },
		{ PROFILE(""), NULL, "without a sample" },
		{ "{\"resourceProfiles\":x", NULL,
		  ": lexical error: invalid char in json text at offset 21, before its first sample" },
	};

	for (size_t i = 0; i < N(cases); i++) {
		struct err e = ERR_INIT;
		int rc;
		struct profile *p = read_bytes_as(&format_otlp, cases[i].text,
						  strlen(cases[i].text), &rc, &e);

		if (cases[i].rows) {
			char *rows = rows_of_event(p, NULL);

			cr_assert_eq(rc, 0, "case %zu: %s", i, err_text(&e));
			cr_expect_str_eq(rows, cases[i].rows, "case %zu: %s", i, rows);
			cr_expect(has_fact(p, cases[i].fact), "case %zu", i);
			free(rows);
		} else {
			cr_expect(rc == -EBADMSG && strstr(err_text(&e), cases[i].fact),
				  "case %zu: %s", i, err_text(&e));
		}
		profile_free(p);
		err_clear(&e);
	}
}
