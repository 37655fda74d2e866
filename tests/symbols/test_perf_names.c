/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Names against those of perf itself: a recording is made up that samples a file's code every few
 * bytes, perf script says what each address is called, and so do we.
 */
#include "config.h"

#include "base/mem.h"
#include "elf/elf_file.h"
#include "profile/builder.h"
#include "symbols/resolver.h"

#include <criterion/criterion.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BASE UINT64_C(0x7f0000000000)
#define PID  4242

static void put(FILE *f, const void *p, size_t n)
{
	cr_assert_eq(fwrite(p, 1, n, f), n);
}

static void put_header(FILE *f, uint32_t type, uint16_t misc, size_t body)
{
	struct perf_event_header h = { .type = type, .misc = misc };

	h.size = (uint16_t)(sizeof(h) + body);
	put(f, &h, sizeof(h));
}

/* The trailer of sample_id_all for IP|TID|TIME. */
static void put_trailer(FILE *f)
{
	struct {
		uint32_t pid, tid;
		uint64_t time;
	} t = { PID, PID, 1 };

	put(f, &t, sizeof(t));
}

static void put_mapping(FILE *f, uint64_t length, uint64_t offset, const char *path)
{
	struct {
		uint32_t pid, tid;
		uint64_t start, length, offset;
		uint32_t major, minor;
		uint64_t inode, generation;
		uint32_t protection, flags;
	} m = { PID, PID, BASE + offset, length, offset, 0, 0, 0, 0, 5, 2 };
	char name[4096] = { 0 };
	size_t n = (strlen(path) + 8) & ~(size_t)7;

	strcpy(name, path);
	put_header(f, PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER, sizeof(m) + n + 16);
	put(f, &m, sizeof(m));
	put(f, name, n);
	put_trailer(f);
}

static void put_sample(FILE *f, uint64_t ip)
{
	struct {
		uint64_t ip;
		uint32_t pid, tid;
		uint64_t time;
	} s = { ip, PID, PID, 2 };

	put_header(f, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, sizeof(s));
	put(f, &s, sizeof(s));
}

/* A perf.data file with one mapping and a sample every step bytes of [offset, offset + n). */
static void write_recording(FILE *f, const char *elf, uint64_t offset, uint64_t n, uint64_t step)
{
	struct {
		uint64_t magic, size, attr_size, attrs[2], data[2], types[2], features[4];
	} h = { .size = sizeof(h) };
	struct {
		struct perf_event_attr attr;
		uint64_t ids[2];
	} a = { .ids = { 0, 0 } };
	uint64_t page = offset & ~UINT64_C(4095);

	memcpy(&h.magic, "PERFILE2", 8);
	a.attr.type = PERF_TYPE_SOFTWARE;
	a.attr.size = PERF_ATTR_SIZE_VER5;
	a.attr.sample_period = 1000;
	a.attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
	a.attr.mmap = a.attr.mmap2 = a.attr.comm = a.attr.sample_id_all = 1;
	h.attr_size = PERF_ATTR_SIZE_VER5 + sizeof(a.ids);
	h.attrs[0] = sizeof(h);
	h.attrs[1] = h.attr_size;
	h.data[0] = h.attrs[0] + h.attrs[1];
	put(f, &h, sizeof(h));
	put(f, &a.attr, PERF_ATTR_SIZE_VER5);
	put(f, a.ids, sizeof(a.ids));
	put_mapping(f, (offset + n + 4095 - page) & ~UINT64_C(4095), page, elf);
	for (uint64_t at = 0; at < n; at += step)
		put_sample(f, BASE + offset + at);
	h.data[1] = (uint64_t)ftell(f) - h.data[0];
	rewind(f);
	put(f, &h, sizeof(h));
}

static location_id locate(struct resolver *r, struct profile *p, uint64_t ip)
{
	location_id l;

	builder_begin(p);
	l = resolver_locate(r, PID, TIME_NONE, ip, MODE_USER, false);
	builder_end(p);
	return l;
}

static const char *name_of(struct profile *p, location_id l)
{
	struct location_columns c;
	const struct function *f;

	profile_locations(p, &c);
	f = profile_function(p, (function_id){ location_function(&c, l.v) });
	return f->flags & FUNCTION_UNRESOLVED ? "[unknown]" : profile_string(p, f->name, NULL);
}

static bool ends_with(const char *s, const char *end)
{
	return strlen(s) >= strlen(end) && strcmp(s + strlen(s) - strlen(end), end) == 0;
}

/*
 * perf writes no arguments, and calls entries of the PLT after the symbol before it or by a wrong
 * number where ours knows better. What handlers of signals return to has its name from the byte before it on.
 */
static bool agrees(const char *perf, const char *ours)
{
	size_t n = strlen(perf);

	if (strcmp(perf, ours) == 0 || ends_with(ours, "@plt") || strcmp(ours, ".plt") == 0)
		return true;
	if (strcmp(perf, "[unknown]") == 0 && strcmp(ours, "__restore_rt") == 0)
		return true;
	return strncmp(perf, ours, n) == 0 && (ours[n] == '(' || ours[n] == ' ' || ours[n] == '[');
}

static void compare(FILE *script, struct profile *p, const location_id *l, size_t n,
		    const char *path)
{
	char *line = NULL;
	size_t cap = 0, i = 0, n_differ = 0;

	while (getline(&line, &cap, script) > 0) {
		char *name = line + strspn(line, " "), *end;

		name += strcspn(name, " ");
		end = strrchr(line, '\n');
		if (*name != ' ' || !end || i >= n)
			continue;
		*end = '\0';
		name++;
		if (!agrees(name, name_of(p, l[i])) && n_differ++ < 10)
			cr_log_info("%s: perf %s, ours %s", path, name, name_of(p, l[i]));
		i++;
	}
	free(line);
	cr_expect_eq(i, n, "%s: %zu of %zu samples", path, i, n);
	cr_expect_eq(n_differ, 0, "%s: %zu of %zu names differ", path, n_differ, n);
}

static void check_file(const char *path, const char *elf)
{
	const struct resolver_options o = { .same_machine = true };
	struct profile *p = profile_new();
	FILE *f = fopen(path, "w+e"), *script;
	struct elf_file *file;
	const struct elf_section *text;
	struct resolver *r;
	struct mapping_event m = {
		.time_ns = INT64_MIN, .pid = PID, .start = BASE, .executable = 1
	};
	uint64_t n, step;
	location_id *l;
	char *command;

	cr_assert_eq(elf_file_open(elf, &file, NULL), 0, "%s", elf);
	text = elf_file_section(file, ".text");
	n = text->size;
	step = 1 + n / 20000;
	write_recording(f, elf, text->offset, n, step);
	fclose(f);
	builder_begin(p);
	r = resolver_new(p, build_capture(p, path, "perf.data"), &o);
	builder_end(p);
	m.length = (text->offset + n + 4095) & ~UINT64_C(4095);
	m.path = elf;
	resolver_map(r, &m);
	l = xcalloc((size_t)(n / step + 1), sizeof(*l));
	for (uint64_t i = 0; i * step < n; i++)
		l[i] = locate(r, p, BASE + text->offset + i * step);
	cr_assert_eq(resolver_name(r, NULL), 0);
	command = xasprintf("perf script -f -i %s -F ip,sym --no-inline 2>/dev/null", path);
	script = popen(command, "re");
	compare(script, p, l, (size_t)((n + step - 1) / step), elf);
	pclose(script);
	free(command);
	free(l);
	elf_file_close(file);
	resolver_free(r);
	profile_free(p);
}

Test(perf_names, are_ours, .timeout = 300)
{
	static const char *const files[] = { "/lib/x86_64-linux-gnu/libc.so.6",
					     "/lib/x86_64-linux-gnu/libm.so.6",
					     "/lib64/ld-linux-x86-64.so.2",
					     "/usr/lib/x86_64-linux-gnu/libstdc++.so.6" };
	char path[] = "/tmp/proftop-names-XXXXXX", self[4096] = { 0 };
	int fd;

	if (system("perf version >/dev/null 2>&1") != 0)
		cr_skip_test("no perf");
	fd = mkstemp(path);
	cr_assert_geq(fd, 0);
	close(fd);
	cr_assert_gt(readlink("/proc/self/exe", self, sizeof(self) - 1), 0);
	check_file(path, self);
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		char *real = realpath(files[i], NULL);

		if (real)
			check_file(path, real);
		free(real);
	}
	unlink(path);
}
