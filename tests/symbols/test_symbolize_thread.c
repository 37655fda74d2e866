/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The thread that names beside reading: what comes after it went to sleep is named, and otherwise it sleeps. */
#include "config.h"

#include "profile/builder.h"
#include "symbols/resolver.h"
#include "symbols/symbolize_thread.h"
#include "tests/support/others_rest.h"

#include <criterion/criterion.h>
#include <elf.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#define TRIES 1000
#define START UINT64_C(0x10000000)

/* Where this program begins. */
static uint64_t entry(void)
{
	int fd = open("/proc/self/exe", O_RDONLY);
	Elf64_Ehdr h;

	cr_assert_eq(read(fd, &h, sizeof(h)), sizeof(h));
	close(fd);
	return h.e_entry;
}

static location_id locate(struct profile *p, struct resolver *r, const char *path)
{
	struct mapping_event m = {
		.pid = 1, .start = START, .length = START, .path = path, .executable = true
	};
	location_id l;

	builder_begin(p);
	resolver_map(r, &m);
	l = resolver_locate(r, 1, 1, START + entry(), MODE_USER, false);
	cr_assert_eq(builder_end(p), 0);
	return l;
}

static bool gets_name(struct profile *p, location_id l)
{
	struct location_columns c;

	for (int i = 0; i < TRIES; i++) {
		profile_locations(p, &c);
		if (location_function(&c, l.v) != ID_NONE)
			return true;
		poll(NULL, 0, 20);
	}
	return false;
}

Test(perf_naming, sleeps_until_there_is_something_to_name, .timeout = 60)
{
	static const struct resolver_options o = { .same_machine = true };
	struct profile *p = profile_new();
	struct symbolize_thread *n;
	struct resolver *r;
	char path[4096];
	ssize_t size = readlink("/proc/self/exe", path, sizeof(path) - 1);
	location_id l;

	cr_assert_gt(size, 0);
	path[size] = '\0';
	builder_begin(p);
	r = resolver_new(p, build_capture(p, "test", "perf.data"), &o);
	builder_end(p);
	n = symbolize_thread_start(r, NULL);
	cr_assert_not_null(n);
	cr_expect(others_rest());
	l = locate(p, r, path);
	symbolize_thread_more(n, 1);
	cr_expect(gets_name(p, l));
	cr_expect(others_rest());
	cr_expect_eq(symbolize_thread_finish(n), 0);
	resolver_free(r);
	profile_free(p);
}
