/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One source file in two directories: which lines of the one are lines of the other, and that an annotation adds both sides up. */
#include "config.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "code/annotate.h"
#include "code/annotation.h"
#include "code/source_join.h"
#include "profile/builder.h"
#include "query/analysis.h"
#include "symbols/search/resolver_options.h"
#include "tests/support/made_profile.h"

/*
 * Texts are a letter a line; NULL: no file. moved has what becomes of each of the lines before, from 1: the line after, or "-" where
 * it stays; NULL: the paths are not joined.
 */
static const struct {
	const char *what, *before, *after, *before_text, *after_text, *moved;
} cases[] = {
	{ "the same text", "a/x.c", "b/x.c", "pqr", "pqr", "1 2 3" },
	{ "a line more in front", "a/x.c", "b/x.c", "pqr", "opqr", "2 3 4" },
	{ "a line less at the end", "a/x.c", "b/x.c", "pqrs", "pqr", "1 2 3 -" },
	{ "a line edited", "a/x.c", "b/x.c", "pqrs", "pxrs", "1 - 3 4" },
	{ "two edits: what is between stays", "a/x.c", "b/x.c", "pqrst", "pQrSt", "1 - - - 5" },
	{ "a line more, and equal lines", "a/x.c", "b/x.c", "pppp", "ppppp", "1 2 3 4" },
	{ "nothing in common", "a/x.c", "b/x.c", "pq", "xyz", "- -" },
	{ "only the text after is here", "a/x.c", "b/x.c", NULL, "pq", "1 2" },
	{ "no text is here", "a/x.c", "b/x.c", NULL, NULL, "1 2" },
	{ "other names", "a/x.c", "b/y.c", "pq", "pq", NULL },
	{ "an end that is no part of a path", "a/ax.c", "b/x.c", "pq", "pq", NULL },
};

static char dir[] = "/tmp/proftop-join-XXXXXX";

static char *make_file(const char *path, const char *text)
{
	char *full = xasprintf("%s/%s", dir, path), *slash = strrchr(full, '/');
	int fd;

	if (!text)
		return full;
	*slash = '\0';
	mkdir(full, 0700);
	*slash = '/';
	fd = open(full, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	cr_assert(fd >= 0);
	for (; *text; text++)
		cr_assert_eq(write(fd, (const char[]){ *text, '\n' }, 2), 2);
	close(fd);
	return full;
}

static void remove_file(char *path)
{
	unlink(path);
	*strrchr(path, '/') = '\0';
	rmdir(path);
	free(path);
}

/* What became of lines 1.. of side 0, as in the cases; the caller frees. */
static char *say_moved(const struct source_join *join, uint32_t n)
{
	char *out = xstrdup("");

	for (uint32_t i = 1; i <= n; i++) {
		uint32_t path = 0, line = i;
		bool moves = source_join_move(join, &path, &line);
		char *longer = moves ? xasprintf("%s%s%u", out, *out ? " " : "", line)
				     : xasprintf("%s%s-", out, *out ? " " : "");

		cr_expect_eq(path, moves);
		free(out);
		out = longer;
	}
	return out;
}

Test(source_join, moves_lines_that_are_equal)
{
	const struct source_options nowhere = { .n_dirs = 0 };

	cr_assert_not_null(mkdtemp(dir));
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char *text = cases[i].before_text ? cases[i].before_text : "12";
		char *path[] = { make_file(cases[i].before, cases[i].before_text),
				 make_file(cases[i].after, cases[i].after_text) };
		struct source_file file[2];
		struct source_side side[2];
		struct source_join join[2];
		char *moved;

		for (int k = 0; k < 2; k++) {
			source_file_open(&file[k], path[k], &nowhere, NULL, 0);
			side[k] = (struct source_side){ .path = path[k],
							.file = &file[k],
							.own = true,
							.of_side = { k == 0, k == 1 } };
		}
		source_join_find(side, 2, join);
		cr_expect_eq(join[1].to, SOURCE_JOIN_NONE);
		cr_expect_eq(join[0].to == 1, cases[i].moved != NULL, "%s", cases[i].what);
		moved = say_moved(&join[0], (uint32_t)strlen(text));
		if (cases[i].moved)
			cr_expect_str_eq(moved, cases[i].moved, "%s: %s", cases[i].what, moved);
		free(moved);
		/* A path that both sides have is of a file of its own. */
		side[0].of_side[SIDE_AFTER] = true;
		source_join_find(side, 2, join);
		cr_expect_eq(join[0].to, SOURCE_JOIN_NONE);
		for (int k = 0; k < 2; k++) {
			source_file_done(&file[k]);
			remove_file(path[k]);
		}
	}
	rmdir(dir);
}

/* Two paths before, two after: the longest ends in common belong together, and maps come first. */
Test(source_join, takes_the_longest_end_and_maps_first)
{
	const struct source_file none = { .state = SOURCE_MISSING };
	struct source_side side[] = {
		{ "/old/one/x.c", NULL, &none, true, { true, false } },
		{ "/old/two/x.c", NULL, &none, true, { true, false } },
		{ "/new/two/x.c", NULL, &none, true, { false, true } },
		{ "/new/one/x.c", NULL, &none, true, { false, true } },
	};
	struct source_join join[4];

	source_join_find(side, 4, join);
	cr_expect_eq(join[0].to, 3);
	cr_expect_eq(join[1].to, 2);
	cr_expect(join[0].by_tail);
	side[1].mapped = "/new/one/x.c";
	source_join_find(side, 4, join);
	cr_expect_eq(join[1].to, 3);
	cr_expect_not(join[1].by_tail);
	cr_expect_eq(join[0].to, 2);
}

/* Of each side one sample in line 2 of work(), and after another in line 3. */
static struct profile *make_profile(char *const *path)
{
	static const struct {
		enum side side;
		uint32_t line;
		int64_t weight;
	} samples[] = { { SIDE_BEFORE, 2, 10 }, { SIDE_AFTER, 3, 20 }, { SIDE_AFTER, 4, 5 } };
	struct profile *p = profile_new();
	event_id e;

	builder_begin(p);
	e = build_event(p, "cycles", UNIT_COUNT, true);
	for (size_t i = 0; i < sizeof(samples) / sizeof(*samples); i++) {
		enum side side = samples[i].side;
		module_id m = build_module(p, side == SIDE_BEFORE ? "/old/prog" : "/new/prog", "",
					   FAMILY_PROGRAM);
		location_id l = build_location(p, m, 64 + i);
		struct sample sample = { .thread = { ID_NONE },
					 .cpu = (uint16_t)side,
					 .event = e,
					 .weight = samples[i].weight,
					 .time_ns = TIME_NONE };
		function_id f = build_function(p, build_cstring(p, "work"), m, 0, (string_id){ 0 },
					       0);

		build_location_inlines(p, l,
				       &(struct frame){ .function = f.v,
							.file = build_cstring(p, path[side]).v,
							.line = samples[i].line },
				       1);
		sample.stack = build_stack(p, (stack_id){ 0 }, l);
		build_sample(p, &sample);
	}
	builder_end(p);
	return p;
}

/* The function is one of two programs of a name each: all functions called work are its. */
Test(source_join, an_annotation_has_both_sides_on_one_line)
{
	const struct resolver_options symbols = { .same_machine = true };
	const struct annotate_options o = { .symbols = &symbols };
	struct code_wish wish = { .path = 0 };
	struct annotation *a = NULL;
	uint32_t columns = 0, n_weighed = 0;
	struct analysis *of;
	struct profile *p;
	char *path[N_SIDES];

	cr_assert_not_null(mkdtemp(dir));
	path[SIDE_BEFORE] = make_file("old/x.c", "pqrs");
	path[SIDE_AFTER] = make_file("new/x.c", "opqrs");
	p = make_profile(path);
	of = made_comparison(p, "cpu:0", "cpu:1");
	for (uint32_t i = 0; i < of->keys.n; i++)
		if (strcmp(of->keys.key[i].label, "work") == 0)
			wish.key_id = of->keys.key[i].id;
	cr_assert_eq(annotate(of, &o, &wish, NULL, &a), 0);
	columns = lens_side(&of->lens, SIDE_BEFORE);
	cr_expect_eq(a->files.n, 1);
	cr_expect_str_eq(a->files.at[0].path, path[SIDE_AFTER]);
	cr_expect_str_eq(a->files.at[0].also, path[SIDE_BEFORE]);
	cr_expect_not_null(strstr(a->files.at[0].joined, "on the same lines"));
	for (size_t i = 0; i < a->sources.n; i++) {
		const struct annotation_source *s = &a->sources.at[i];
		const int64_t *total = annotation_total(a, s->numbers);

		if (s->numbers == ANNOTATION_NONE)
			continue;
		n_weighed++;
		cr_expect_str_eq(s->text, s->line == 3 ? "q" : "r");
		cr_expect_eq(total[columns], s->line == 3 ? 10 : 0);
		cr_expect_eq(total[lens_side(&of->lens, SIDE_AFTER)], s->line == 3 ? 20 : 5);
	}
	cr_expect_eq(n_weighed, 2);
	annotation_free(a);
	analysis_free(of);
	profile_free(p);
	for (int side = 0; side < N_SIDES; side++)
		remove_file(path[side]);
	rmdir(dir);
}
