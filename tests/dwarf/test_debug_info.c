/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Our indexes of debug information against libdw's own slow answers (dwarf_getscopes, which walks
 * the unit for each address), over this very program and over a captured one if it is there.
 */
#include "dwarf/debug_info.h"

#include "base/mem.h"
#include "symbols/resolver.h"

#include <criterion/criterion.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_FRAMES 64

/* libdw leaves paths relative to where the unit was compiled. */
static bool same_path(const char *ours, const char *theirs)
{
	size_t n = ours ? strlen(ours) : 0, m = theirs ? strlen(theirs) : 0;

	if (!ours || !theirs)
		return !ours == !theirs;
	return strcmp(ours, theirs) == 0 ||
	       (theirs[0] != '/' && n > m + 1 && ours[n - m - 1] == '/' &&
		strcmp(ours + n - m, theirs) == 0);
}

/*
 * libdw takes file 0 of DWARF 5 for none, and does not live through the question in units of a .dwo; so
 * its answer counts only when there is one.
 */
static struct debug_frame reference_function(Dwarf_Die *die, bool split)
{
	struct debug_frame f = { .name = dwarf_diename(die),
				 .declared = split ? NULL : dwarf_decl_file(die) };
	int line;

	if (dwarf_decl_line(die, &line) == 0 && line > 0)
		f.declared_line = (uint32_t)line;
	return f;
}

/* What libdw says: innermost first. */
static size_t reference_frames(Dwarf_Die *unit, bool split, Dwarf_Addr pc, struct debug_frame *out)
{
	Dwarf_Die innermost, *scopes = NULL;
	Dwarf_Attribute attr;
	Dwarf_Word n = 0;
	Dwarf_Files *files;
	size_t got = 0, n_files;
	int n_scopes;

	/* The innermost one's own parents: dwarf_getscopes() itself goes on in the abstract instance. */
	n_scopes = dwarf_getscopes(unit, pc, &scopes);
	if (n_scopes > 0) {
		innermost = scopes[0];
		free(scopes);
		n_scopes = dwarf_getscopes_die(&innermost, &scopes);
	}
	for (int i = 0; i < n_scopes && got < MAX_FRAMES; i++) {
		int tag = dwarf_tag(&scopes[i]);

		if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram)
			continue;
		out[got] = reference_function(&scopes[i], split);
		/* The line is that of the frame outside it. */
		if (tag == DW_TAG_inlined_subroutine &&
		    dwarf_formudata(dwarf_attr(&scopes[i], DW_AT_call_line, &attr), &n) == 0)
			out[got].line = (uint32_t)n;
		if (tag == DW_TAG_inlined_subroutine &&
		    dwarf_formudata(dwarf_attr(&scopes[i], DW_AT_call_file, &attr), &n) == 0 &&
		    dwarf_getsrcfiles(unit, &files, &n_files) == 0)
			out[got].file = dwarf_filesrc(files, n, NULL, NULL);
		got++;
		if (tag == DW_TAG_subprogram)
			break;
	}
	free(scopes);
	return got;
}

/* A file, and what is compared. */
struct comparison {
	const char *path;
	Dwarf *dw;
	VEC(uint64_t) addresses;
	VEC(size_t) of; /* index in units of each address */
	VEC(struct {
		Dwarf_Die head; /* has the lines */
		Dwarf_Die body; /* has the functions: the split one, or the same */
		bool split;     /* it is not the same */
	})
	units;
	bool *answered; /* [addresses.n] */
	size_t n_frames_differ, n_lines_differ, n_inlined, n_only_ours;
	uint64_t first_different;
};

static bool frames_agree(struct comparison *c, size_t which, const struct debug_frame *ours,
			 size_t n_ours)
{
	struct debug_frame theirs[MAX_FRAMES];
	size_t n_theirs = reference_frames(&c->units.at[c->of.at[which]].body,
					   c->units.at[c->of.at[which]].split,
					   c->addresses.at[which], theirs);

	/* dwarf_getscopes() does not look into functions that stand inside types inside functions. */
	if (n_theirs == 0) {
		c->n_only_ours += n_ours > 0 && ours[0].name;
		return true;
	}
	if (n_ours != n_theirs)
		return false;
	for (size_t i = 0; i < n_ours; i++) {
		if (!ours[i].name != !theirs[i].name ||
		    (ours[i].name && strcmp(ours[i].name, theirs[i].name) != 0))
			return false;
		if (i > 0 && ours[i].line != theirs[i - 1].line)
			return false;
		if (i > 0 && !same_path(ours[i].file, theirs[i - 1].file))
			return false;
		if (theirs[i].declared && (!same_path(ours[i].declared, theirs[i].declared) ||
					   ours[i].declared_line != theirs[i].declared_line))
			return false;
	}
	return true;
}

static bool line_agrees(struct comparison *c, size_t which, const struct debug_frame *ours,
			size_t n)
{
	Dwarf_Line *row = dwarf_getsrc_die(&c->units.at[c->of.at[which]].head,
					   c->addresses.at[which]);
	int line = 0;

	if (row)
		dwarf_lineno(row, &line);
	if (n == 0 || line == 0)
		return (n == 0 ? 0 : ours[0].line) == (uint32_t)line;
	return ours[0].line == (uint32_t)line &&
	       same_path(ours[0].file, dwarf_linesrc(row, NULL, NULL));
}

static void differs(struct comparison *c, uint64_t pc)
{
	if (c->first_different == 0)
		c->first_different = pc;
}

/* debug_take */
static void compare_frames(void *arg, size_t which, const struct debug_frame *frames, size_t n)
{
	struct comparison *c = arg;
	uint64_t pc = c->addresses.at[which];

	c->answered[which] = true;
	c->n_inlined += n > 1;
	if (!frames_agree(c, which, frames, n)) {
		c->n_frames_differ++;
		differs(c, pc);
	}
	if (!line_agrees(c, which, frames, n)) {
		c->n_lines_differ++;
		differs(c, pc);
	}
}

/* Every `step`th address of each unit's code. */
static void collect(struct comparison *c, Dwarf_Addr step)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die die, split;

	while (dwarf_get_units(c->dw, cu, &cu, NULL, NULL, &die, &split) == 0) {
		Dwarf_Addr base, begin, end;
		ptrdiff_t at = 0;
		size_t n = c->units.n;

		vec_reserve(&c->units, n + 1);
		c->units.at[n].head = die;
		c->units.at[n].body = split.addr ? split : die;
		c->units.at[n].split = split.addr != NULL;
		c->units.n++;
		while ((at = dwarf_ranges(&die, at, &base, &begin, &end)) > 0)
			/* begin 0: a function that the linker dropped */
			for (Dwarf_Addr pc = begin; begin && pc < end; pc += step) {
				vec_push(&c->addresses, pc);
				vec_push(&c->of, n);
			}
	}
}

static void ask_all(struct comparison *c, debug_take *take)
{
	struct build_id any = { .n = 0 };
	struct debug_info *d = debug_info_open(c->path, NULL, &any);
	struct debug_plan *p = d ? debug_plan_new(d, c->addresses.at, c->addresses.n) : NULL;
	struct debug_reader *r = d ? debug_reader_new(d, MAX_FRAMES) : NULL;

	for (size_t i = 0; d && i < debug_plan_n_groups(p); i++)
		debug_reader_answer(r, p, i, take, c);
	cr_expect(!d || debug_info_n_damaged(d) == 0, "%s: damaged", c->path);
	debug_reader_free(r);
	debug_plan_free(p);
	debug_info_free(d);
}

static void compare(const char *path, Dwarf_Addr step, struct comparison *c)
{
	int fd = open(path, O_RDONLY);

	*c = (struct comparison){ .path = path,
				  .dw = fd >= 0 ? dwarf_begin(fd, DWARF_C_READ) : NULL };
	if (c->dw)
		collect(c, step);
	c->answered = xcalloc(c->addresses.n, sizeof(*c->answered));
	ask_all(c, compare_frames);
	for (size_t i = 0; i < c->addresses.n; i++)
		if (!c->answered[i])
			compare_frames(c, i, NULL, 0);
	dwarf_end(c->dw);
	if (fd >= 0)
		close(fd);
}

static void compare_done(struct comparison *c)
{
	vec_done(&c->addresses);
	vec_done(&c->of);
	vec_done(&c->units);
	free(c->answered);
}

Test(debug_info, agrees_with_libdw)
{
	struct comparison c;

	compare("/proc/self/exe", 61, &c);
	if (c.addresses.n == 0)
		cr_skip_test("this program has no debug information");
	cr_expect_eq(c.n_frames_differ, 0, "%zu of %zu, first at %#jx", c.n_frames_differ,
		     c.addresses.n, (uintmax_t)c.first_different);
	cr_expect_eq(c.n_lines_differ, 0, "%zu of %zu, first at %#jx", c.n_lines_differ,
		     c.addresses.n, (uintmax_t)c.first_different);
	cr_expect_leq(c.n_only_ours, c.addresses.n / 10, "libdw has no function for %zu of %zu",
		      c.n_only_ours, c.addresses.n);
	compare_done(&c);
}

/*
 * Any files: PROFTOP_TEST_DEBUG_INFO="FILE…". libdw takes its time, so that PROFTOP_TEST_STEP=BYTES (37) may
 * say to ask less.
 */
Test(debug_info, given_files, .timeout = 7200)
{
	const char *given = getenv("PROFTOP_TEST_DEBUG_INFO"), *step = getenv("PROFTOP_TEST_STEP");
	char *files = given ? strdup(given) : NULL, *save = NULL;

	for (char *f = files ? strtok_r(files, " ", &save) : NULL; f;
	     f = strtok_r(NULL, " ", &save)) {
		struct comparison c;

		compare(f, step ? strtoul(step, NULL, 10) : 37, &c);
		printf("%s: %zu addresses, %zu inlined, %zu frames differ, %zu lines differ, "
		       "first at %#jx\n",
		       f, c.addresses.n, c.n_inlined, c.n_frames_differ, c.n_lines_differ,
		       (uintmax_t)c.first_different);
		cr_expect_eq(c.n_frames_differ + c.n_lines_differ, 0);
		compare_done(&c);
	}
	free(files);
}

/* The outermost functions of each address. */
struct outermost {
	const struct comparison *c;
	uint64_t (*two)[2]; /* [addresses.n]: outermost, and the one inside */
};

static void keep_outermost(void *arg, size_t which, const struct debug_frame *frames, size_t n)
{
	struct outermost *o = arg;

	o->two[which][0] = frames[n - 1].function;
	o->two[which][1] = n > 1 ? frames[n - 2].function : 0;
}

static void check_outermost(void *arg, size_t which, const struct debug_frame *frames, size_t n)
{
	struct outermost *o = arg;

	cr_assert_leq(n, 2);
	cr_expect_eq(frames[n - 1].function, o->two[which][0]);
	cr_expect_eq(n > 1 ? frames[n - 2].function : 0, o->two[which][1]);
}

static void ask(struct debug_info *d, const struct comparison *c, size_t max, debug_take *take,
		void *arg)
{
	struct debug_plan *p = debug_plan_new(d, c->addresses.at, c->addresses.n);
	struct debug_reader *r = debug_reader_new(d, max);

	for (size_t i = 0; i < debug_plan_n_groups(p); i++)
		debug_reader_answer(r, p, i, take, arg);
	debug_reader_free(r);
	debug_plan_free(p);
}

/* When there are more frames than room, the outermost ones are kept. */
Test(debug_info, keeps_outermost)
{
	struct build_id any = { .n = 0 };
	struct debug_info *d = debug_info_open("/proc/self/exe", NULL, &any);
	int fd = open("/proc/self/exe", O_RDONLY);
	struct comparison c = { .dw = dwarf_begin(fd, DWARF_C_READ) };
	struct outermost o = { .c = &c };

	if (d && c.dw) {
		collect(&c, 97);
		o.two = xcalloc(c.addresses.n, sizeof(*o.two));
		ask(d, &c, MAX_FRAMES, keep_outermost, &o);
		ask(d, &c, 2, check_outermost, &o);
	}
	free(o.two);
	compare_done(&c);
	debug_info_free(d);
	dwarf_end(c.dw);
	close(fd);
}

/* What lambdas of a program stand in, by their scopes. */
struct lambdas {
	struct debug_reader *reader;
	bool of_function, of_member;
};

static void take_scopes(void *arg, size_t which, const struct debug_frame *frames, size_t n)
{
	struct lambdas *l = arg;

	(void)which;
	for (size_t i = 0; i < n; i++) {
		struct debug_frame f = frames[i];
		char *scope = debug_info_scope(l->reader, &f);

		if (!scope || !f.name || strcmp(f.name, "operator()") != 0) {
			cr_expect(!scope || !strstr(scope, "lambda"), "%s: %s", f.name, scope);
			free(scope);
			continue;
		}
		cr_expect(f.declared && f.declared_line == 1, "%s:%u",
			  f.declared ? f.declared : "nowhere", f.declared_line);
		if (strncmp(scope, "shop::pick::{lambda", 19) == 0)
			l->of_function = true;
		else if (strncmp(scope, "shop::box::part::get::{lambda", 29) == 0)
			l->of_member = true;
		else
			cr_expect(false, "%s", scope);
		free(scope);
	}
}

/* Compilers let definitions stand by themselves that are declared in a namespace or a class. */
Test(debug_info, scopes_of_what_is_declared_elsewhere)
{
	static const char make[] =
		"cd %s && echo 'volatile int sink; namespace shop { struct box { struct part; };"
		" static __attribute__((noinline)) int pick(int n) { auto f = [](int x) { sink = x; return x + sink; };"
		" return f(n) * 3; } } struct shop::box::part { int get(int n); };"
		" int shop::box::part::get(int n) { auto f = [](int x) { sink = x; return x - sink; }; return f(n) * 3; }"
		" int main(int n, char **) { shop::box::part p; return p.get(n) + shop::pick(n); }' >x.cc &&"
		" c++ -g -O1 x.cc -o x 2>log";
	char dir[] = "/tmp/proftop-scopes-XXXXXX", *command, *path;
	struct lambdas l = { .reader = NULL };
	struct comparison c = { .path = NULL };
	struct build_id any = { .n = 0 };
	struct debug_info *d;
	int fd;

	cr_assert_not_null(mkdtemp(dir));
	command = xasprintf(make, dir);
	path = xasprintf("%s/x", dir);
	if (system(command) == 0 && (d = debug_info_open(path, NULL, &any)) != NULL) {
		struct debug_plan *p;

		fd = open(path, O_RDONLY);
		c.dw = dwarf_begin(fd, DWARF_C_READ);
		collect(&c, 1);
		l.reader = debug_reader_new(d, MAX_FRAMES);
		p = debug_plan_new(d, c.addresses.at, c.addresses.n);
		for (size_t i = 0; i < debug_plan_n_groups(p); i++)
			debug_reader_answer(l.reader, p, i, take_scopes, &l);
		cr_expect(l.of_function);
		cr_expect(l.of_member);
		debug_plan_free(p);
		debug_reader_free(l.reader);
		debug_info_free(d);
		dwarf_end(c.dw);
		close(fd);
	} else {
		cr_log_info("skipped: no compiler of C++");
	}
	compare_done(&c);
	free(command);
	command = xasprintf("rm -rf %s", dir);
	cr_expect_eq(system(command), 0);
	free(command);
	free(path);
}

/* What each address of a file is, as text; of [n] addresses. */
struct told {
	char **frames;
};

static void tell(void *arg, size_t which, const struct debug_frame *f, size_t n)
{
	struct told *t = arg;
	char *text = xstrdup("");

	for (size_t i = 0; i < n; i++) {
		const char *name = f[i].linkage_name ? f[i].linkage_name : f[i].name;
		char *longer = xasprintf("%s%s %s:%u (%s:%u);", text, name ? name : "",
					 f[i].file ? f[i].file : "", f[i].line,
					 f[i].declared ? f[i].declared : "", f[i].declared_line);

		free(text);
		text = longer;
	}
	t->frames[which] = text;
}

static char **tell_all(const char *dir, const char *name, const struct comparison *c,
		       uint64_t *n_by_libdw)
{
	char *path = xasprintf("%s/%s", dir, name);
	struct told t = { xcalloc(c->addresses.n, sizeof(*t.frames)) };
	struct build_id any = { .n = 0 };
	struct debug_info *d = debug_info_open(path, NULL, &any);
	struct debug_plan *p;
	struct debug_reader *r;

	cr_assert_not_null(d);
	p = debug_plan_new(d, c->addresses.at, c->addresses.n);
	r = debug_reader_new(d, MAX_FRAMES);
	for (size_t i = 0; i < debug_plan_n_groups(p); i++)
		debug_reader_answer(r, p, i, tell, &t);
	cr_expect_eq(debug_info_n_damaged(d), 0);
	*n_by_libdw = debug_info_n_by_libdw(d);
	debug_reader_free(r);
	debug_plan_free(p);
	debug_info_free(d);
	free(path);
	return t.frames;
}

/* A unit whose abbreviations do not end is damaged to our reader; libdw says the same of it as our reader does of a whole one. */
Test(debug_info, what_is_declined_is_read_by_libdw, .timeout = 60)
{
	static const char make[] =
		"cd %s && echo 'volatile int sink; static inline __attribute__((always_inline)) int in(int n) {\n"
		"sink = n; return n * sink; }\nstatic inline __attribute__((always_inline)) int between(int n) {\n"
		"return in(n) + in(n + 1); }\n__attribute__((noinline)) int out(int n) {\nreturn between(n) - 1; }\n"
		"int main(int n, char **a) { (void)a; return out(n); }' >x.c && cc -g -O1 x.c -o x 2>log &&"
		" objcopy -O binary --only-section=.debug_abbrev --set-section-flags .debug_abbrev=alloc x whole 2>>log &&"
		" head -c -1 whole >cut && objcopy --update-section .debug_abbrev=cut x y 2>>log";
	char dir[] = "/tmp/proftop-declined-XXXXXX", *command, *path, **x, **y;
	struct comparison c = { .path = NULL };
	uint64_t n_x, n_y;
	size_t n_inlined = 0;
	int fd;

	cr_assert_not_null(mkdtemp(dir));
	command = xasprintf(make, dir);
	if (system(command) != 0)
		cr_skip_test("no compiler, or no objcopy");
	free(command);
	path = xasprintf("%s/x", dir);
	fd = open(path, O_RDONLY);
	c.dw = dwarf_begin(fd, DWARF_C_READ);
	collect(&c, 1);
	cr_assert_gt(c.addresses.n, 20);
	x = tell_all(dir, "x", &c, &n_x);
	y = tell_all(dir, "y", &c, &n_y);
	cr_expect_eq(n_x, 0);
	cr_expect_eq(n_y, 1);
	for (size_t i = 0; i < c.addresses.n; i++) {
		cr_expect_str_eq(x[i] ? x[i] : "", y[i] ? y[i] : "");
		n_inlined += y[i] && strstr(y[i], "in ") == y[i] && strstr(y[i], ";between ");
		free(x[i]);
		free(y[i]);
	}
	cr_expect_gt(n_inlined, 0);
	dwarf_end(c.dw);
	close(fd);
	compare_done(&c);
	command = xasprintf("rm -rf %s", dir);
	cr_expect_eq(system(command), 0);
	free(command);
	free(path);
	free(x);
	free(y);
}
