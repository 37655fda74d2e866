/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names with where they are behind them, in the width of their cells. */
#include "config.h"

#include "base/mem.h"
#include "tui/canvas/canvas.h"
#include "tui/contract/view.h"
#include "tui/views/where_cell.h"

#include <criterion/criterion.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

static void use_utf8(void)
{
	setlocale(LC_ALL, "C.UTF-8");
}

/* Two sites of one function are told apart by their line where that is seen whole, else by what is put behind the name. */
Test(where_cell, lines_that_are_seen_tell_sites_apart, .init = use_utf8)
{
	static const struct {
		int cols;
		const char *text;
	} cases[] = {
		{ 44, "build(int)  heap.cc:10  none later\nbuild(int)  heap.cc:12  none later\n" },
		{ 30, "build(int)  heap.cc:10  none …\nbuild(int)  heap.cc:12  none …\n" },
		{ 22, "build(int)  heap.cc:10\nbuild(int)  heap.cc:12\n" },
		{ 20, "build(int) …10  hea…\nbuild(int) …12  hea…\n" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct where_cells cells = { 0 };
		struct scene s = { 0 };
		struct canvas c;
		char *text;

		for (int line = 0; line < 2; line++) {
			struct where_cell w = { .line = line, .name = "build(int)" };

			w.behind = xasprintf("heap.cc:1%d  none later", 2 * line);
			vec_push(&cells, w);
		}
		canvas_init(&c, cases[i].cols, 2, false);
		where_cells_draw(&cells, &s, &c, (struct rect){ 0, 0, 2, cases[i].cols }, 0);
		text = canvas_text(&c);
		cr_expect_str_eq(text, cases[i].text, "%d columns: %s", cases[i].cols, text);
		free(text);
		canvas_done(&c);
	}
}
