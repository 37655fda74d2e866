/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Golden screens: tests/screens/NAME.txt says what to do in its first lines, and after a line of
 * dashes what is then on screen, and after another one in which styles, or how these look in so many colours
 * ("colours 16"). `make screens` writes them
 * anew, to be reviewed as a change.
 */
#include "config.h"

#include "base/mem.h"
#include "query/core/ratio.h"
#include "tests/support/golden.h"
#include "tests/support/made_profile.h"
#include "tests/support/stage.h"

#include <criterion/criterion.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the first lines of a file say. */
struct script {
	enum view_kind view;
	int cols, rows;
	char keys[256], search[64], filter[128], metric[16];
	bool ascii, mono;
	int colours;  /* looks are told of a terminal of so many; 0: styles are */
	bool bare;    /* code has no sources */
	bool heap;    /* of the service's heap */
	bool freed;   /* likewise, where it is known who frees */
	bool changed; /* of the service before and after a change */
	bool ratios;  /* of a program with cycles, instructions and misses, with the usual ratios */
};

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
	else if (strcmp(word, "freed") == 0)
		s->freed = true;
	else if (strcmp(word, "metric") == 0)
		snprintf(s->metric, sizeof(s->metric), "%s", value);
	else if (strcmp(word, "ratios") == 0)
		s->ratios = true;
	else if (strcmp(word, "bare") == 0)
		s->bare = true;
	else if (strcmp(word, "changed") == 0)
		s->changed = true;
	else
		cr_assert_fail("%s: what is %s?", path, word);
}

static char *play(const struct script *s, const struct profile *p)
{
	struct stage st;
	char *text, *styles, *status, *crumb, *out;

	stage_init(&st, p, *s->filter ? s->filter : NULL, s->view, s->cols, s->rows);
	if (*s->metric)
		stage_metric(&st, s->metric, *s->filter ? s->filter : NULL);
	if (s->ratios) {
		cr_assert_eq(ratios_of_lens(&st.lens, p, NULL, 0, NULL), 0);
		stage_reanalyse(&st, *s->filter ? s->filter : NULL);
	}
	st.no_sources = s->bare;
	st.canvas.ascii = s->ascii;
	st.canvas.mono = s->mono;
	if (*s->search)
		stage_search(&st, s->search);
	stage_keys(&st, s->keys);
	text = stage_text(&st);
	styles = s->colours ? stage_looks(&st, s->colours) : stage_styles(&st);
	status = view_of(st.view, &st.scene)->status(st.state[st.view], &st.scene);
	crumb = view_of(st.view, &st.scene)->crumb(st.state[st.view], &st.scene);
	out = xasprintf("%s---\nstatus %s\ncrumb %s\neffect %s\nfound %u/%u\n---\n%s", text,
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
	struct profile *cpu, *heap, *changed, *heap_changed, *heap_freed, *ratios;
};

static char *play_file(const char *path, const char *script, void *arg)
{
	const struct profiles *of = arg;
	struct script s = { .cols = 80, .rows = 24 };
	char line[512], *value;

	while (golden_line(&script, line, sizeof(line), &value))
		take_line(&s, line, value, path);
	return play(&s, s.heap && s.changed ? of->heap_changed
			: s.freed           ? of->heap_freed
			: s.heap            ? of->heap
			: s.changed         ? of->changed
			: s.ratios          ? of->ratios
					    : of->cpu);
}

/* idle, and a caller of hot, have samples of instructions alone: no rows. cold has too few samples for a ratio. */
static struct profile *profile_of_ratios(void)
{
	static const struct {
		int n;
		const char *sample;
	} runs[] = {
		{ 64, "=app;main@app;run@app;hot@app 1000 event=cycles:u" },
		{ 64, "=app;main@app;run@app;hot@app 1500 event=instructions:u" },
		{ 50, "=app;main@app;run@app;hot@app 10 event=cache-misses:u" },
		{ 40, "=app;main@app;run@app;warm@app 1000 event=cycles:u" },
		{ 60, "=app;main@app;run@app;warm@app 1500 event=instructions:u" },
		{ 4, "=app;main@app;cold@app 1000 event=cycles:u" },
		{ 4, "=app;main@app;cold@app 1500 event=instructions:u" },
		{ 20, "=app;main@app;idle@app 1500 event=instructions:u" },
		{ 3, "=app;main@app;idle@app;hot@app 1500 event=instructions:u" },
	};
	char *text = NULL;
	struct profile *p;
	size_t n;
	FILE *to = open_memstream(&text, &n);

	for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++)
		for (int k = 0; k < runs[i].n; k++)
			fprintf(to, "%s\n", runs[i].sample);
	fclose(to);
	p = made_profile(text);
	free(text);
	return p;
}

Test(screens, golden)
{
	struct profiles of = { stage_profile(),      stage_heap(),       stage_changed(),
			       stage_heap_changed(), stage_heap_freed(), profile_of_ratios() };

	setlocale(LC_CTYPE, "C.UTF-8");
	cr_assert_gt(golden_files(TEST_SCREENS, play_file, &of), 20, "screens are missing");
	profile_free(of.cpu);
	profile_free(of.heap);
	profile_free(of.changed);
	profile_free(of.heap_changed);
	profile_free(of.heap_freed);
	profile_free(of.ratios);
}
