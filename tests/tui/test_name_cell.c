/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names in a row of the screen. */
#include "config.h"

#include "base/mem.h"
#include "tui/canvas/canvas.h"
#include "tui/rows/name_cell.h"

#include <criterion/criterion.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

static void use_utf8(void)
{
	setlocale(LC_ALL, "C.UTF-8");
}

/* Templates of templates: a name of many kilobytes says its method, as short ones do. */
Test(name_cell, long_templates_keep_their_method, .init = use_utf8)
{
	static const size_t sizes[] = { 10, 4000, 4090, 5000, 16000 };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		char *arguments = xmalloc(sizes[i] + 1), *name, *text;
		struct name_look look = { 0 };
		struct canvas c;

		memset(arguments, 'x', sizes[i]);
		arguments[sizes[i]] = '\0';
		name = xasprintf("L<std::tuple<%s> >::f(long)", arguments);
		canvas_init(&c, 16, 1, false);
		cr_expect_eq(name_draw(&c, 0, 0, 16, name, &look), 13);
		text = canvas_text(&c);
		cr_expect_str_eq(text, "L<…>::f(long)\n", "%zu bytes: %s", sizes[i], text);
		free(text);
		canvas_done(&c);
		free(name);
		free(arguments);
	}
}

/* What is longer than any name is looked at by its beginning only, in flame graphs too: a name of 50 MB took seconds to draw. */
Test(name_cell, endless_names_are_cut_first, .init = use_utf8)
{
	const char *ends[] = { "::tail", "::other" };
	char *shown[2];

	for (int i = 0; i < 2; i++) {
		char *stem = xmalloc(NAME_MOST_BYTES + 1), *name;

		memset(stem, 'x', NAME_MOST_BYTES);
		stem[NAME_MOST_BYTES] = '\0';
		name = xasprintf("%s%s", stem, ends[i]);
		shown[i] = name_short(name, 10, false);
		free(name);
		free(stem);
	}
	cr_expect_str_eq(shown[0], shown[1], "%s, %s", shown[0], shown[1]);
	cr_expect_eq(shown[0][0], 'x', "%s", shown[0]);
	free(shown[0]);
	free(shown[1]);
}
