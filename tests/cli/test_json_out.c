/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What json_out writes is read back by another parser. */
#include "config.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <yajl/yajl_tree.h>

#include "cli/report/json_out.h"

static yajl_val parse(const char *text)
{
	char error[1024];
	yajl_val v = yajl_tree_parse(text, error, sizeof(error));

	cr_assert(v, "%s in %s", error, text);
	return v;
}

static const struct {
	const char *what, *in, *out;
} texts[] = {
	{ "plain", "main", "main" },
	{ "quotes and backslashes", "a\"b\\c", "a\"b\\c" },
	{ "an escape sequence", "\033]52;c;AAAA\a", "\033]52;c;AAAA\a" },
	{ "DEL and what is unsafe beyond ASCII", "a\x7f b\xc2\x9b c\xe2\x80\xae",
	  "a\x7f b\xc2\x9b c\xe2\x80\xae" },
	{ "beyond ASCII", "größe→𝛑", "größe→𝛑" },
	{ "bytes that are no UTF-8", "a\xff\xc0z", "a\xef\xbf\xbd\xef\xbf\xbdz" },
	{ "cut in a character", "a\xe2\x86", "a\xef\xbf\xbd\xef\xbf\xbd" },
	{ "nothing", "", "" },
};

Test(json_out, keeps_texts_and_sends_only_ascii)
{
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		char *text = NULL;
		size_t n;
		struct json_out j = { .to = open_memstream(&text, &n) };
		const char *path[] = { "x", NULL };
		yajl_val back;

		json_begin(&j, NULL, '{', false);
		json_put_text(&j, "x", texts[i].in);
		json_end(&j, '}');
		fclose(j.to);
		for (size_t b = 0; b < n; b++)
			cr_expect((text[b] >= ' ' && text[b] < 0x7f) || text[b] == '\n', "%s",
				  texts[i].what);
		back = parse(text);
		cr_expect_str_eq(YAJL_GET_STRING(yajl_tree_get(back, path, yajl_t_string)),
				 texts[i].out, "%s", texts[i].what);
		yajl_tree_free(back);
		free(text);
	}
}

Test(json_out, nests_and_separates)
{
	char *text = NULL;
	size_t n;
	struct json_out j = { .to = open_memstream(&text, &n) };

	json_begin(&j, NULL, '{', true);
	json_put_int(&j, "big", INT64_MIN);
	json_put_bool(&j, "yes", true);
	json_put_null(&j, "none");
	json_begin(&j, "empty", '[', true);
	json_end(&j, ']');
	json_begin(&j, "list", '[', false);
	json_put_weight(&j, NULL, 1250, 100);
	json_put_weight(&j, NULL, 7, 1);
	json_put_ratio(&j, NULL, 2, 3);
	json_put_ratio(&j, NULL, 5, 0);
	json_begin(&j, NULL, '{', false);
	json_end(&j, '}');
	json_end(&j, ']');
	json_end(&j, '}');
	fclose(j.to);
	cr_expect_str_eq(text,
			 "{\n\"big\": -9223372036854775808,\n\"yes\": true,\n\"none\": null,\n"
			 "\"empty\": [],\n\"list\": [12.5, 7, 0.666667, null, {}]\n}\n");
	yajl_tree_free(parse(text));
	free(text);
}
