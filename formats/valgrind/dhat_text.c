/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "formats/valgrind/dhat_text.h"

#include <stdlib.h>
#include <string.h>

static void keep(struct dhat_string *to, const struct json_value *v)
{
	if (v->kind != JSON_STRING)
		return;
	free(to->s);
	*to = (struct dhat_string){ xstrndup(v->s, v->n), v->n };
}

static void begin_point(void *to)
{
	struct dhat_text *t = to;

	vec_push(&t->points, ((struct dhat_point){ .first = t->frames.n }));
}

static void end_point(void *to)
{
	struct dhat_text *t = to;

	t->points.at[t->points.n - 1].n = t->frames.n - t->points.at[t->points.n - 1].first;
}

static void on_number(struct dhat_text *t, enum dhat_number which, const struct json_value *v)
{
	int64_t n = json_int(v, -1);

	t->n_odd += n < 0;
	if (t->points.n > 0)
		t->points.at[t->points.n - 1].number[which] = n > 0 ? n : 0;
}

#define X(id, key) \
	static void on_##id(void *to, const struct json_value *v) \
	{ \
		on_number(to, DHAT_##id, v); \
	}
DHAT_NUMBERS(X)
#undef X

static void on_frame(void *to, const struct json_value *v)
{
	struct dhat_text *t = to;

	vec_push(&t->frames, json_index(v));
}

static void on_string(void *to, const struct json_value *v)
{
	struct dhat_text *t = to;
	struct dhat_string s = { 0 };

	keep(&s, v);
	vec_push(&t->strings, s);
}

static void on_version(void *to, const struct json_value *v)
{
	((struct dhat_text *)to)->version = json_int(v, -1);
}

static void on_end(void *to, const struct json_value *v)
{
	((struct dhat_text *)to)->end = json_int(v, 0);
}

static void on_peak(void *to, const struct json_value *v)
{
	((struct dhat_text *)to)->peak = json_int(v, 0);
}

static void on_lifetimes(void *to, const struct json_value *v)
{
	((struct dhat_text *)to)->has_lifetimes = v->kind == JSON_BOOL && v->truth;
}

static void on_accesses(void *to, const struct json_value *v)
{
	((struct dhat_text *)to)->has_accesses = v->kind == JSON_BOOL && v->truth;
}

static void on_mode(void *to, const struct json_value *v)
{
	keep(&((struct dhat_text *)to)->mode, v);
}

static void on_command(void *to, const struct json_value *v)
{
	keep(&((struct dhat_text *)to)->command, v);
}

static void on_time_unit(void *to, const struct json_value *v)
{
	keep(&((struct dhat_text *)to)->time_unit, v);
}

static void on_unit(void *to, const struct json_value *v)
{
	keep(&((struct dhat_text *)to)->unit, v);
}

static void on_blocks_unit(void *to, const struct json_value *v)
{
	keep(&((struct dhat_text *)to)->blocks_unit, v);
}

int dhat_text_read(struct dhat_text *t, struct input *in, struct json_end *end,
		   struct progress *progress, struct err *e)
{
	static const struct json_rule rules[] = {
		{ .path = "dhatFileVersion", .value = on_version },
		{ .path = "mode", .value = on_mode },
		{ .path = "bklt", .value = on_lifetimes },
		{ .path = "bkacc", .value = on_accesses },
		{ .path = "bsu", .value = on_unit },
		{ .path = "bksu", .value = on_blocks_unit },
		{ .path = "tu", .value = on_time_unit },
		{ .path = "cmd", .value = on_command },
		{ .path = "te", .value = on_end },
		{ .path = "tg", .value = on_peak },
		{ .path = "pps[]", .begin = begin_point, .end = end_point },
#define X(id, key) { .path = "pps[]." key, .value = on_##id },
		DHAT_NUMBERS(X)
#undef X
			{ .path = "pps[].fs[]", .value = on_frame },
		{ .path = "ftbl[]", .value = on_string },
	};

	return json_read(in, rules, sizeof(rules) / sizeof(*rules), t, end, progress, e);
}

void dhat_text_done(struct dhat_text *t)
{
	for (size_t i = 0; i < t->strings.n; i++)
		free(t->strings.at[i].s);
	vec_done(&t->strings);
	vec_done(&t->points);
	vec_done(&t->frames);
	free(t->mode.s);
	free(t->command.s);
	free(t->time_unit.s);
	free(t->unit.s);
	free(t->blocks_unit.s);
}
