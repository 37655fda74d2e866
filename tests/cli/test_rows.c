/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * No two rows of one screen read the same, unless they are the same function: views of real captures of the corpus, and of
 * those that PROFTOP_TEST_ROWS="FILE…" names. A row is compared without its numbers and bars, and with its module.
 */
#include "config.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "formats/format.h"
#include "input/input.h"
#include "profile/builder.h"
#include "query/analysis.h"
#include "tests/support/stage.h"

#include <criterion/criterion.h>
#include <glob.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROWS_MOST 64

/* What stands in front of names: the arrow, numbers, bars. */
static const char *const before_names[] = { " ", "▸", "▾", "←", "█", "▉", "▊", "▋",
					    "▌", "▍", "▎", "▏", "%", ".", "," };

/* A row, and whose it is. */
struct seen_row {
	char *text; /* owned */
	struct place place;
};

static struct profile *read_file(const char *path)
{
	struct profile *p = profile_new();
	struct err e = ERR_INIT;
	const struct format *f = NULL;
	struct input *in = NULL;
	capture_id c;
	int rc = input_open(path, &in, &e);

	if (rc == 0)
		f = format_probe(in, &e);
	if (f) {
		builder_begin(p);
		c = build_capture(p, path, f->name);
		builder_end(p);
		rc = f->read(in, p, c, NULL, NULL, &e);
	}
	cr_assert(f && rc == 0, "%s: %s", path, err_text(&e));
	input_close(in);
	err_clear(&e);
	return p;
}

static const char *name_in(const char *row)
{
	for (size_t i = 0; i < sizeof(before_names) / sizeof(*before_names);) {
		size_t n = strlen(before_names[i]);

		if (strncmp(row, before_names[i], n) == 0 || (*row >= '0' && *row <= '9')) {
			row += *row >= '0' && *row <= '9' ? 1 : n;
			i = 0;
		} else {
			i++;
		}
	}
	return row;
}

/* The canvas's line with the cursor; the caller frees. */
static char *cursor_line(struct stage *st)
{
	char *text, *line, *out, *end;
	int row;

	text = stage_text(st);
	row = st->canvas.cursor_row - STAGE_MARGIN;
	for (line = text; row > 0; row--)
		line = strchr(line, '\n') + 1;
	out = xstrndup(line, strcspn(line, "\n"));
	for (end = out + strlen(out); end > out && end[-1] == ' ';)
		*--end = '\0';
	free(text);
	return out;
}

/* Every row in sight, by walking over them; returns how many. */
static size_t rows_in_sight(struct stage *st, struct seen_row rows[ROWS_MOST])
{
	int last = -1;
	size_t n = 0;

	for (; n < ROWS_MOST; n++) {
		char *line = cursor_line(st);

		if (st->canvas.cursor_row <= last ||
		    !view_of(st->view, &st->scene)
			     ->selection(st->state[st->view], &st->scene, &rows[n].place)) {
			free(line);
			break;
		}
		last = st->canvas.cursor_row;
		rows[n].text = line;
		if (!stage_act(st, ACTION_DOWN) || last + 1 >= STAGE_MARGIN + st->rect.rows) {
			n++;
			break;
		}
	}
	return n;
}

static void check_screen(struct stage *st, const char *path)
{
	struct seen_row rows[ROWS_MOST];
	size_t n = rows_in_sight(st, rows);

	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < i; k++)
			cr_expect(rows[i].place.key_id == rows[k].place.key_id ||
					  strcmp(name_in(rows[i].text), name_in(rows[k].text)) != 0,
				  "%s, %s at %d columns: two rows read\n%s\n%s\n", path,
				  view_of(st->view, &st->scene)->name, st->rect.cols, rows[i].text,
				  rows[k].text);
	for (size_t i = 0; i < n; i++)
		free(rows[i].text);
}

/* Screens of a profile: the first rows, and those further down. */
static void check_profile(const struct profile *p, const char *path)
{
	static const struct {
		enum view_kind view;
		const char *keys;
	} screens[] = {
		{ VIEW_KIND_TOP, "" },
		{ VIEW_KIND_TOP, "<PageDown>" },
		{ VIEW_KIND_TOP, "<PageDown><PageDown><PageDown>" },
		{ VIEW_KIND_TOP, "G" },
		{ VIEW_KIND_TREE, "e" },
		{ VIEW_KIND_TREE, "*" },
		{ VIEW_KIND_TREE, "*<PageDown><PageDown>" },
		{ VIEW_KIND_CALLERS, "" },
		{ VIEW_KIND_CALLERS, "jllljjll" },
		{ VIEW_KIND_BUTTERFLY, "kkkkkkkkkk" },
	};
	static const int cols[] = { 80, 120 };

	for (size_t i = 0; i < sizeof(screens) / sizeof(*screens); i++)
		for (size_t k = 0; k < sizeof(cols) / sizeof(*cols); k++) {
			struct stage st;

			stage_init(&st, p, NULL, screens[i].view, cols[k], 36);
			stage_keys(&st, screens[i].keys);
			/* from the first row in sight on */
			stage_draw(&st);
			for (int at = st.canvas.cursor_row; at > STAGE_MARGIN + 1; at--) {
				stage_act(&st, ACTION_UP);
				stage_draw(&st);
			}
			check_screen(&st, path);
			stage_done(&st);
		}
}

static void check_file(const char *path)
{
	struct profile *p = read_file(path);
	struct profile_counts counts;

	profile_counts_read(p, &counts);
	if (counts.n_samples > 0)
		check_profile(p, path);
	profile_free(p);
}

static void use_utf8(void)
{
	setlocale(LC_ALL, "C.UTF-8");
}

Test(rows, read_other_than_one_another, .init = use_utf8, .timeout = 120)
{
	static const char *const files[] = {
		CORPUS "/made/script/sys_wide_g.default.txt",
		CORPUS "/made/script/java.default.txt",
		CORPUS "/made/script/python312_Xperf.default.txt",
		CORPUS "/made/gecko/fp_threads.gecko.json",
		CORPUS "/inferno/collapse-perf/cpp-stacks-std-function.txt",
		CORPUS "/inferno/collapse-perf/go-stacks.txt",
		CORPUS "/FlameGraph/test/perf-js-stacks-01.txt",
		CORPUS "/pprof/profile/testdata/gobench.cpu",
		CORPUS "/speedscope/linux-perf/rust-mangled.linux-perf.txt",
	};
	const char *given = getenv("PROFTOP_TEST_ROWS");
	char *list = xstrdup(given ? given : ""), *save = NULL;

	for (char *path = strtok_r(list, " ", &save); path; path = strtok_r(NULL, " ", &save))
		check_file(path);
	free(list);
	if (access(CORPUS, R_OK) != 0)
		cr_skip_test("no corpus");
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		check_file(files[i]);
}
