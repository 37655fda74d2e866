/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Debug information that zlib packed: unpacked as far as it is needed, it has the same bytes; .debug_aranges
 * leads to the same answers as all units do, even where it does not know all of them.
 */
#include "base/mem.h"
#include "base/task.h"
#include "dwarf/debug_aranges.h"
#include "dwarf/debug_info.h"
#include "dwarf/dwarf_file.h"
#include "elf/elf_file.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_FRAMES 16

static bool sh(const char *dir, const char *command)
{
	char *all = xasprintf("cd %s && { %s; } >/dev/null 2>&1", dir, command);
	bool good = system(all) == 0;

	free(all);
	return good;
}

/* A directory with a program "plain", made by a command, and "packed". False, and said, where that cannot be. */
static bool begin(char *dir, const char *command)
{
	cr_assert_not_null(mkdtemp(dir));
	if (sh(dir, command) &&
	    sh(dir, "objcopy --compress-debug-sections=zlib-gabi plain packed && "
		    "readelf -SW packed | grep '\\.debug_info.* C '"))
		return true;
	cr_log_info("skipped: no compiler, no debug information, or objcopy packs no sections");
	return false;
}

/* This very program. */
static bool begin_own(char *dir)
{
	char *command = xasprintf("cp /proc/%d/exe plain", (int)getpid());
	bool can = begin(dir, command);

	free(command);
	return can;
}

/* Three units, of which .debug_aranges knows two. */
static bool begin_partial(char *dir)
{
	return begin(dir,
		     "for u in a b c; do { for i in $(seq 20); do "
		     "echo \"static inline int in_$u$i(int x) { return x * $i + 1; }"
		     "int ${u}_$i(volatile int *p) { return in_$u$i(*p) * 3 + in_$u$i(p[1]); }\"; "
		     "done; } >$u.c; gcc -g -O1 -c $u.c || exit; done;"
		     "echo 'int main(void) { return 0; }' >m.c && gcc -g -c m.c && "
		     "objcopy --remove-section=.debug_aranges "
		     "--remove-section=.rela.debug_aranges c.o && gcc -o plain a.o b.o c.o m.o");
}

static void end(const char *dir)
{
	char *command = xasprintf("rm -rf %s", dir);

	cr_expect_eq(system(command), 0);
	free(command);
}

static struct dwarf_file *open_in(const char *dir, const char *name)
{
	char *path = xasprintf("%s/%s", dir, name);
	struct dwarf_file *f = dwarf_file_open(path, NULL, NULL);

	free(path);
	return f;
}

/* A thread that compares pieces of a section, here and there. */
struct reading {
	struct lazy_bytes *packed, *plain;
	unsigned seed;
	size_t n_different; /* pieces */
};

/* task_fn */
static int compare_pieces(void *arg)
{
	struct reading *r = arg;
	uint64_t n = r->plain->n;

	for (int i = 0; i < 300; i++) {
		uint64_t from = (uint64_t)rand_r(&r->seed) % n, some = (n - from) / 8 + 1;

		/* More and more of it. */
		from = from * (uint64_t)(i + 1) / 300;
		if (!lazy_need(r->packed, from, some) || !lazy_need(r->plain, from, some) ||
		    memcmp(r->packed->at + from, r->plain->at + from, some) != 0)
			r->n_different++;
	}
	return 0;
}

Test(unpacking, same_bytes_to_two_threads)
{
	char dir[] = "/tmp/proftop-unpack-XXXXXX";
	bool can = begin_own(dir);
	struct dwarf_file *packed = can ? open_in(dir, "packed") : NULL;
	struct dwarf_file *plain = can ? open_in(dir, "plain") : NULL;

	cr_assert(!can || (packed && plain));
	for (unsigned i = 0; can && i < N_DWARF_SECTIONS; i++) {
		struct reading r[2] = { { &packed->section[i], &plain->section[i], 1 + i, 0 },
					{ &packed->section[i], &plain->section[i], 99 + i, 0 } };
		struct task *t;

		cr_assert_eq(packed->section[i].n, plain->section[i].n, "section %u", i);
		if (plain->section[i].n == 0)
			continue;
		t = task_start(compare_pieces, &r[1], -1);
		compare_pieces(&r[0]);
		task_join(t);
		cr_expect_eq(r[0].n_different + r[1].n_different, 0, "section %u", i);
		cr_expect_not(lazy_need(&packed->section[i], plain->section[i].n, 1));
	}
	cr_expect(!can || packed->section[DWARF_INFO].packed, "it is unpacked as it is needed");
	dwarf_file_close(packed);
	dwarf_file_close(plain);
	end(dir);
}

/* Damages byte `at` of packed .debug_info, counted from its end when negative. */
static void damage(const char *dir, long at)
{
	char *path = xasprintf("%s/packed", dir), *bad = xasprintf("%s/bad", dir);
	const struct elf_section *s;
	struct elf_file *elf;
	FILE *f;
	long where;

	cr_assert(sh(dir, "cp packed bad"));
	cr_assert_eq(elf_file_open(path, &elf, NULL), 0);
	s = elf_file_section(elf, ".debug_info");
	where = (long)s->offset + (at < 0 ? (long)s->size : 0) + at;
	f = fopen(bad, "r+");
	cr_assert_not_null(f);
	fseek(f, where, SEEK_SET);
	fwrite("\xff\xff\xff\xff\xff\xff\xff\xff", 1, 8, f);
	fclose(f);
	elf_file_close(elf);
	free(path);
	free(bad);
}

Test(unpacking, what_is_before_damage_is_kept)
{
	char dir[] = "/tmp/proftop-unpack-XXXXXX";
	bool can = begin_own(dir);
	struct dwarf_file *plain = can ? open_in(dir, "plain") : NULL;
	struct lazy_bytes *whole = can ? &plain->section[DWARF_INFO] : NULL;

	/* The header of the section, that of the stream, the first block, the last one. */
	for (long at = 0; can && at < 4; at++) {
		static const long places[] = { 0, 24, 200, -200 };
		struct dwarf_file *bad;
		uint64_t n = 0;

		damage(dir, places[at]);
		bad = open_in(dir, "bad");
		while (bad && n < whole->n && lazy_need(&bad->section[DWARF_INFO], n, 1))
			n++;
		cr_expect(bad || at < 2, "damaged at %ld", places[at]);
		cr_expect(at != 3 || n > whole->n / 2, "%ju of %ju are there", (uintmax_t)n,
			  (uintmax_t)whole->n);
		cr_assert(lazy_need(whole, 0, whole->n));
		if (bad && at == 3)
			cr_expect_eq(memcmp(bad->section[DWARF_INFO].at, whole->at, n / 2), 0);
		dwarf_file_close(bad);
	}
	dwarf_file_close(plain);
	end(dir);
}

/* What was answered: "innermost:line …", for each address. */
struct answers {
	char text[8][512];
};

/* debug_take */
static void write_frames(void *arg, size_t which, const struct debug_frame *frames, size_t n)
{
	struct answers *a = arg;
	size_t len = 0;

	for (size_t i = 0; i < n && len < 400; i++)
		len += (size_t)snprintf(a->text[which] + len, 100, "%.40s:%u ",
					frames[i].name ? frames[i].name : "?", frames[i].line);
}

static void ask(struct debug_info *d, const uint64_t *addresses, size_t n, struct answers *out)
{
	struct debug_plan *p = debug_plan_new(d, addresses, n);
	struct debug_reader *r = debug_reader_new(d, MAX_FRAMES);

	memset(out, 0, sizeof(*out));
	for (size_t i = 0; i < debug_plan_n_groups(p); i++)
		debug_reader_answer(r, p, i, write_frames, out);
	debug_reader_free(r);
	debug_plan_free(p);
}

static uint64_t address_of(const char *dir, const char *symbol)
{
	char *command = xasprintf("nm %s/plain | sed -n 's/^\\([0-9a-f]*\\) T %s$/\\1/p'", dir,
				  symbol),
	     line[64] = "";
	FILE *f = popen(command, "r");

	cr_assert(f && fgets(line, sizeof(line), f), "%s", symbol);
	pclose(f);
	free(command);
	return strtoull(line, NULL, 16);
}

/* arange_take: those of one unit. */
struct first_unit {
	uint64_t low, high;
};

static void take_first(void *arg, uint64_t unit, uint64_t begin, uint64_t stop)
{
	struct first_unit *u = arg;

	if (unit == 0 && u->high < stop)
		*u = (struct first_unit){ begin, stop };
}

Test(unpacking, aranges_and_units_answer_alike)
{
	static const char *const symbols[] = { "a_1", "a_20", "b_7", "c_5", "c_20" };
	char dir[] = "/tmp/proftop-unpack-XXXXXX", *path;
	struct answers plain, packed;
	struct build_id *any = NULL;
	struct first_unit first = { 0 };
	struct dwarf_file *f;
	struct debug_info *d;
	uint64_t at[5];

	if (!begin_partial(dir)) {
		end(dir);
		return;
	}
	for (size_t i = 0; i < 5; i++)
		at[i] = address_of(dir, symbols[i]) + 4;
	f = open_in(dir, "packed");
	cr_expect(debug_aranges_each(f, take_first, &first));
	cr_expect(at[0] > first.low && at[1] < first.high && at[2] >= first.high);
	dwarf_file_close(f);
	path = xasprintf("%s/plain", dir);
	d = debug_info_open(path, NULL, any);
	ask(d, at, 5, &plain);
	debug_info_free(d);
	free(path);
	cr_expect(strstr(plain.text[4], "c_20:20 "), "%s", plain.text[4]);
	path = xasprintf("%s/packed", dir);
	d = debug_info_open(path, NULL, any);
	/* Of units that are known, of one that is not, of known ones again. */
	for (size_t i = 0; i < 7; i++) {
		ask(d, &at[i % 5], 1, &packed);
		cr_expect_str_eq(packed.text[0], plain.text[i % 5], "%s", symbols[i % 5]);
	}
	ask(d, at, 5, &packed);
	cr_expect_eq(memcmp(&packed, &plain, sizeof(plain)), 0);
	cr_expect_eq(debug_info_n_damaged(d), 0);
	debug_info_free(d);
	free(path);
	end(dir);
}
