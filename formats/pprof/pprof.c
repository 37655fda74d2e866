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
#include "formats/pprof/pprof_heap.h"
#include "formats/pprof/pprof_labels.h"
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
#include <time.h>

/* Samples that are built before others see them. */
#define BATCH 4096

/* A unit of the file, and what it is in units of ours. */
struct unit_name {
	const char *name;
	enum unit unit;
	int64_t each;
};

static const struct unit_name unit_names[] = {
	{ "nanoseconds", UNIT_NS, 1 },
	{ "nanosecond", UNIT_NS, 1 },
	{ "ns", UNIT_NS, 1 },
	{ "microseconds", UNIT_NS, 1000 },
	{ "us", UNIT_NS, 1000 },
	{ "milliseconds", UNIT_NS, 1000000 },
	{ "ms", UNIT_NS, 1000000 },
	{ "seconds", UNIT_NS, 1000000000 },
	{ "s", UNIT_NS, 1000000000 },
	{ "bytes", UNIT_BYTES, 1 },
	{ "byte", UNIT_BYTES, 1 },
	{ "kilobytes", UNIT_BYTES, 1024 },
	{ "megabytes", UNIT_BYTES, 1048576 },
};

/* A type of value. */
struct value_event {
	event_id id;
	int64_t each; /* what one of the file is in the event's unit */
};

/* A sample's message. Samples are most of a file: they are taken apart without a tree of messages each. */
struct parts {
	Pprof__Sample message; /* of what follows */
	VEC(uint64_t) locations;
	VEC(int64_t) values;
	VEC(Pprof__Label) labels;
	VEC(Pprof__Label *) label_at; /* [labels.n] */
	struct proto_field packed;    /* all location ids, where one field has them; else n is 0 */
	struct proto_field last;      /* the same of the sample before */
	size_t n_id_fields;           /* fields of location ids so far */
	size_t n_shared;              /* outermost ids left out, as the sample before has them */
	struct bytes label_bytes;     /* from the first label's field to the last one's */
	struct bytes last_labels;     /* the same of the sample before */
	bool same_labels;             /* as the sample before; left out */
};

struct reader {
	struct profile *p;
	capture_id capture;
	struct input *in;
	struct progress *progress;
	struct whole_input file;
	struct pprof_tables t;
	struct pprof_stacks *stacks;
	struct pprof_labels *labels;
	struct pprof_heap *heap;        /* NULL: it is no heap profile */
	struct parts parts;             /* of the sample that is being read */
	VEC(struct value_event) events; /* [t.types.n] */
	int64_t time_ns;                /* of all samples; TIME_NONE */
	uint64_t n_samples;             /* with a stack and a value */
	uint64_t n_odd;                 /* messages that are none */
	uint64_t n_short; /* samples with another number of values than there are types */
	uint64_t n_large; /* values that make a sum too large */
};

/* Events. */

static struct unit_name unit_of(const struct pprof_tables *t, int64_t index)
{
	struct pprof_string s = pprof_string(t, index);

	for (size_t i = 0; i < sizeof(unit_names) / sizeof(*unit_names); i++)
		if (s.n == strlen(unit_names[i].name) && memcmp(s.s, unit_names[i].name, s.n) == 0)
			return unit_names[i];
	return (struct unit_name){ "", UNIT_COUNT, 1 };
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
	for (size_t i = 0; i < r->t.types.n; i++) {
		struct pprof_string s = pprof_string(&r->t, r->t.types.at[i].type);
		struct unit_name unit = unit_of(&r->t, r->t.types.at[i].unit);
		char *name = s.n ? xstrndup(s.s, s.n) : xasprintf("value %zu", i + 1);
		struct value_event v = { .each = unit.each };

		v.id = build_summed_event(r->p, name, unit.unit);
		if (!r->heap && is_default(&r->t, i))
			build_event_default(r->p, v.id);
		vec_push(&r->events, v);
		free(name);
	}
}

/* Messages of samples. */

/* One number, or several packed into bytes. */
#define TAKE_NUMBERS(to, type, f) \
	do { \
		struct bytes packed = bytes_over((f)->at, (f)->n, false); \
\
		if ((f)->wire == PROTO_VARINT) \
			vec_push(to, (type)(f)->value); \
		else if ((f)->wire != PROTO_BYTES) \
			return false; \
		vec_reserve(to, (to)->n + bytes_left(&packed)); \
		while (bytes_left(&packed) > 0 && !packed.bad) \
			(to)->at[(to)->n++] = (type)take_varint(&packed); \
		if (packed.bad) \
			return false; \
	} while (0)

static bool take_label(Pprof__Label *l, const struct proto_field *f)
{
	struct bytes b = bytes_over(f->at, f->n, false);
	struct proto_field inner;

	*l = (Pprof__Label)PPROF__LABEL__INIT;
	while (proto_next(&b, &inner)) {
		int64_t *number[] = { &l->key, &l->str, &l->num, &l->num_unit };

		if (inner.number < 1 || inner.number > 4)
			continue;
		if (inner.wire != PROTO_VARINT)
			return false;
		*number[inner.number - 1] = (int64_t)inner.value;
	}
	return !b.bad;
}

static bool take_ids(struct parts *p, const struct proto_field *f)
{
	TAKE_NUMBERS(&p->locations, uint64_t, f);
	return true;
}

/* A field of location ids. The only one of a sample is taken last, without what the sample before has, too. */
static bool add_ids(struct parts *p, const struct proto_field *f)
{
	struct proto_field first = p->packed;

	p->packed = (struct proto_field){ 0 };
	if (p->n_id_fields++ == 0 && f->wire == PROTO_BYTES) {
		p->packed = *f;
		return true;
	}
	return (first.n == 0 || take_ids(p, &first)) && take_ids(p, f);
}

/* Ends a number k bytes before the end? All but a number's last byte are 0x80 or more. */
static bool ends_before(const struct proto_field *f, size_t k)
{
	return k == f->n || f->at[f->n - k - 1] < 0x80;
}

/* How many numbers at the end of f are those at the end of last, at most `most`, and where the first of them begins. */
static size_t same_end(const struct proto_field *f, const struct proto_field *last, size_t most,
		       size_t *begin)
{
	size_t least = f->n < last->n ? f->n : last->n, k = 0, n_ends = 0, n = 0;

	*begin = f->n;
	for (; k < least && n < most; k++) {
		uint8_t byte = f->at[f->n - k - 1];

		if (byte != last->at[last->n - k - 1])
			break;
		if (byte < 0x80) {
			*begin = f->n - k;
			n = n_ends++;
		}
	}
	if (n == most || !ends_before(f, k) || !ends_before(last, k))
		return n;
	*begin = f->n - k;
	return n_ends;
}

static bool take_packed_ids(struct parts *p, size_t most_shared)
{
	struct proto_field own = p->packed;

	p->n_shared = own.n > 0 ? same_end(&p->packed, &p->last, most_shared, &own.n) : 0;
	return own.n == 0 || take_ids(p, &own);
}

static bool take_values(struct parts *p, const struct proto_field *f)
{
	TAKE_NUMBERS(&p->values, int64_t, f);
	return true;
}
#undef TAKE_NUMBERS

/* Samples of a thread mostly follow each other, with the same labels. */
static bool take_labels(struct parts *p)
{
	struct bytes b = p->label_bytes;
	struct proto_field f;
	Pprof__Label label;

	p->same_labels = bytes_left(&b) > 0 && bytes_left(&b) == bytes_left(&p->last_labels) &&
			 memcmp(b.at, p->last_labels.at, bytes_left(&b)) == 0;
	while (!p->same_labels && proto_next(&b, &f)) {
		if (f.number != 3)
			continue;
		if (f.wire != PROTO_BYTES || !take_label(&label, &f))
			return false;
		vec_push(&p->labels, label);
	}
	for (size_t i = 0; i < p->labels.n; i++)
		vec_push(&p->label_at, &p->labels.at[i]);
	return true;
}

static bool take_parts(struct parts *p, struct bytes b)
{
	const uint8_t *from = b.at;
	struct proto_field f;

	for (; proto_next(&b, &f); from = b.at) {
		if (f.number == 3) {
			if (bytes_left(&p->label_bytes) == 0)
				p->label_bytes.at = from;
			p->label_bytes.end = b.at;
		} else if ((f.number == 1 && !add_ids(p, &f)) ||
			   (f.number == 2 && !take_values(p, &f))) {
			return false;
		}
	}
	return !b.bad;
}

/* Until the next one; NULL: it cannot be unpacked. At most most_shared ids are left to the sample before. */
static const Pprof__Sample *take_sample(struct parts *p, const struct proto_field *f,
					size_t most_shared)
{
	vec_clear(&p->locations);
	vec_clear(&p->values);
	vec_clear(&p->labels);
	vec_clear(&p->label_at);
	p->packed = (struct proto_field){ 0 };
	p->n_id_fields = 0;
	p->label_bytes = bytes_over(NULL, 0, false);
	if (!take_parts(p, bytes_over(f->at, f->n, false)) || !take_packed_ids(p, most_shared) ||
	    !take_labels(p))
		return NULL;
	p->last = p->packed;
	p->last_labels = p->label_bytes;
	p->message = (Pprof__Sample)PPROF__SAMPLE__INIT;
	p->message.n_location_id = p->locations.n;
	p->message.location_id = p->locations.at;
	p->message.n_value = p->values.n;
	p->message.value = p->values.at;
	p->message.n_label = p->label_at.n;
	p->message.label = p->label_at.at;
	return &p->message;
}

static void parts_done(struct parts *p)
{
	vec_done(&p->locations);
	vec_done(&p->values);
	vec_done(&p->labels);
	vec_done(&p->label_at);
}

/* Samples. */

static void add_values(struct reader *r, const Pprof__Sample *m, const struct sample *like)
{
	size_t n = m->n_value < r->events.n ? m->n_value : r->events.n;
	struct sample s = *like;

	r->n_short += m->n_value != r->events.n;
	for (size_t i = 0; i < n; i++) {
		const struct value_event *v = &r->events.at[i];

		if (m->value[i] == 0)
			continue;
		s.event = v->id;
		if (__builtin_mul_overflow(m->value[i], v->each, &s.weight) ||
		    build_sample(r->p, &s) == -ERANGE)
			r->n_large++;
	}
}

static void add_sample(struct reader *r, const Pprof__Sample *m)
{
	struct sample s = { .cpu = CPU_NONE, .time_ns = r->time_ns };

	s.thread = r->parts.same_labels ? pprof_labels_same(r->labels)
					: pprof_labels_thread(r->labels, m);
	s.stack = pprof_stack(r->stacks, m->location_id, m->n_location_id, r->parts.n_shared);
	add_values(r, m, &s);
	if (r->heap)
		pprof_heap_add(r->heap, s.stack, s.thread, m->value, m->n_value);
	r->n_samples++;
}

static int read_samples(struct reader *r)
{
	struct bytes b = bytes_over(r->file.bytes, r->t.n_good, false);
	struct proto_field f;
	uint64_t n = 0;
	int rc = 0;

	builder_begin(r->p);
	while (rc == 0 && proto_next(&b, &f)) {
		const Pprof__Sample *m;

		if (f.number != PPROF_SAMPLE || f.wire != PROTO_BYTES)
			continue;
		m = take_sample(&r->parts, &f, pprof_stacks_n_shared(r->stacks));
		if (m)
			add_sample(r, m);
		else
			r->n_odd++;
		if (++n % BATCH == 0) {
			rc = builder_end(r->p);
			builder_begin(r->p);
		}
		if (progress_cancelled(r->progress))
			rc = -ECANCELED;
	}
	if (builder_end(r->p) < 0 && rc == 0)
		rc = -EFBIG;
	return rc;
}

/* What `info` says. */

static void tell_text(struct reader *r, const char *name, int64_t index)
{
	struct pprof_string s = pprof_string(&r->t, index);

	if (s.n > 0)
		build_fact(r->p, r->capture, "file", name, FACT_PLAIN, "%.*s",
			   (int)(s.n < 4096 ? s.n : 4096), s.s);
}

static void tell_period(struct reader *r)
{
	struct pprof_string type = pprof_string(&r->t, r->t.period_type.type);
	struct pprof_string unit = pprof_string(&r->t, r->t.period_type.unit);

	/* a cut file may have no texts */
	if (r->t.period > 0 && type.n > 0 && type.n < 256 && unit.n > 0 && unit.n < 256)
		build_fact(r->p, r->capture, "file", "period", FACT_PLAIN,
			   "%" PRId64 " %.*s of %.*s", r->t.period, (int)unit.n, unit.s,
			   (int)type.n, type.s);
}

static void tell_times(struct reader *r)
{
	time_t at = (time_t)(r->t.time_ns / 1000000000);
	char text[FMT_SIZE];
	struct tm parts;

	if (r->t.time_ns > 0 && gmtime_r(&at, &parts) &&
	    strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S UTC", &parts))
		build_fact(r->p, r->capture, "file", "recorded", FACT_PLAIN, "%s", text);
	if (r->t.duration_ns > 0)
		build_fact(r->p, r->capture, "file", "duration", FACT_PLAIN, "%s",
			   fmt_ns(text, r->t.duration_ns));
	build_fact(r->p, r->capture, "file", "times", FACT_PLAIN,
		   "the format has none: each row is a stack with sums over the whole recording");
}

/* Build-ids of the mappings' files, by which their symbols are looked for. */
static void tell_modules(struct reader *r)
{
	for (size_t i = 0; i < r->t.mappings.n && i < 32; i++) {
		struct pprof_string path = pprof_string(&r->t, r->t.mappings.at[i].path),
				    id = pprof_string(&r->t, r->t.mappings.at[i].build_id);
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
	if (r->file.cut)
		build_fact(r->p, r->capture, "losses", "rest of the file", FACT_LOSS, "%s",
			   r->file.cut);
	else if (r->t.n_good < r->file.n)
		build_fact(
			r->p, r->capture, "losses", "rest of the file", FACT_LOSS,
			"%zu bytes at offset %zu are no field of a profile: the file is cut or damaged",
			r->file.n - r->t.n_good, r->t.n_good);
	if (r->t.n_odd > 0)
		build_fact(r->p, r->capture, "losses", "fields", FACT_LOSS,
			   "%" PRIu64 " cannot be unpacked, the first at offset %zu", r->t.n_odd,
			   r->t.first_odd);
	facts_loss(r->p, r->capture, "samples", r->n_odd, "sample", "cannot be unpacked");
	facts_loss(r->p, r->capture, "values", r->n_short, "sample",
		   "with another number of values than the file has types");
	facts_loss(r->p, r->capture, "sums", r->n_large, "value",
		   "left out, as the sum would be too large");
	facts_loss(r->p, r->capture, "locations", pprof_stacks_n_odd(r->stacks), "frame",
		   "of a location that is not in the file");
}

static void tell(struct reader *r)
{
	char text[FMT_SIZE];

	builder_begin(r->p);
	build_fact(r->p, r->capture, "file", "stacks", FACT_PLAIN, "%s",
		   fmt_count(text, (int64_t)r->n_samples));
	tell_period(r);
	tell_times(r);
	for (size_t i = 0; i < r->t.comments.n && i < 16; i++)
		tell_text(r, i == 0 ? "comment" : "more comments", r->t.comments.at[i]);
	tell_text(r, "documentation", r->t.doc_url);
	tell_text(r, "frames left out", r->t.drop);
	tell_modules(r);
	pprof_labels_tell(r->labels);
	if (r->heap)
		pprof_heap_tell(r->heap);
	tell_losses(r);
	builder_end(r->p);
}

/* Reading. */

static int begin(struct reader *r, const struct read_options *o, struct err *e)
{
	int rc = whole_input_read(&r->file, r->in, r->progress, e);

	if (rc)
		return rc;
	pprof_tables_read(&r->t, r->file.bytes, r->file.n);
	if (r->t.n_samples == 0)
		return err_set(e, -EBADMSG, "%s: is a pprof profile without a sample",
			       input_name(r->in));
	if (r->t.types.n == 0)
		return err_set(e, -EBADMSG, "%s: is a pprof profile that names no type of value",
			       input_name(r->in));
	builder_begin(r->p);
	r->heap = pprof_heap_new(r->p, r->capture, &r->t);
	make_events(r);
	r->stacks = pprof_stacks_new(r->p, r->capture, &r->t, o ? o->resolve : NULL);
	r->labels = pprof_labels_new(r->p, r->capture, &r->t);
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
	pprof_tables_done(&r.t);
	vec_done(&r.events);
	parts_done(&r.parts);
	whole_input_done(&r.file);
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
	.write = pprof_write,
};
