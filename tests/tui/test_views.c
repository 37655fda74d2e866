/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What views do with keys and clicks, and what they must never do. */
#include "config.h"

#include "base/fmt.h"
#include "base/mem.h"
#include "query/analysis.h"
#include "query/core/filter.h"
#include "tests/support/made_profile.h"
#include "tests/support/stage.h"
#include "tui/rows/row.h"
#include "tui/rows/row_shape.h"

#include <criterion/criterion.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

static char *status_of(struct stage *st)
{
	return view_of(st->view, &st->scene)->status(st->state[st->view], &st->scene);
}

/* From a view, after keys: in which view one is, and what the status says: numbers first, names last. */
static const struct {
	const char *what;
	enum view_kind view;
	const char *keys;
	enum view_kind then;
	const char *begins, *has;
} walks[] = {
	{ "Enter on a function opens its butterfly", VIEW_KIND_TOP, "j<Enter>", VIEW_KIND_BUTTERFLY,
	  "28.9 %", "std::vector<Rec, std::allocator<Rec> >::push_back(Rec&&)" },
	{ "a function goes to where it weighs most in the tree", VIEW_KIND_TOP, "jt",
	  VIEW_KIND_TREE, "27.6 %", "std::vector<Rec, std::allocator<Rec> >::push_back(Rec&&)" },
	{ "and from there as that very node to the flame graph", VIEW_KIND_TOP, "jtf",
	  VIEW_KIND_FLAME, "27.6 %", "std::vector<Rec, std::allocator<Rec> >::push_back(Rec&&)" },
	{ "up in an icicle is the caller", VIEW_KIND_TOP, "jf<Up>", VIEW_KIND_FLAME, "50.9 %",
	  "Parser::parse_record(Slice)" },
	{ "down comes back to where one was", VIEW_KIND_TOP, "jf<Up><Up><Down><Down>",
	  VIEW_KIND_FLAME, "27.6 %", "std::vector<Rec, std::allocator<Rec> >::push_back(Rec&&)" },
	{ "with roots below, down is the caller", VIEW_KIND_TOP, "jfi<Down>", VIEW_KIND_FLAME,
	  "50.9 %", "Parser::parse_record(Slice)" },
	{ "leaves first keeps the function", VIEW_KIND_TOP, "jfii", VIEW_KIND_FLAME, "28.9 %",
	  "std::vector<Rec, std::allocator<Rec> >::push_back(Rec&&)" },
	{ "zooming out comes back to what was zoomed into", VIEW_KIND_TOP, "jf<Enter><Down><Esc>",
	  VIEW_KIND_FLAME, "27.6 %", "std::vector<Rec, std::allocator<Rec> >::push_back(Rec&&)" },
	{ "a tree row's function goes to its callers", VIEW_KIND_TREE, "jjjc", VIEW_KIND_CALLERS,
	  "68.6 %", "handle_request(Conn*)" },
	{ "left goes to the parent when closed", VIEW_KIND_TREE, "eeehh", VIEW_KIND_TREE, "",
	  "std::vector<Rec, std::allocator<Rec> >::push_back(Rec&&)" },
	{ "Enter zooms into what is open", VIEW_KIND_TREE, "jjj<Enter><Down>", VIEW_KIND_TREE,
	  "50.9 %", "Parser::parse_record(Slice)" },
	{ "back zooms out to it", VIEW_KIND_TREE, "jjj<Enter><Down><Esc>", VIEW_KIND_TREE, "68.6 %",
	  "handle_request(Conn*)" },
	{ "butterfly walks to a callee", VIEW_KIND_TOP, "bj<Enter>", VIEW_KIND_BUTTERFLY, "28.9 %",
	  "std::vector<Rec, std::allocator<Rec> >::push_back(Rec&&)" },
	{ "and back, to the row one came from", VIEW_KIND_TOP, "bj<Enter><Esc>",
	  VIEW_KIND_BUTTERFLY, "51.4 % of it",
	  "std::vector<Rec, std::allocator<Rec> >::push_back(Rec&&)" },
	{ "a chain's row says its last", VIEW_KIND_TREE, "j", VIEW_KIND_TREE, "73.8 %", "main" },
	{ "unfolded, its first", VIEW_KIND_TREE, "jl", VIEW_KIND_TREE, "73.8 %", "_start" },
	{ "g and G", VIEW_KIND_TOP, "Gg", VIEW_KIND_TOP, "", "Parser::parse_record(Slice)" },
	{ "sorting goes to the first row", VIEW_KIND_TOP, "jss", VIEW_KIND_TOP, "4.2 %",
	  "LazyCompile:~render" },
	{ "the cell of narrow ones spreads out", VIEW_KIND_FLAME, "jjjjjjjl<Enter>",
	  VIEW_KIND_FLAME, "", "" },
};

Test(views, walks)
{
	struct profile *p = stage_profile();

	setlocale(LC_CTYPE, "C.UTF-8");
	for (size_t i = 0; i < sizeof(walks) / sizeof(walks[0]); i++) {
		struct stage st;
		char *status;

		stage_init(&st, p, NULL, walks[i].view, 100, 26);
		stage_keys(&st, walks[i].keys);
		stage_draw(&st);
		status = status_of(&st);
		cr_expect_eq(st.view, walks[i].then, "%s: in %s", walks[i].what,
			     view_of(st.view, &st.scene)->name);
		cr_expect(status && strncmp(status, walks[i].begins, strlen(walks[i].begins)) == 0,
			  "%s: %s", walks[i].what, status ? status : "nothing");
		cr_expect(status && strstr(status, walks[i].has), "%s: %s", walks[i].what,
			  status ? status : "nothing");
		free(status);
		stage_done(&st);
	}
	profile_free(p);
}

/* What Enter on rows of samples and of modules asks for; exactly: the name that the term is of. */
static const struct {
	enum view_kind view;
	const char *keys, *message, *exactly;
} asked[] = {
	{ VIEW_KIND_TOP, "o<Enter>", "filter in:", "my_program" },
	{ VIEW_KIND_TOP, "oo<Down><Enter>", "filter file:", "parser.cc" },
	{ VIEW_KIND_TOP, "oooo<Down><Enter>", "filter tid:815", NULL },
	{ VIEW_KIND_TOP, "ooooo<Enter>", "filter pid:812", NULL },
	{ VIEW_KIND_TOP, "oooooo<Enter>", "filter comm:", "my_program" },
	{ VIEW_KIND_TOP, "ooooooo<Enter>", "filter event:", "cpu-clock" },
	{ VIEW_KIND_THREADS, "<Enter>", "filter pid:812", NULL },
	{ VIEW_KIND_THREADS, "j<Enter>", "filter tid:812", NULL },
	{ VIEW_KIND_THREADS, "G<Enter>", "filter pid:900", NULL },
};

Test(views, asks_for_filters)
{
	struct profile *p = stage_profile();

	for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
		char *regex = filter_exact(asked[i].exactly ? asked[i].exactly : "");
		char *value = filter_quote(regex), *message;
		struct stage st;

		message = xasprintf("%s%s by function", asked[i].message,
				    asked[i].exactly ? value : "");
		stage_init(&st, p, NULL, asked[i].view, 100, 26);
		stage_keys(&st, asked[i].keys);
		cr_expect_str_eq(st.message ? st.message : "", message, "%s", asked[i].keys);
		free(regex);
		free(value);
		free(message);
		stage_done(&st);
	}
	profile_free(p);
}

/* n goes through all matches and comes round; N goes the other way. */
static void check_round(const struct profile *p, enum view_kind view, const char *keys)
{
	struct stage st;
	uint32_t n, first;

	stage_init(&st, p, NULL, view, 80, 20);
	stage_keys(&st, keys);
	stage_search(&st, "a");
	stage_act(&st, ACTION_NEXT);
	n = st.n;
	first = st.at;
	cr_assert(n > 0 && first >= 1 && first <= n, "%s", views[view]->name);
	for (uint32_t i = 1; i <= n; i++) {
		cr_assert(stage_act(&st, ACTION_NEXT));
		cr_assert_eq(st.n, n, "the number of matches stays");
		cr_assert_eq(st.at, (first - 1 + i) % n + 1, "%s: %u of %u", views[view]->name,
			     (unsigned)st.at, (unsigned)n);
		stage_draw(&st);
	}
	for (uint32_t i = 1; i <= n; i++) {
		cr_assert(stage_act(&st, ACTION_PREVIOUS));
		cr_assert_eq(st.at, (first - 1 + n - i % n) % n + 1, "%s backwards: %u of %u",
			     views[view]->name, (unsigned)st.at, (unsigned)n);
	}
	stage_done(&st);
}

Test(views, matches_go_round)
{
	struct profile *p = stage_profile();

	check_round(p, VIEW_KIND_TOP, "");
	check_round(p, VIEW_KIND_TREE, "");
	check_round(p, VIEW_KIND_CALLERS, "");
	check_round(p, VIEW_KIND_BUTTERFLY, "");
	check_round(p, VIEW_KIND_FLAME, "");
	check_round(p, VIEW_KIND_FLAME, "ii");
	check_round(p, VIEW_KIND_TREE, "jjj<Enter>");
	profile_free(p);
}

Test(views, search_as_you_type_stays_where_it_matches)
{
	struct profile *p = stage_profile();
	struct stage st;
	uint32_t at;

	stage_init(&st, p, NULL, VIEW_KIND_TOP, 80, 20);
	stage_keys(&st, "jjj");
	stage_search(&st, "memmove");
	cr_expect_eq(view_of(st.view, &st.scene)->find(st.state[st.view], &st.scene, 0, &at), 1);
	cr_expect_eq(at, 1);
	stage_search(&st, "memmovex");
	cr_expect_eq(view_of(st.view, &st.scene)->find(st.state[st.view], &st.scene, 0, &at), 0);
	cr_expect_eq(at, 0);
	stage_draw(&st);
	cr_expect_eq(st.canvas.cursor_row, STAGE_MARGIN + 4, "and the cursor has not moved");
	stage_done(&st);
	profile_free(p);
}

Test(views, clicks)
{
	struct profile *p = stage_profile();
	struct stage st;
	char *status;

	stage_init(&st, p, NULL, VIEW_KIND_TOP, 100, 26);
	stage_click(&st, 3, 50, false);
	status = status_of(&st);
	cr_expect(strstr(status, "  longest_match"), "%s", status);
	free(status);
	stage_click(&st, 0, 22, false);
	stage_click(&st, 1, 50, false);
	status = status_of(&st);
	cr_expect(strstr(status, "  main"), "by total: %s", status);
	free(status);
	stage_click(&st, 1, 50, true);
	cr_expect_eq(st.view, VIEW_KIND_BUTTERFLY);
	stage_click(&st, 25, 99, true);
	stage_done(&st);

	stage_init(&st, p, NULL, VIEW_KIND_TREE, 100, 26);
	stage_draw(&st);
	stage_click(&st, 1, 29, false);
	status = stage_text(&st);
	cr_expect_null(strstr(status, "serve"), "a click on the arrow closes the row");
	free(status);
	stage_done(&st);
	profile_free(p);
}

Test(views, places_survive_another_analysis)
{
	struct profile *p = stage_profile();
	static const struct {
		enum view_kind view;
		const char *keys, *status;
	} places[] = {
		{ VIEW_KIND_TOP, "jj", "longest_match" },
		{ VIEW_KIND_TREE, "eeee", "__memmove" },
		{ VIEW_KIND_TREE, "jjj<Enter><Down>", "Parser::parse_record" },
		{ VIEW_KIND_FLAME, "jjjjjj<Enter>j", "Parser::parse_record" },
		{ VIEW_KIND_BUTTERFLY, "j", "std::vector" },
		{ VIEW_KIND_THREADS, "jj", "flusher" },
	};

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		struct stage st;
		char *before, *after, *status;

		stage_init(&st, p, NULL, places[i].view, 100, 26);
		stage_keys(&st, places[i].keys);
		before = stage_text(&st);
		stage_reanalyse(&st, NULL);
		after = stage_text(&st);
		status = status_of(&st);
		cr_expect_str_eq(after, before, "%s", view_of(st.view, &st.scene)->name);
		cr_expect(status && strstr(status, places[i].status), "%s: %s",
			  view_of(st.view, &st.scene)->name, status ? status : "");
		free(status);
		free(before);
		free(after);
		stage_reanalyse(&st, "fn:nothing_is_called_so");
		stage_draw(&st);
		stage_reanalyse(&st, "module:kernel");
		stage_draw(&st);
		stage_done(&st);
	}
	profile_free(p);
}

/* A row whose path is no more: the cursor is on what it was below of, not where rows happen to end. */
Test(views, the_cursor_of_a_tree_stays_near)
{
	struct profile *p = stage_profile();
	static const struct {
		enum view_kind view;
		const char *keys, *filter, *status;
	} cases[] = {
		{ VIEW_KIND_TREE, "e", "merge:parse_record", "handle_request" },
		{ VIEW_KIND_TREE, "*G", "!fn:nothing_is_called_so", "node (900)" },
		{ VIEW_KIND_TREE, "ee", "merge:push_back", "parse_record" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct stage st;
		char *status;

		stage_init(&st, p, NULL, cases[i].view, 100, 26);
		stage_keys(&st, cases[i].keys);
		stage_draw(&st);
		stage_reanalyse(&st, cases[i].filter);
		stage_draw(&st);
		status = status_of(&st);
		cr_expect(status && strstr(status, cases[i].status), "%s %s: %s", cases[i].keys,
			  cases[i].filter, status ? status : "");
		free(status);
		stage_done(&st);
	}
	profile_free(p);
}

Test(views, an_empty_profile)
{
	struct profile *p = profile_new();

	for (int view = 0; view < N_VIEW_KINDS; view++) {
		struct stage st;

		stage_init(&st, p, NULL, (enum view_kind)view, 60, 12);
		stage_draw(&st);
		for (int a = 1; a < N_ACTIONS; a++) {
			stage_act(&st, (enum action)a);
			st.view = (enum view_kind)view;
			stage_draw(&st);
		}
		stage_click(&st, 3, 3, true);
		stage_done(&st);
	}
	profile_free(p);
}

/* Actions that a view may get, the frequent ones more often. */
static enum action any_action(unsigned *lot)
{
	static const enum action often[] = { ACTION_DOWN,     ACTION_UP,    ACTION_RIGHT,
					     ACTION_LEFT,     ACTION_ENTER, ACTION_BACK,
					     ACTION_LAST,     ACTION_FIRST, ACTION_NEXT,
					     ACTION_PAGE_DOWN };

	if (made_number(lot, 3) > 0)
		return often[made_number(lot, sizeof(often) / sizeof(often[0]))];
	return (enum action)(1 + made_number(lot, N_ACTIONS - 1));
}

/* Cells have padding, which says nothing. */
static bool same_cells(const struct cell *a, const struct cell *b, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (a[i].cp != b[i].cp || a[i].mark != b[i].mark || a[i].style != b[i].style)
			return false;
	return true;
}

/* Whatever is pressed at whatever size, a view draws inside its rectangle, and the same twice. */
static void check_anything(const struct profile *p, unsigned seed)
{
	unsigned lot = seed;
	struct stage st;

	stage_init(&st, p, NULL, (enum view_kind)made_number(&lot, N_VIEW_KINDS),
		   1 + (int)made_number(&lot, 140), 1 + (int)made_number(&lot, 50));
	for (int i = 0; i < 60; i++) {
		struct cell *before;
		size_t bytes;

		switch (made_number(&lot, 12)) {
		case 0:
			stage_resize(&st, 1 + (int)made_number(&lot, 140),
				     1 + (int)made_number(&lot, 50));
			st.canvas.ascii = made_number(&lot, 2);
			st.canvas.mono = made_number(&lot, 2);
			break;
		case 1:
			stage_search(&st, made_number(&lot, 2) ? "[a-e]" : NULL);
			break;
		case 2:
			stage_search(&st, NULL);
			stage_reanalyse(&st, made_number(&lot, 2) ? NULL : "fn:a");
			break;
		case 3:
			stage_click(&st, (int)made_number(&lot, 52) - 1,
				    (int)made_number(&lot, 142) - 1, made_number(&lot, 2));
			break;
		case 4:
			st.view = (enum view_kind)made_number(&lot, N_VIEW_KINDS);
			break;
		default:
			if (st.scene.search)
				stage_search(&st, "[a-e]");
			stage_act(&st, any_action(&lot));
		}
		stage_draw(&st);
		bytes = (size_t)st.canvas.rows * (size_t)st.canvas.cols * sizeof(*before);
		before = xmalloc(bytes);
		memcpy(before, st.canvas.cell, bytes);
		stage_draw(&st);
		cr_assert(same_cells(before, st.canvas.cell, bytes / sizeof(*before)),
			  "seed %u: %s", seed, view_of(st.view, &st.scene)->name);
		free(before);
		free(view_of(st.view, &st.scene)->crumb(st.state[st.view], &st.scene));
		free(status_of(&st));
	}
	stage_done(&st);
}

Test(views, anything_goes, .timeout = 300)
{
	struct profile *made = stage_profile();

	setlocale(LC_CTYPE, "C.UTF-8");
	for (unsigned seed = 1; seed <= 60; seed++) {
		struct profile *p = made_profile_by_lot(seed, 200);

		check_anything(p, seed);
		check_anything(made, seed);
		profile_free(p);
	}
	profile_free(made);
}

/* Names that are too long, too wide, or meant for the terminal. */
Test(views, hostile_names)
{
	VEC(char) text = { 0 };
	static const char *const odd[] = {
		"\033]52;c;AAAA\a",
		"\342\200\256evil",
		"\346\227\245\346\234\254\346\227\245\346\234\254\346\227\245\346\234\254",
		"a<b(c{",
		")))))>>>>",
		"::::",
		"e\314\201\314\201\314\201",
		"\377\376",
	};
	struct profile *p;

	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		for (const char *s = odd[i]; *s; s++)
			vec_push(&text, *s);
		vec_push(&text, ';');
	}
	for (int i = 0; i < 20000; i++)
		vec_push(&text, "<(:"[i % 3]);
	for (const char *s = " 5\n"; *s; s++)
		vec_push(&text, *s);
	vec_push(&text, '\0');
	p = made_profile(text.at);
	vec_done(&text);
	for (int view = 0; view < N_VIEW_KINDS; view++) {
		for (int cols = 1; cols < 130; cols += cols < 50 ? 1 : 13) {
			struct stage st;
			char *out;

			stage_init(&st, p, NULL, (enum view_kind)view, cols, 20);
			st.canvas.ascii = cols % 2;
			stage_act(&st, ACTION_OPEN_ALL);
			out = stage_text(&st);
			cr_expect_null(strchr(out, '\033'));
			cr_expect_null(strstr(out, "\342\200\256"));
			free(out);
			stage_done(&st);
		}
	}
	profile_free(p);
}

Test(views, columns_without_room_are_counted)
{
	static const struct {
		int digits[4]; /* self of three events, and samples */
		const char *has, *lacks;
	} headers[] = {
		{ { 5, 5, 5, 6 }, "FUNCTION", "event" },
		{ { 5, 5, 0, 6 }, "+1 event|", "events" },
		{ { 5, 0, 0, 0 }, "+2 events|", "+3" },
	};

	for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
		struct row_shape sh = {
			.n_numbers = 4, .percent = true, .name = 30, .name_cols = 29
		};
		struct canvas c;
		char *text;

		for (int k = 0; k < 4; k++)
			sh.number[k] = (struct number_column){
				.kind = k < 3 ? NUMBER_SELF : NUMBER_SAMPLES,
				.of = k < 3 ? (uint32_t)k : 0,
				.col = 7 * k,
				.digits = headers[i].digits[k],
			};
		canvas_init(&c, 60, 1, false);
		row_draw_header(&sh, &c, (struct rect){ 0, 0, 1, 60 }, 0, 0, false, "FUNCTION", "");
		canvas_puts(&c, 0, 59, 1, STYLE_NORMAL, "|");
		text = canvas_text(&c);
		cr_expect(strstr(text, headers[i].has), "%s", text);
		cr_expect_null(strstr(text, headers[i].lacks), "%s", text);
		free(text);
		canvas_done(&c);
	}
}

/* What sorts rows is on the screen, whatever s has gone through; and the first row is where the cursor is. */
Test(views, sorts_by_what_is_shown)
{
	struct profile *p = made_profile("a@p;b@p 3 event=cycles\na@p;b@p 1 event=page-faults\n"
					 "a@p 2 event=a-very-long-event-name\n");

	setlocale(LC_CTYPE, "C.UTF-8");
	for (int cols = 40; cols <= 150; cols += 10) {
		struct stage st;

		stage_init(&st, p, NULL, VIEW_KIND_TOP, cols, 6);
		for (uint32_t k = 0; k < 3; k++)
			st.lens.column[k] =
				(struct lens_column){ .metric = { { k }, MEASURE_WEIGHT, false } };
		st.lens.n_columns = 3;
		stage_reanalyse(&st, NULL);
		for (int i = 0; i < 12; i++) {
			char *text;

			stage_keys(&st, i % 3 ? "Gs" : "GS");
			text = stage_text(&st);
			cr_expect(strstr(text, "↓") || strstr(text, "↑"),
				  "%d columns, key %d: got\n%s", cols, i, text);
			cr_expect(strstr(text, "\n ▸") == strchr(text, '\n'),
				  "%d columns, key %d: got\n%s", cols, i, text);
			free(text);
		}
		stage_done(&st);
	}
	profile_free(p);
}

/* The fewer columns there are, the less is said of each of several events, but all are named. */
Test(views, titles_of_several_events)
{
	static const struct {
		enum view_kind view;
		int cols;
		const char *begins;
	} widths[] = {
		{ VIEW_KIND_TOP, 150,
		  "   cycles↓     TOTAL       page-faults SELF %  page-faults TOTAL %  a-very-long… SELF %" },
		{ VIEW_KIND_TOP, 110,
		  "   cycles↓     TOTAL       page-faults  a-very-long…   FUNCT" },
		{ VIEW_KIND_TREE, 110,
		  "   cycles↓     SELF  page-faults  a-very-long…   CALL TREE" },
		{ VIEW_KIND_TOP, 70, "  cycles↓ TOTAL  page-faults  a-very-long…  FUNCTION" },
		{ VIEW_KIND_TOP, 40, "  cycles↓ TOTAL  FUNCTION ▾    +2 events" },
	};
	struct profile *p = made_profile("a@p;b@p 3 event=cycles\na@p;b@p 1 event=page-faults\n"
					 "a@p 2 event=a-very-long-event-name\n");

	setlocale(LC_CTYPE, "C.UTF-8");
	for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++) {
		struct stage st;
		char *text;

		stage_init(&st, p, NULL, widths[i].view, widths[i].cols, 6);
		for (uint32_t k = 0; k < 3; k++)
			st.lens.column[k] =
				(struct lens_column){ .metric = { { k }, MEASURE_WEIGHT, false } };
		st.lens.n_columns = 3;
		stage_reanalyse(&st, NULL);
		text = stage_text(&st);
		cr_expect(strncmp(text, widths[i].begins, strlen(widths[i].begins)) == 0,
			  "%d columns: got\n%s", widths[i].cols, text);
		free(text);
		stage_done(&st);
	}
	profile_free(p);
}

/* Rows that stay on the first lines are above what is in sight, and the cursor is never under them. */
Test(views, pinned_rows_never_hide_the_cursor)
{
	static const char *const keys[] = { "j", "k", "<PageDown>", "<PageUp>", "^D", "^U",
					    "l", "h", "G",          "g",        "s",  "<Enter>" };
	struct profile *p = stage_profile();
	unsigned lot = 5;

	setlocale(LC_CTYPE, "C.UTF-8");
	for (int view = VIEW_KIND_TREE; view <= VIEW_KIND_CALLERS; view++) {
		struct stage st;

		stage_init(&st, p, NULL, (enum view_kind)view, 90, 14);
		stage_keys(&st, "*");
		for (int i = 0; i < 400; i++) {
			stage_keys(&st, keys[made_number(&lot, 12)]);
			stage_draw(&st);
			cr_assert_geq(st.canvas.cursor_row, 0, "%s after %d keys",
				      views[view]->name, i);
			if (made_number(&lot, 20) == 0)
				stage_resize(&st, 90, 4 + (int)made_number(&lot, 30));
		}
		stage_done(&st);
	}
	profile_free(p);
}

/* A click on such a row goes there. */
Test(views, a_pinned_row_can_be_clicked)
{
	struct profile *p = stage_profile();
	struct stage st;
	char *before, *after;

	setlocale(LC_CTYPE, "C.UTF-8");
	stage_init(&st, p, NULL, VIEW_KIND_TREE, 90, 14);
	stage_keys(&st, "*<PageDown>");
	before = stage_text(&st);
	stage_click(&st, 2, 30, false);
	after = status_of(&st);
	cr_expect(strstr(before, "serve(") && strstr(after, "serve("), "went to %s of\n%s", after,
		  before);
	free(before);
	free(after);
	stage_done(&st);
	profile_free(p);
}

/* n in a flame graph goes from the heaviest match to the lightest and round; N the other way. */
Test(views, flame_finds_the_heaviest_first)
{
	struct profile *p = stage_profile();
	struct stage st;
	double before = 100;
	char *first, *again;
	uint32_t n;

	setlocale(LC_CTYPE, "C.UTF-8");
	stage_init(&st, p, NULL, VIEW_KIND_FLAME, 100, 26);
	stage_search(&st, "o");
	stage_keys(&st, "n");
	first = status_of(&st);
	n = st.n;
	cr_assert_geq(n, 10);
	for (uint32_t i = 1; i <= n; i++) {
		char *status = status_of(&st);

		cr_expect_eq(st.at, i, "%u is not %u", st.at, i);
		cr_expect_leq(strtod(status, NULL), before, "%s after %.1f", status, before);
		before = strtod(status, NULL);
		free(status);
		stage_keys(&st, "n");
	}
	cr_expect_eq(st.at, 1);
	stage_keys(&st, "nN");
	again = status_of(&st);
	cr_expect_str_eq(first, again);
	stage_keys(&st, "N");
	cr_expect_eq(st.at, n);
	free(first);
	free(again);
	stage_done(&st);
	profile_free(p);
}

/* A click on a title sorts by it, and one more turns the order round. */
Test(views, memory_sorts_by_the_title_that_is_clicked)
{
	static const char *const expected[] = { " CALLS↓", " CALLS↑", " CALLS↓" };
	struct profile *p = stage_heap();
	struct stage st;

	setlocale(LC_CTYPE, "C.UTF-8");
	stage_init(&st, p, NULL, VIEW_KIND_MEMORY, 100, 26);
	stage_keys(&st, "jj");
	for (size_t i = 0; i < sizeof(expected) / sizeof(*expected); i++) {
		char *text = stage_text(&st), *at = strstr(text, " CALLS");
		int line = 0, col = 0;

		cr_assert_not_null(at);
		for (char *c = text; c < at; c++) {
			col = *c == '\n' ? 0 : col + ((*c & 0xc0) != 0x80);
			line += *c == '\n';
		}
		free(text);
		stage_click(&st, line, col + 2, false);
		text = stage_text(&st);
		cr_expect(strstr(text, expected[i]), "click %zu: no %s in\n%s", i, expected[i],
			  text);
		cr_expect(strstr(text, i == 1 ? " ▸  75.5 MB" : " ▸      0 B"), "click %zu:\n%s", i,
			  text);
		free(text);
	}
	stage_done(&st);
	profile_free(p);
}

/* An answer that was asked for before the cursor moved, and comes after, does not say what is live now. */
Test(views, memory_stays_at_its_cursor)
{
	struct profile *p = stage_heap();
	char *moved, *later;
	struct stage st;

	setlocale(LC_CTYPE, "C.UTF-8");
	stage_init(&st, p, NULL, VIEW_KIND_MEMORY, 100, 26);
	stage_keys(&st, "HHHh");
	stage_draw(&st);
	moved = stage_text(&st);
	cr_expect_null(strstr(moved, "at the end"));
	st.lens.cursor_ns = INT64_MAX;
	stage_reanalyse(&st, NULL);
	stage_draw(&st);
	later = stage_text(&st);
	cr_expect_str_eq(later, moved);
	free(moved);
	free(later);
	stage_done(&st);
	profile_free(p);
}

/* Whose the name of a root is: a process's that its other threads have too is the process's, with or without samples of main. */
Test(views, names_of_roots_say_whose, .timeout = 60)
{
	static const struct {
		const char *profile, *name, *whose;
	} cases[] = {
		{ "=prog;work@m 1 pid=8 tid=8 name=prog\n", "prog", "(8)" },
		{ "=prog;work@m 1 pid=8 tid=9 name=prog\n", "prog", "(8)" },
		{ "=prog;a@m 1 pid=8 tid=8 name=prog\n=prog;b@m 1 pid=8 tid=9 name=prog\n", "prog",
		  "(8)" },
		{ "=prog;a@m 1 pid=8 tid=8 name=prog\n=io;b@m 1 pid=8 tid=9 name=io\n", "io",
		  "(tid 9)" },
		{ "=prog;a@m 1 pid=8 tid=8 name=prog\n=io;b@m 1 pid=8 tid=9 name=io\n"
		  "=io;b@m 1 pid=8 tid=10 name=io\n",
		  "io", "" },
		{ "=prog;a@m 1 pid=8 tid=8 name=prog\n=prog;b@m 1 pid=7 tid=7 name=prog\n", "prog",
		  "" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct profile *p = made_profile(cases[i].profile);
		struct scene scene = { 0 };
		const struct groups *keys;
		char out[FMT_SIZE];
		uint32_t key = 0;
		struct lens l;

		made_lens(&l, p, "");
		scene.analysis = made_analysis(p, &l);
		keys = &scene.analysis->keys;
		while (key < keys->n && strcmp(keys->key[key].label, cases[i].name) != 0)
			key++;
		cr_assert_lt(key, keys->n);
		cr_expect_str_eq(row_detail(&scene, keys, key, out), cases[i].whose, "case %zu: %s",
				 i, out);
		analysis_free(scene.analysis);
		lens_done(&l);
		profile_free(p);
	}
}

/* Others may look at an analysis while a view sorts: its rows stay where they are. */
Test(views, sorting_leaves_the_analysis_alone)
{
	struct profile *profiles[] = { stage_profile(), stage_changed() };

	for (size_t i = 0; i < sizeof(profiles) / sizeof(*profiles); i++) {
		const struct table *t;
		struct stage st;
		uint32_t *key;
		char *before, *after;

		stage_init(&st, profiles[i], NULL, VIEW_KIND_TOP, 80, 12);
		t = &st.scene.analysis->table;
		key = xcalloc(t->n_rows, sizeof(*key));
		memcpy(key, t->key, t->n_rows * sizeof(*key));
		before = stage_text(&st);
		cr_expect(stage_act(&st, ACTION_REVERSE));
		cr_expect(stage_act(&st, ACTION_SORT));
		after = stage_text(&st);
		cr_expect_str_neq(before, after);
		cr_expect_arr_eq(t->key, key, t->n_rows * sizeof(*key));
		free(before);
		free(after);
		free(key);
		stage_done(&st);
		profile_free(profiles[i]);
	}
}
