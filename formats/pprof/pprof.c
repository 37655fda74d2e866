/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A pprof profile into the model: each type of value is an event, each value that is not 0 a row.
 *
 * The file is a protobuf message whose samples come before what they refer to, so that all of it is in memory: its
 * tables are made in one pass, its samples in a second one.
 */
#include "config.h"

#include "formats/pprof/pprof.h"

#include "base/err.h"
#include "base/fmt.h"
#include "base/mem.h"
#include "formats/facts.h"
#include "formats/pprof/pprof_head.h"
#include "formats/pprof/pprof_heap.h"
#include "formats/pprof/pprof_labels.h"
#include "formats/pprof/pprof_samples.h"
#include "formats/pprof/pprof_stacks.h"
#include "formats/pprof/pprof_tables.h"
#include "formats/pprof/pprof_write.h"
#include "formats/proto/proto_fields.h"
#include "input/input.h"
#include "profile/builder.h"
#include <profile.pb-c.h>
#include "base/task.h"
#include "input/whole_input.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Samples that are built before others see them. */
#define BATCH         4096
/* Whose stacks are fetched meanwhile. */
#define AHEAD         8
/* Those that are taken apart before the file's turn. */
#define MOST_PREPARED ((size_t)1 << 19)

/* A type of value. */
struct value_event {
	event_id id;
	int64_t each; /* what one of the file is in the event's unit */
};

/* A file in memory, taken apart as far as goes without a profile. */
struct pprof_file {
	struct whole_input whole;
	struct pprof_tables t;
	struct pprof_samples samples;
};

struct reader {
	struct profile *p;
	capture_id capture;
	struct input *in;
	struct progress *progress;
	struct pprof_file *file;      /* borrowed */
	struct pprof_file *own;       /* the same, where nobody prepared one; or NULL; owned */
	const struct pprof_tables *t; /* of file */
	struct pprof_stacks *stacks;
	struct pprof_labels *labels;
	struct pprof_heap *heap;        /* NULL: it is no heap profile */
	VEC(Pprof__Label) label;        /* of the sample that is being read */
	VEC(Pprof__Label *) label_at;   /* [label.n] */
	VEC(struct value_event) events; /* [t.types.n] */
	int64_t time_ns;                /* of all samples; TIME_NONE */
	uint64_t n_samples;             /* with a stack and a value */
	uint64_t n_short; /* samples with another number of values than there are types */
	uint64_t n_large; /* values that make a sum too large */
};

/* Events. */

static struct pprof_unit unit_of(const struct pprof_tables *t, int64_t index)
{
	const struct pprof_unit *known = pprof_known_unit(pprof_string(t, index));

	return known ? *known : (struct pprof_unit){ "", UNIT_COUNT, 1 };
}

/* pprof shows the last type where the file names none. */
static bool is_default(const struct pprof_tables *t, size_t i)
{
	struct pprof_string wanted = pprof_string(t, t->default_type);
	struct pprof_string own = pprof_string(t, t->types.at[i].type);

	if (wanted.n == 0)
		return i + 1 == t->types.n;
	return own.n == wanted.n && memcmp(own.s, wanted.s, own.n) == 0;
}

static void make_events(struct reader *r)
{
	for (size_t i = 0; i < r->t->types.n; i++) {
		struct pprof_string s = pprof_string(r->t, r->t->types.at[i].type);
		struct pprof_unit unit = unit_of(r->t, r->t->types.at[i].unit);
		char *name = s.n ? xstrndup(s.s, s.n) : xasprintf("value %zu", i + 1);
		struct value_event v = { .each = unit.each };

		v.id = build_summed_event(r->p, name, unit.unit);
		if (!r->heap && is_default(r->t, i))
			build_event_default(r->p, v.id);
		vec_push(&r->events, v);
		free(name);
	}
}

/* Samples. */

static Pprof__Label label_of(const struct proto_field *f)
{
	struct bytes b = bytes_over(f->at, f->n, false);
	Pprof__Label l = PPROF__LABEL__INIT;
	int64_t *number[] = { &l.key, &l.str, &l.num, &l.num_unit };
	struct proto_field inner;

	while (proto_next(&b, &inner))
		if (inner.number >= 1 && inner.number <= 4)
			*number[inner.number - 1] = (int64_t)inner.value;
	return l;
}

/* Samples of a thread mostly follow each other, with the same labels. */
static thread_id thread_of(struct reader *r, const struct pprof_row *row)
{
	struct bytes b = bytes_over(row->labels, row->n_label_bytes, false);
	Pprof__Sample m = PPROF__SAMPLE__INIT;
	struct proto_field f;

	if (row->same_labels)
		return pprof_labels_same(r->labels);
	vec_clear(&r->label);
	vec_clear(&r->label_at);
	while (proto_next(&b, &f))
		if (f.number == 3)
			vec_push(&r->label, label_of(&f));
	for (size_t i = 0; i < r->label.n; i++)
		vec_push(&r->label_at, &r->label.at[i]);
	m.n_label = r->label_at.n;
	m.label = r->label_at.at;
	return pprof_labels_thread(r->labels, &m);
}

static void add_values(struct reader *r, const int64_t *value, size_t n_values,
		       const struct sample *like)
{
	size_t n = n_values < r->events.n ? n_values : r->events.n;
	struct sample s = *like;

	r->n_short += n_values != r->events.n;
	for (size_t i = 0; i < n; i++) {
		const struct value_event *v = &r->events.at[i];

		if (value[i] == 0)
			continue;
		s.event = v->id;
		if (__builtin_mul_overflow(value[i], v->each, &s.weight) ||
		    build_sample(r->p, &s) == -ERANGE)
			r->n_large++;
	}
}

static void add_row(struct reader *r, const struct pprof_row *row, const int64_t *values)
{
	struct sample s = { .cpu = CPU_NONE, .time_ns = r->time_ns };

	s.thread = thread_of(r, row);
	s.stack = pprof_stack(r->stacks, row);
	add_values(r, values, row->n_values, &s);
	if (r->heap)
		pprof_heap_add(r->heap, s.stack, s.thread, values, row->n_values);
	r->n_samples++;
}

/* Those that are taken apart. */
static int add_rows(struct reader *r)
{
	const struct pprof_samples *s = &r->file->samples;
	size_t value = 0;
	int rc = 0;

	for (size_t i = 0; i < s->rows.n && rc == 0;) {
		size_t end = s->rows.n - i < BATCH ? s->rows.n : i + BATCH;

		builder_begin(r->p);
		for (; i < end; i++) {
			if (i + AHEAD < s->rows.n)
				build_fetch_chain(r->p, s->rows.at[i + AHEAD].stack);
			add_row(r, &s->rows.at[i], s->values.n > 0 ? s->values.at + value : NULL);
			value += s->rows.at[i].n_values;
		}
		rc = builder_end(r->p) < 0 ? -EFBIG : 0;
		if (progress_cancelled(r->progress))
			rc = -ECANCELED;
	}
	return rc;
}

static int read_samples(struct reader *r)
{
	int rc = add_rows(r); /* those that were prepared */

	while (rc == 0 && pprof_samples_next(&r->file->samples, BATCH))
		rc = add_rows(r);
	return rc;
}

/* What `info` says. */

/* Build-ids of the mappings' files, by which their symbols are looked for. */
static void tell_modules(struct reader *r)
{
	for (size_t i = 0; i < r->t->mappings.n && i < 32; i++) {
		struct pprof_string path = pprof_string(r->t, r->t->mappings.at[i].path),
				    id = pprof_string(r->t, r->t->mappings.at[i].build_id);
		char *name;

		if (path.n == 0 || path.n > 4096 || id.n == 0 || id.n > 128)
			continue;
		name = xstrndup(path.s, path.n);
		build_fact(r->p, r->capture, "build-ids", name, FACT_PLAIN, "%.*s", (int)id.n,
			   id.s);
		free(name);
	}
}

static void tell_losses(struct reader *r)
{
	if (r->file->whole.cut)
		build_fact(r->p, r->capture, "losses", "rest of the file", FACT_LOSS, "%s",
			   r->file->whole.cut);
	else if (r->t->n_good < r->file->whole.n)
		build_fact(
			r->p, r->capture, "losses", "rest of the file", FACT_LOSS,
			"%zu bytes at offset %zu are no field of a profile: the file is cut or damaged",
			r->file->whole.n - r->t->n_good, r->t->n_good);
	if (r->t->n_odd > 0)
		build_fact(r->p, r->capture, "losses", "fields", FACT_LOSS,
			   "%" PRIu64 " cannot be unpacked, the first at offset %zu", r->t->n_odd,
			   r->t->first_odd);
	facts_loss(r->p, r->capture, "samples", r->file->samples.n_odd, "sample",
		   "cannot be unpacked");
	facts_loss(r->p, r->capture, "values", r->n_short, "sample",
		   "with another number of values than the file has types");
	facts_loss(r->p, r->capture, "sums", r->n_large, "value",
		   "left out, as the sum would be too large");
	facts_loss(r->p, r->capture, "locations", r->file->samples.n_nowhere, "frame",
		   "of a location that is not in the file");
}

static void tell(struct reader *r)
{
	char text[FMT_SIZE];

	builder_begin(r->p);
	build_fact(r->p, r->capture, "file", "stacks", FACT_PLAIN, "%s",
		   fmt_count(text, (int64_t)r->n_samples));
	pprof_head_tell(r->p, r->capture, r->t);
	build_fact(r->p, r->capture, "file", "times", FACT_PLAIN,
		   "the format has none: each row is a stack with sums over the whole recording");
	tell_modules(r);
	pprof_labels_tell(r->labels);
	if (r->heap)
		pprof_heap_tell(r->heap);
	tell_losses(r);
	builder_end(r->p);
}

/* Files. */

static void file_free(void *file)
{
	struct pprof_file *f = file;

	if (!f)
		return;
	pprof_samples_done(&f->samples);
	pprof_tables_done(&f->t);
	whole_input_done(&f->whole);
	free(f);
}

/* Into f. */
static int read_file(struct pprof_file *f, struct input *in, struct progress *progress,
		     struct err *e)
{
	int rc = whole_input_read(&f->whole, in, progress, e);

	if (rc)
		return rc;
	pprof_tables_read(&f->t, f->whole.bytes, f->whole.n);
	pprof_samples_begin(&f->samples, &f->t, f->whole.bytes, f->t.n_good);
	return 0;
}

static void *prepare(struct input *in, void *spent)
{
	struct pprof_file *f = spent ? spent : xcalloc(1, sizeof(*f));

	whole_input_done(&f->whole);
	pprof_tables_done(&f->t);
	if (read_file(f, in, NULL, NULL)) {
		file_free(f);
		return NULL;
	}
	pprof_samples_next(&f->samples, MOST_PREPARED);
	return f;
}

/* Reading. */

static int begin(struct reader *r, const struct read_options *o, struct err *e)
{
	int rc;

	r->file = o && o->prepared ? o->prepared : (r->own = xcalloc(1, sizeof(*r->own)));
	rc = r->own ? read_file(r->own, r->in, r->progress, e) : 0;
	if (rc)
		return rc;
	r->t = &r->file->t;
	if (r->t->n_samples == 0)
		return err_set(e, -EBADMSG, "%s: is a pprof profile without a sample",
			       input_name(r->in));
	if (r->t->types.n == 0)
		return err_set(e, -EBADMSG, "%s: is a pprof profile that names no type of value",
			       input_name(r->in));
	builder_begin(r->p);
	r->heap = pprof_heap_new(r->p, r->capture, r->t);
	make_events(r);
	r->stacks = pprof_stacks_new(r->p, r->capture, r->t, o ? o->resolve : NULL);
	r->labels = pprof_labels_new(r->p, r->capture, r->t);
	builder_end(r->p);
	return 0;
}

static int read_pprof(struct input *in, struct profile *p, capture_id c,
		      const struct read_options *o, struct progress *progress, struct err *e)
{
	struct reader r = {
		.p = p, .capture = c, .in = in, .progress = progress, .time_ns = TIME_NONE
	};
	int rc = begin(&r, o, e);

	if (rc == 0)
		rc = read_samples(&r);
	if (r.stacks && rc != -ECANCELED)
		tell(&r);
	if (rc == 0)
		rc = pprof_stacks_name(r.stacks, progress);
	if (rc == -EFBIG && r.stacks)
		err_set(e, rc, "%s: has more than a profile can hold", input_name(in));
	pprof_labels_free(r.labels);
	pprof_heap_free(r.heap);
	pprof_stacks_free(r.stacks);
	vec_done(&r.events);
	vec_done(&r.label);
	vec_done(&r.label_at);
	file_free(r.own);
	return rc;
}

/* Recognising. */

/* What a field of a profile looks like. */
static bool is_plausible(const struct proto_field *f)
{
	struct bytes b = bytes_over(f->at, f->n, false);
	struct proto_field inner;

	switch (f->number) {
	case PPROF_SAMPLE_TYPE:
	case PPROF_PERIOD_TYPE:
		while (f->wire == PROTO_BYTES && proto_next(&b, &inner))
			if (inner.number > 2 || inner.wire != PROTO_VARINT)
				return false;
		return f->wire == PROTO_BYTES && !b.bad;
	case PPROF_SAMPLE:
	case PPROF_MAPPING:
	case PPROF_LOCATION:
	case PPROF_FUNCTION:
		while (f->wire == PROTO_BYTES && proto_next(&b, &inner))
			if (inner.number > 15)
				return false;
		return f->wire == PROTO_BYTES && !b.bad;
	case PPROF_STRING:
		return f->wire == PROTO_BYTES;
	case PPROF_COMMENT:
		return f->wire == PROTO_BYTES || f->wire == PROTO_VARINT;
	default:
		return f->number <= PPROF_DOC_URL && f->wire == PROTO_VARINT;
	}
}

/* Fields of a profile from the first byte on; the last one may be cut. */
static int probe(const uint8_t *bytes, size_t n)
{
	struct bytes b = bytes_over(bytes, n, false);
	size_t n_fields = 0, n_messages = 0;
	struct proto_field f;

	while (proto_next(&b, &f)) {
		if (!is_plausible(&f))
			return 0;
		n_fields++;
		n_messages += f.number <= PPROF_FUNCTION && f.n > 0;
	}
	if (n_messages == 0)
		return 0;
	return n_fields >= 8 ? FORMAT_SURE + 20 : n_fields >= 3 ? FORMAT_SURE / 2 : 0;
}

const struct format format_pprof = {
	.name = "pprof",
	.title = "pprof's profile.proto (Go, Parca, Pyroscope, py-spy, Node, Rust)",
	.inlined = true,
	.packed = true,
	.holds = HOLDS(STACKS) | HOLDS(THREADS) | HOLDS(MODULES) | HOLDS(ADDRESSES) | HOLDS(LINES) |
		 HOLDS(INLINED) | HOLDS(BUILD_IDS) | HOLDS(LABELS),
	.probe = probe,
	.read = read_pprof,
	.prepare = prepare,
	.discard = file_free,
	.write = pprof_write,
};
