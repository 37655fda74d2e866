/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Separate debug files: this program is stripped, what was stripped is put where it may be found, and
 * the name of a local function must come back.
 */
#include "config.h"

#include "base/mem.h"
#include "dwarf/debug_info.h"
#include "dwarf/debug_parts.h"
#include "elf/build_id.h"
#include "elf/elf_file.h"
#include "elf/elf_symtab.h"
#include "profile/builder.h"
#include "symbols/image.h"
#include "symbols/inline_lookup.h"
#include "symbols/resolver.h"
#include "symbols/search/debug_file_search.h"
#include "symbols/space/dso.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BASE UINT64_C(0x7f0000000000)

/* Where test_debug_files_here() is in this program's file, and what it is called without symbols. */
static uint64_t here_offset;
static char *here_begins;

static __attribute__((noinline, used)) int test_debug_files_here(int x)
{
	__asm__ volatile("" : "+r"(x));
	return x;
}

static void sh(const char *dir, const char *command)
{
	char *all = xasprintf("cd %s && { %s; } >/dev/null 2>&1", dir, command);

	cr_assert_eq(system(all), 0, "%s", command);
	free(all);
}

static void name_begin(void)
{
	struct elf_file *self;
	uint64_t address;

	cr_assert_eq(elf_file_open("/proc/self/exe", &self, NULL), 0);
	cr_assert(elf_file_address_of(self, here_offset, &address));
	here_begins = xasprintf("[stripped+0x%" PRIx64 "]", address);
	elf_file_close(self);
}

static bool find_here(void)
{
	char line[4600], perms[8];
	uint64_t start, end, offset, at = (uintptr_t)&test_debug_files_here;
	FILE *f = fopen("/proc/self/maps", "re");

	test_debug_files_here(1);
	while (f && fgets(line, sizeof(line), f)) {
		unsigned long a, b, o;

		if (sscanf(line, "%lx-%lx %7s %lx", &a, &b, perms, &o) != 4)
			continue;
		start = a;
		end = b;
		offset = o;
		if (at >= start && at < end)
			here_offset = at - start + offset;
	}
	if (f)
		fclose(f);
	name_begin();
	cr_assert_gt(here_offset, 0, "this program is not found in its own memory");
	return true;
}

/* The name of that place in dir/stripped. */
static char *name_in(const char *dir, bool same_machine, const char *symbol_dir)
{
	const struct resolver_options o = { .symbol_dirs = &symbol_dir,
					    .n_symbol_dirs = symbol_dir ? 1 : 0,
					    .same_machine = same_machine };
	struct profile *p = profile_new();
	char *path = xasprintf("%s/stripped", dir), *name;
	struct mapping_event m = { .pid = 1, .start = BASE, .length = 1 << 30, .path = path };
	struct location_columns c;
	struct resolver *r;
	location_id l;
	const struct function *f;

	m.executable = true;
	builder_begin(p);
	r = resolver_new(p, build_capture(p, "test", "perf.data"), &o);
	resolver_map(r, &m);
	l = resolver_locate(r, 1, 5, BASE + here_offset, MODE_USER, false);
	builder_end(p);
	cr_assert_eq(resolver_name(r, NULL), 0);
	profile_locations(p, &c);
	f = profile_function(p, (function_id){ location_function(&c, l.v) });
	name = xstrdup(profile_string(p, f->name, NULL));
	resolver_free(r);
	profile_free(p);
	free(path);
	return name;
}

static void expect(const char *what, const char *dir, bool same_machine, const char *symbol_dir,
		   const char *want)
{
	char *got = name_in(dir, same_machine, symbol_dir);

	cr_expect_str_eq(got, want, "%s: %s", what, got);
	free(got);
}

static bool have(const char *tool)
{
	char *command = xasprintf("command -v %s >/dev/null 2>&1", tool);
	bool found = system(command) == 0;

	free(command);
	if (!found)
		cr_skip_test("no %s", tool);
	return found;
}

static void copy_self(const char *dir)
{
	char self[4096] = { 0 }, *command;

	cr_assert_gt(readlink("/proc/self/exe", self, sizeof(self) - 1), 0);
	command = xasprintf("cp %s whole && objcopy --only-keep-debug whole whole.debug", self);
	sh(dir, command);
	free(command);
}

Test(debug_files, by_link_and_checksum)
{
	static const char here[] = "test_debug_files_here";
	char dir[] = "/tmp/proftop-debug-XXXXXX";

	if (!have("objcopy") || !find_here())
		return;
	cr_assert_not_null(mkdtemp(dir));
	copy_self(dir);
	sh(dir, "objcopy --strip-all -R .note.gnu.build-id whole stripped");
	expect("nothing", dir, true, NULL, here_begins);
	sh(dir, "objcopy --strip-all -R .note.gnu.build-id --add-gnu-debuglink=whole.debug "
		"whole stripped");
	expect("beside it", dir, true, NULL, here);
	sh(dir, "mkdir .debug && mv whole.debug .debug");
	expect("in .debug", dir, true, NULL, here);
	sh(dir, "mkdir d && mv .debug/whole.debug d/");
	expect("gone", dir, true, NULL, here_begins);
	sh(dir, "echo x >>d/whole.debug && cp d/whole.debug .");
	expect("changed since", dir, true, NULL, here_begins);
	sh(dir, "rm -rf .debug d whole whole.debug stripped");
	rmdir(dir);
}

Test(debug_files, by_build_id_and_by_name_in_a_directory)
{
	static const char here[] = "test_debug_files_here";
	char dir[] = "/tmp/proftop-debug-XXXXXX", *symbols, *path;
	struct elf_file *f;
	bool has_id;

	if (!have("objcopy") || !have("readelf") || !find_here())
		return;
	cr_assert_not_null(mkdtemp(dir));
	copy_self(dir);
	symbols = xasprintf("%s/symbols", dir);
	sh(dir, "mkdir symbols && cp whole symbols/stripped && "
		"objcopy --strip-all whole stripped");
	expect("by name", dir, false, symbols, here);
	expect("of another machine", dir, false, NULL, "[stripped]");
	path = xasprintf("%s/stripped", dir);
	cr_assert_eq(elf_file_open(path, &f, NULL), 0);
	has_id = elf_file_build_id(f)->n > 0;
	elf_file_close(f);
	free(path);
	if (has_id) {
		sh(dir, "rm symbols/stripped && "
			"id=$(readelf -n whole | sed -n 's/.*Build ID: //p') && "
			"mkdir -p symbols/.build-id/${id%${id#??}} && "
			"mv whole.debug symbols/.build-id/${id%${id#??}}/${id#??}.debug");
		expect("by build-id", dir, true, symbols, here);
		/* perf's cache where its config says. */
		setenv("HOME", dir, 1);
		sh(dir, "id=$(readelf -n whole | sed -n 's/.*Build ID: //p') && "
			"mkdir -p cache/.build-id/${id%${id#??}}/${id#??} && "
			"cp whole cache/.build-id/${id%${id#??}}/${id#??}/elf && "
			"printf '[buildid]\ndir = ~/cache\n' >.perfconfig");
		expect("by perf's config", dir, true, NULL, here);
	}
	sh(dir, "rm -rf .perfconfig cache symbols whole whole.debug stripped");
	rmdir(dir);
	free(symbols);
}

Test(debug_files, mini_debug_info)
{
	char dir[] = "/tmp/proftop-debug-XXXXXX";

	if (!have("objcopy") || !have("xz") || !find_here())
		return;
	cr_assert_not_null(mkdtemp(dir));
	copy_self(dir);
	sh(dir, "objcopy -S --keep-symbol=test_debug_files_here whole.debug mini && xz -k mini && "
		"objcopy --strip-all --add-section .gnu_debugdata=mini.xz whole stripped");
	expect("in a section", dir, true, NULL, "test_debug_files_here");
	sh(dir, "rm -rf mini mini.xz whole whole.debug stripped");
	rmdir(dir);
}

/*
 * The images of dir/stripped as a recording of this machine has it: what describes it is want, and its split units
 * may lie beside the program of that name.
 */
static void expect_image(const char *what, const char *dir, const char *want, const char *beside)
{
	const struct resolver_options o = { .same_machine = true };
	char *path = xasprintf("%s/stripped", dir);
	struct dso d = { .kind = DSO_FILE, .path = path };
	const char *found, *last;
	struct elf_file *f;
	struct debug_file_search where;
	struct image i;

	cr_assert_eq(elf_file_open(path, &f, NULL), 0);
	d.build_id = *elf_file_build_id(f);
	elf_file_close(f);
	debug_file_search_init(&where, &o);
	image_open(&where, &d, &i);
	found = image_described(&i) ? elf_file_name(image_described(&i)) : "none";
	last = i.parts.all.n ? i.parts.all.at[i.parts.all.n - 1] : "none";
	cr_expect_str_eq(strstr(found, want) ? want : found, want, "%s: %s", what, found);
	cr_expect_str_eq(strstr(last, beside) ? beside : last, beside, "%s: %s", what, last);
	image_close(&i);
	debug_file_search_done(&where);
	free(path);
}

Test(debug_files, debug_information_of_a_program_with_symbols)
{
	char dir[] = "/tmp/proftop-debug-XXXXXX";

	if (!have("objcopy") || !have("readelf") || !find_here())
		return;
	cr_assert_not_null(mkdtemp(dir));
	copy_self(dir);
	setenv("HOME", dir, 1);
	sh(dir, "objcopy -g --add-gnu-debuglink=whole.debug whole stripped && mkdir d && "
		"mv whole.debug d/");
	expect_image("nowhere", dir, "none", "none");
	sh(dir, "mv d/whole.debug .");
	expect_image("by link", dir, "/whole.debug", "none");
	sh(dir, "mv whole.debug d/ && objcopy --add-section .debug_addr=/dev/null whole stripped");
	expect_image("whole", dir, "/stripped", "/stripped");
	/* perf keeps programs, not what lies beside them. */
	sh(dir, "id=$(readelf -n whole | sed -n 's/.*Build ID: //p'); test -z \"$id\" || { "
		"mkdir -p .debug/.build-id/${id%${id#??}}/${id#??} && "
		"cp stripped .debug/.build-id/${id%${id#??}}/${id#??}/elf; }");
	expect_image("kept by perf", dir, "/elf", "/stripped");
	sh(dir, "rm -rf .debug d whole stripped");
	rmdir(dir);
}

/* Where dir/program, whose build-id id is, has what dwz moved out of it; directory: of --symbols. */
static void expect_shared(const char *what, const char *dir, const struct build_id *id,
			  const char *directory, const char *want)
{
	char *symbols = xasprintf("%s/%s", dir, directory), *path = xasprintf("%s/program", dir);
	const struct resolver_options o = { .same_machine = true,
					    .symbol_dirs = (const char *const *)&symbols,
					    .n_symbol_dirs = 1 };
	struct dso d = { .kind = DSO_FILE, .path = path, .build_id = *id };
	const char *found;
	struct inline_lookup *in;
	struct debug_file_search where;
	struct image i;

	debug_file_search_init(&where, &o);
	image_open(&where, &d, &i);
	found = i.parts.shared ? i.parts.shared : "none";
	cr_expect_str_eq(strstr(found, want) ? want : found, want, "%s: %s", what, found);
	in = inline_lookup_new(&i);
	cr_assert_not_null(in);
	cr_expect_eq(inline_lookup_lacks_shared(in) == NULL, i.parts.shared != NULL, "%s", what);
	inline_lookup_free(in);
	image_close(&i);
	debug_file_search_done(&where);
	free(symbols);
	free(path);
}

/* The link alone is made here: dwz is not everywhere. */
Test(debug_files, shared_by_dwz)
{
	char dir[] = "/tmp/proftop-debug-XXXXXX", *path;
	struct elf_file *f;
	struct build_id id;

	if (!have("objcopy") || !have("readelf") || !have("xxd") || !find_here())
		return;
	cr_assert_not_null(mkdtemp(dir));
	copy_self(dir);
	setenv("HOME", dir, 1);
	path = xasprintf("%s/whole", dir);
	cr_assert_eq(elf_file_open(path, &f, NULL), 0);
	id = *elf_file_build_id(f);
	if (id.n > 0 && elf_file_debug_info(f)) {
		/* The shared one has a build-id of its own: abab... */
		sh(dir,
		   "id=$(printf 'ab%.0s' $(seq 20)) && "
		   "(printf '\\4\\0\\0\\0\\24\\0\\0\\0\\3\\0\\0\\0GNU\\0' && echo $id | xxd -r -p) >note && "
		   "(printf 'common.dwz\\0' && echo $id | xxd -r -p) >link && "
		   "objcopy --add-section .gnu_debugaltlink=link whole program && "
		   "objcopy --update-section .note.gnu.build-id=note whole shared && "
		   "mkdir -p no other yes/.build-id/ab && cp shared yes/.build-id/ab/${id#??}.debug && "
		   "cp shared other/common.dwz");
		expect_shared("nowhere", dir, &id, "no", "none");
		expect_shared("by build-id", dir, &id, "yes", ".debug");
		expect_shared("by name", dir, &id, "other", "/other/common.dwz");
		sh(dir, "mv other/common.dwz .");
		expect_shared("where the link says", dir, &id, "yes", "/common.dwz");
		/* perf keeps copies of programs, but not of what is beside them. */
		sh(dir, "mkdir copy && mv program copy/");
		expect_shared("beside where the program was", dir, &id, "copy", "/common.dwz");
		sh(dir, "mv copy/program . && cp whole common.dwz");
		expect_shared("of another build", dir, &id, "no", "none");
	}
	elf_file_close(f);
	sh(dir, "rm -rf no yes other copy link note shared common.dwz whole whole.debug program");
	rmdir(dir);
	free(path);
}

/* debug_take: where inner() was inlined. */
static void count_inner(void *arg, size_t which, const struct debug_frame *frames, size_t n)
{
	size_t *found = arg;

	(void)which;
	*found += n > 1 && frames[0].name && strcmp(frames[0].name, "inner") == 0;
}

/* Does the debug information of dir/program say so, with split units beside programs of these names? */
static bool tells(const char *dir, const char *first, const char *second)
{
	const char *const beside[] = { first, second };
	char *path = xasprintf("%s/program", dir), *place;
	struct build_id any = { .n = 0 };
	struct debug_parts split = { .all = { 0 } };
	VEC(uint64_t) addresses = { 0 };
	const struct elf_section *text;
	struct debug_reader *r;
	struct debug_info *d;
	struct debug_plan *p;
	struct elf_file *f;
	size_t n = 0;

	for (size_t i = 0; i < 2; i++) {
		place = xasprintf("%s/%s", dir, beside[i]);
		debug_parts_add(&split, place);
		free(place);
	}
	cr_assert_eq(elf_file_open(path, &f, NULL), 0);
	text = elf_file_section(f, ".text");
	for (uint64_t at = 0; at < text->size; at++)
		vec_push(&addresses, text->address + at);
	elf_file_close(f);
	d = debug_info_open(path, &split, &any);
	cr_assert_not_null(d);
	p = debug_plan_new(d, addresses.at, addresses.n);
	r = debug_reader_new(d, 8);
	for (size_t i = 0; i < debug_plan_n_groups(p); i++)
		debug_reader_answer(r, p, i, count_inner, &n);
	debug_reader_free(r);
	cr_expect_eq(debug_info_n_missing(d), n > 0 ? 0 : 1, "%s, %s", first, second);
	debug_plan_free(p);
	debug_info_free(d);
	debug_parts_done(&split);
	vec_done(&addresses);
	free(path);
	return n > 0;
}

Test(debug_files, split_units)
{
	/* inner() twice: one that an older build has left, one of this build. */
	static const char build[] =
		"for i in 1 2; do echo \"volatile int v;\nstatic int inner(int x)\n{\n\tv = x;\n"
		"\treturn v * $i;\n}\nint main(int n, char **a)\n{\n\treturn inner(n) + !a;\n}\" "
		">obj/x.c && cc -gdwarf-4 -O2 -gsplit-dwarf -c obj/x.c -o obj/x.o && "
		"cc obj/x.o -o program && dwp -e program -o $i.dwp; done";
	char dir[] = "/tmp/proftop-debug-XXXXXX";

	if (!have("cc") || !have("dwp"))
		return;
	cr_assert_not_null(mkdtemp(dir));
	sh(dir, "mkdir obj elsewhere");
	sh(dir, build);
	cr_expect(tells(dir, "nowhere", "nowhere"), "where the compiler left it");
	sh(dir, "mv obj elsewhere");
	cr_expect_not(tells(dir, "nowhere", "nowhere"), "it is gone");
	cr_expect(tells(dir, "nowhere", "elsewhere/program"), "by its name beside the program");
	sh(dir, "mv elsewhere/obj/x.dwo elsewhere");
	cr_expect(tells(dir, "nowhere", "elsewhere/program"), "beside the program");
	sh(dir, "rm elsewhere/x.dwo");
	cr_expect_not(tells(dir, "1", "nowhere"), "of the older build");
	cr_expect(tells(dir, "nowhere", "2"), "of this build");
	cr_expect(tells(dir, "1", "2"), "of both");
	sh(dir, "rm -rf program 1.dwp 2.dwp elsewhere");
	rmdir(dir);
}
