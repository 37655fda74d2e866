/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Golden screens: tests/screens/NAME.txt says what to do in its first lines, and after a line of
 * dashes what is then on screen, and after another one in which styles, or how these look in so many colours
 * ("colours 16"). `make screens` writes them
 * anew, to be reviewed as a change.
 */
#include "config.h"

#include "mem.h"
#include "stage.h"
#include "theme.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the first lines of a file say. */
struct script {
	enum view_kind view;
	int cols, rows;
	char keys[256], search[64], filter[128];
	bool ascii, mono;
	int colours;  /* looks are told of a terminal of so many; 0: styles are */
	bool heap;    /* of the service's heap */
	bool changed; /* of the service before and after a change */
};

static char *read_all(const char *path)
{
	FILE *f = fopen(path, "r");
	char *text;
	size_t n;

	cr_assert_not_null(f, "%s", path);
	text = xcalloc(1, 1 << 20);
	n = fread(text, 1, (1 << 20) - 1, f);
	cr_assert_lt(n, (1 << 20) - 1);
	fclose(f);
	return text;
}

static enum view_kind view_named(const char *name)
{
	for (int i = 0; i < N_VIEW_KINDS; i++)
		if (strcmp(views[i]->name, name) == 0)
			return (enum view_kind)i;
	cr_assert_fail("no view %s", name);
	return VIEW_KIND_TOP;
}

static void take_line(struct script *s, const char *word, const char *value, const char *path)
{
	if (strcmp(word, "view") == 0)
		s->view = view_named(value);
	else if (strcmp(word, "size") == 0)
		cr_assert_eq(sscanf(value, "%dx%d", &s->cols, &s->rows), 2);
	else if (strcmp(word, "keys") == 0)
		snprintf(s->keys, sizeof(s->keys), "%s", value);
	else if (strcmp(word, "search") == 0)
		snprintf(s->search, sizeof(s->search), "%s", value);
	else if (strcmp(word, "filter") == 0)
		snprintf(s->filter, sizeof(s->filter), "%s", value);
	else if (strcmp(word, "ascii") == 0)
		s->ascii = true;
	else if (strcmp(word, "mono") == 0)
		s->mono = true;
	else if (strcmp(word, "colours") == 0)
		s->colours = atoi(value);
	else if (strcmp(word, "heap") == 0)
		s->heap = true;
	else if (strcmp(word, "changed") == 0)
		s->changed = true;
	else
		cr_assert_fail("%s: what is %s?", path, word);
}

/* Reads the first lines; returns the bytes they take, without the dashes. */
static size_t read_script(const char *text, struct script *s, const char *path)
{
	const char *at = text;

	while (*at && strncmp(at, "---", 3) != 0) {
		size_t n = strcspn(at, "\n");
		char line[512], *value;

		cr_assert_lt(n, sizeof(line));
		memcpy(line, at, n);
		line[n] = '\0';
		value = strchr(line, ' ');
		if (value)
			*value++ = '\0';
		take_line(s, line, value ? value : "", path);
		at += n + (at[n] == '\n');
	}
	return (size_t)(at - text);
}

static bool same_look(struct look a, struct look b)
{
	return a.fg == b.fg && a.bg == b.bg && a.attrs == b.attrs;
}

/* "0: 3-7 1 on 7 bold": what is not as the terminal's text is; the caller frees. */
static char *looks_text(struct stage *st, int colours)
{
	char *out = NULL;
	size_t size;
	FILE *f = open_memstream(&out, &size);

	stage_draw(st);
	for (int row = 0; row < st->rect.rows; row++)
		for (int col = 0, end; col < st->rect.cols; col = end) {
			const struct cell *at = st->canvas.cell +
						(row + st->rect.row) * st->canvas.cols +
						st->rect.col;
			struct look l = theme_look(at[col].style, colours);

			for (end = col + 1; end < st->rect.cols; end++)
				if (!same_look(theme_look(at[end].style, colours), l))
					break;
			if (l.fg < 0 && l.bg < 0 && l.attrs == 0)
				continue;
			fprintf(f, "%d: %d-%d %d on %d%s%s%s\n", row, col, end - 1, l.fg, l.bg,
				l.attrs & LOOK_BOLD ? " bold" : "",
				l.attrs & LOOK_UNDERLINE ? " underline" : "",
				l.attrs & LOOK_REVERSE ? " reverse" : "");
		}
	fclose(f);
	return out;
}

static char *play(const struct script *s, const struct profile *p)
{
	struct stage st;
	char *text, *styles, *status, *crumb, *out;

	stage_init(&st, p, *s->filter ? s->filter : NULL, s->view, s->cols, s->rows);
	st.canvas.ascii = s->ascii;
	st.canvas.mono = s->mono;
	if (*s->search)
		stage_search(&st, s->search);
	stage_keys(&st, s->keys);
	text = stage_text(&st);
	styles = s->colours ? looks_text(&st, s->colours) : stage_styles(&st);
	status = view_of(st.view, &st.scene)->status(st.state[st.view], &st.scene);
	crumb = view_of(st.view, &st.scene)->crumb(st.state[st.view], &st.scene);
	out = xasprintf("---\n%s---\nstatus %s\ncrumb %s\neffect %s\nfound %u/%u\n---\n%s", text,
			status ? status : "", crumb ? crumb : "", st.message ? st.message : "",
			(unsigned)st.at, (unsigned)st.n, styles);
	free(text);
	free(styles);
	free(status);
	free(crumb);
	stage_done(&st);
	return out;
}

/* What there is to be looked at. */
struct profiles {
	struct profile *cpu, *heap, *changed, *heap_changed;
};

static void check_file(const char *path, const struct profiles *of, bool write)
{
	char *text = read_all(path), *out;
	struct script s = { .cols = 80, .rows = 24 };
	size_t n = read_script(text, &s, path);

	out = play(&s, s.heap && s.changed ? of->heap_changed
		       : s.heap            ? of->heap
		       : s.changed         ? of->changed
					   : of->cpu);
	if (write && strcmp(text + n, out) != 0) {
		FILE *f = fopen(path, "w");

		cr_assert_not_null(f);
		fwrite(text, 1, n, f);
		fputs(out, f);
		cr_assert_eq(fclose(f), 0);
	} else {
		cr_expect_str_eq(text + n, out, "%s: got\n%s", path, out);
	}
	free(text);
	free(out);
}

Test(screens, golden)
{
	DIR *d = opendir(TEST_SCREENS);
	struct profiles of = { stage_profile(), stage_heap(), stage_changed(),
			       stage_heap_changed() };
	const char *write = getenv("PROFTOP_MAKE_SCREENS");
	struct dirent *entry;
	unsigned n = 0;

	setlocale(LC_CTYPE, "C.UTF-8");
	cr_assert_not_null(d, "%s", TEST_SCREENS);
	while ((entry = readdir(d))) {
		const char *dot = strrchr(entry->d_name, '.');
		char *path;

		if (!dot || strcmp(dot, ".txt") != 0)
			continue;
		path = xasprintf("%s/%s", TEST_SCREENS, entry->d_name);
		check_file(path, &of, write && *write);
		free(path);
		n++;
	}
	closedir(d);
	profile_free(of.cpu);
	profile_free(of.heap);
	profile_free(of.changed);
	profile_free(of.heap_changed);
	cr_assert_gt(n, 20, "screens are missing");
}
