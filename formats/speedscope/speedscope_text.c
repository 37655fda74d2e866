/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rules by which a speedscope file is gathered. */
#include "config.h"

#include "formats/speedscope/speedscope_text.h"

#include "profile/builder.h"

#include <string.h>

static string_id text_of(struct speedscope_text *t, const struct json_value *v)
{
	if (v->kind != JSON_STRING || v->n == 0)
		return (string_id){ 0 };
	return build_string(t->p, v->s, v->n);
}

static bool is(const struct json_value *v, const char *text)
{
	return v->kind == JSON_STRING && v->n == strlen(text) && memcmp(v->s, text, v->n) == 0;
}

/* Frames. */

static void begin_frame(void *to)
{
	struct speedscope_text *t = to;

	vec_push(&t->frames, (struct named_frame){ 0 });
	vec_push(&t->modules, (string_id){ 0 });
}

static void on_frame_name(void *to, const struct json_value *v)
{
	struct speedscope_text *t = to;

	t->frames.at[t->frames.n - 1].name = text_of(t, v);
}

static void on_frame_file(void *to, const struct json_value *v)
{
	struct speedscope_text *t = to;

	t->frames.at[t->frames.n - 1].file = text_of(t, v);
}

static void on_frame_line(void *to, const struct json_value *v)
{
	struct speedscope_text *t = to;
	uint32_t line = json_index(v);

	t->frames.at[t->frames.n - 1].line = line == UINT32_MAX ? 0 : line;
}

/* What proftop says of its own: line is where the frame is, or only where its function is declared. */
static void on_frame_declared(void *to, const struct json_value *v)
{
	struct speedscope_text *t = to;
	uint32_t line = json_index(v);

	t->frames.at[t->frames.n - 1].declared = line == UINT32_MAX ? 0 : line;
}

static void on_frame_only_declared(void *to, const struct json_value *v)
{
	struct speedscope_text *t = to;

	on_frame_declared(to, v);
	t->frames.at[t->frames.n - 1].line = 0;
}

static void on_frame_module(void *to, const struct json_value *v)
{
	struct speedscope_text *t = to;

	t->modules.at[t->modules.n - 1] = text_of(t, v);
}

/* Profiles. */

static struct speedscope_profile *last(struct speedscope_text *t)
{
	return &t->profiles.at[t->profiles.n - 1];
}

static void begin_profile(void *to)
{
	struct speedscope_text *t = to;

	vec_push(&t->profiles, ((struct speedscope_profile){ .pid = -1, .tid = -1 }));
	vec_clear(&t->sample);
}

static void on_type(void *to, const struct json_value *v)
{
	last(to)->evented = is(v, "evented");
}

static void on_name(void *to, const struct json_value *v)
{
	last(to)->name = text_of(to, v);
}

static void begin_own(void *to)
{
	last(to)->own = true;
}

static void on_metric(void *to, const struct json_value *v)
{
	last(to)->metric = text_of(to, v);
}

static void on_kind(void *to, const struct json_value *v)
{
	last(to)->kind = text_of(to, v);
}

static void on_thread(void *to, const struct json_value *v)
{
	last(to)->thread = text_of(to, v);
}

static void on_process(void *to, const struct json_value *v)
{
	last(to)->process = text_of(to, v);
}

static void on_pid(void *to, const struct json_value *v)
{
	last(to)->pid = json_int(v, -1);
}

static void on_tid(void *to, const struct json_value *v)
{
	last(to)->tid = json_int(v, -1);
}

static void on_unit(void *to, const struct json_value *v)
{
	last(to)->unit = text_of(to, v);
}

static void on_start(void *to, const struct json_value *v)
{
	last(to)->start = json_double(v, 0);
}

static void on_end(void *to, const struct json_value *v)
{
	last(to)->end = json_double(v, 0);
}

static void begin_sample(void *to)
{
	struct speedscope_text *t = to;

	t->n_frames = t->n_shared = 0;
}

static void on_sample_frame(void *to, const struct json_value *v)
{
	struct speedscope_text *t = to;
	uint32_t frame = json_index(v), at = t->n_frames++;

	if (at == t->n_shared && at < t->sample.n && t->sample.at[at] == frame) {
		t->n_shared++;
		return;
	}
	t->sample.n = at;
	vec_push(&t->sample, frame);
	if (frame >= SPEEDSCOPE_LARGE) {
		vec_push(&last(t)->frames, SPEEDSCOPE_LARGE);
		vec_push(&last(t)->frames, (uint16_t)(frame >> 16));
	}
	vec_push(&last(t)->frames, (uint16_t)frame);
}

static void end_sample(void *to)
{
	struct speedscope_text *t = to;

	t->sample.n = t->n_frames;
	vec_push(&last(t)->samples,
		 ((struct speedscope_sample){ t->n_shared, t->n_frames - t->n_shared }));
}

static void on_weight(void *to, const struct json_value *v)
{
	vec_push(&last(to)->weights, json_double(v, 0));
}

static void begin_event(void *to)
{
	vec_push(&last(to)->events, (struct speedscope_event){ .frame = UINT32_MAX });
}

static struct speedscope_event *last_event(void *to)
{
	return &last(to)->events.at[last(to)->events.n - 1];
}

static void on_event_type(void *to, const struct json_value *v)
{
	last_event(to)->opens = is(v, "O");
}

static void on_event_frame(void *to, const struct json_value *v)
{
	last_event(to)->frame = json_index(v);
}

static void on_event_at(void *to, const struct json_value *v)
{
	last_event(to)->at = json_double(v, 0);
}

static void on_exporter(void *to, const struct json_value *v)
{
	((struct speedscope_text *)to)->exporter = text_of(to, v);
}

/* clang-format off */
static const struct json_rule rules[] = {
	{ .path = "exporter", .value = on_exporter },
	{ .path = "shared.frames[]", .begin = begin_frame },
	{ .path = "shared.frames[].name", .value = on_frame_name },
	{ .path = "shared.frames[].file", .value = on_frame_file },
	{ .path = "shared.frames[].line", .value = on_frame_line },
	{ .path = "shared.frames[].declared", .value = on_frame_declared },
	{ .path = "shared.frames[].only_declared", .value = on_frame_only_declared },
	{ .path = "shared.frames[].module", .value = on_frame_module },
	{ .path = "profiles[]", .begin = begin_profile },
	{ .path = "profiles[].type", .value = on_type },
	{ .path = "profiles[].name", .value = on_name },
	{ .path = "profiles[].proftop", .begin = begin_own },
	{ .path = "profiles[].proftop.metric", .value = on_metric },
	{ .path = "profiles[].proftop.kind", .value = on_kind },
	{ .path = "profiles[].proftop.thread", .value = on_thread },
	{ .path = "profiles[].proftop.process", .value = on_process },
	{ .path = "profiles[].proftop.pid", .value = on_pid },
	{ .path = "profiles[].proftop.tid", .value = on_tid },
	{ .path = "profiles[].unit", .value = on_unit },
	{ .path = "profiles[].startValue", .value = on_start },
	{ .path = "profiles[].endValue", .value = on_end },
	{ .path = "profiles[].samples[]", .begin = begin_sample, .end = end_sample },
	{ .path = "profiles[].samples[][]", .value = on_sample_frame },
	{ .path = "profiles[].weights[]", .value = on_weight },
	{ .path = "profiles[].events[]", .begin = begin_event },
	{ .path = "profiles[].events[].type", .value = on_event_type },
	{ .path = "profiles[].events[].frame", .value = on_event_frame },
	{ .path = "profiles[].events[].at", .value = on_event_at },
};
/* clang-format on */

int speedscope_text_read(struct speedscope_text *t, struct profile *p, struct input *in,
			 struct json_end *end, struct progress *progress, struct err *e)
{
	int rc;

	*t = (struct speedscope_text){ .p = p };
	builder_begin(p);
	rc = json_read(in, rules, sizeof(rules) / sizeof(*rules), t, end, progress, e);
	builder_end(p);
	return rc;
}

void speedscope_text_done(struct speedscope_text *t)
{
	for (size_t i = 0; i < t->profiles.n; i++) {
		vec_done(&t->profiles.at[i].samples);
		vec_done(&t->profiles.at[i].frames);
		vec_done(&t->profiles.at[i].weights);
		vec_done(&t->profiles.at[i].events);
	}
	vec_done(&t->profiles);
	vec_done(&t->sample);
	vec_done(&t->frames);
	vec_done(&t->modules);
}
