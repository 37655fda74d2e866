/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Samples are most of a file: they are taken apart without a tree of messages each. Those that follow each other mostly share their outer
 * frames, whose ids are then the same bytes at the end of their messages, and need not be looked at again.
 */
#include "config.h"

#include "formats/pprof/pprof_samples.h"

#include "formats/proto/proto_fields.h"

#include <stdlib.h>
#include <string.h>

#define SAMPLE_LOCATION 1 /* fields of a sample */
#define SAMPLE_VALUE    2
#define SAMPLE_LABEL    3

/* Of a sample: more take no part in memory. */
#define MOST_FRAMES ((size_t)1 << 22)

/* A message while it is read. */
struct message {
	struct proto_field packed; /* all location ids, where one field has them; else n is 0 */
	size_t n_id_fields;        /* fields of location ids so far */
	size_t first_value;        /* of `values` */
	struct bytes labels;
};

/* What locations say. */

static uint64_t mix(uint64_t a, uint64_t b)
{
	return hash_u64(a + b * UINT64_C(0x9e3779b97f4a7c15) + 1);
}

static uint64_t mix_text(const struct pprof_samples *s, uint64_t h, int64_t index)
{
	struct pprof_string text = pprof_string(s->t, index);

	return mix(h, text.n ? hash_bytes(text.s, text.n) : 0);
}

static uint64_t mix_mapping(const struct pprof_samples *s, uint64_t h,
			    const struct pprof_location *l)
{
	const struct pprof_mapping *m = pprof_mapping(s->t, l->mapping);

	if (!m)
		return mix(h, l->address);
	h = mix_text(s, mix_text(s, h, m->path), m->build_id);
	/* where a file is mapped differs from process to process */
	if (l->address >= m->start && l->address < m->limit)
		return mix(mix(h, 1), l->address - m->start + m->offset);
	return mix(mix(h, 2), l->address);
}

static uint64_t hash_location(const struct pprof_samples *s, const struct pprof_location *l)
{
	uint64_t h = mix_mapping(s, 1, l);

	for (uint32_t i = 0; i < l->n_lines; i++) {
		const struct pprof_line *line = &s->t->lines.at[l->first + i];
		const struct pprof_function *f = pprof_function(s->t, line->function);

		h = mix(mix(h, f != NULL), (uint64_t)line->line);
		if (!f)
			continue;
		h = mix_text(s, mix_text(s, mix_text(s, h, f->name), f->system_name), f->file);
		h = mix(h, (uint64_t)f->line);
	}
	return h;
}

/* Of what is nowhere, and of nothing else but by chance. */
#define HASH_NOWHERE 2

static void hash_locations(struct pprof_samples *s)
{
	size_t n = s->t->by_location.n ? s->t->by_location.n : s->t->locations.n;

	vec_clear(&s->location);
	vec_reserve(&s->location, n + 1);
	for (size_t i = 0; i < n; i++) {
		uint32_t at = s->t->by_location.n ? s->t->by_location.at[i] : (uint32_t)i;

		s->location.at[i] = at == UINT32_MAX ? HASH_NOWHERE
						     : hash_location(s, &s->t->locations.at[at]);
	}
	s->location.n = n;
}

/* Where ids are far apart, or none is so large. */
static uint64_t hash_of_far(const struct pprof_samples *s, uint64_t id)
{
	uint32_t at = pprof_location(s->t, id);

	return at == PPROF_NOWHERE ? HASH_NOWHERE : s->location.at[at];
}

static uint64_t hash_of(struct pprof_samples *s, uint64_t id)
{
	uint64_t h = id < s->t->by_location.n ? s->location.at[id]
		     : s->t->by_location.n    ? HASH_NOWHERE
					      : hash_of_far(s, id);

	s->n_nowhere += h == HASH_NOWHERE;
	return h;
}

/* Ids. */

/* Numbers packed into bytes, or one. */
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

static bool take_ids(struct pprof_samples *s, const struct proto_field *f)
{
	TAKE_NUMBERS(&s->taken, uint64_t, f);
	return true;
}

static bool take_values(struct pprof_samples *s, const struct proto_field *f)
{
	TAKE_NUMBERS(&s->values, int64_t, f);
	return true;
}
#undef TAKE_NUMBERS

/* A field of location ids. The only one of a sample is taken last, without what the last row has, too. */
static bool add_ids(struct pprof_samples *s, struct message *m, const struct proto_field *f)
{
	struct proto_field first = m->packed;

	m->packed = (struct proto_field){ 0 };
	if (m->n_id_fields++ == 0 && f->wire == PROTO_BYTES) {
		m->packed = *f;
		return true;
	}
	return (first.n == 0 || take_ids(s, &first)) && take_ids(s, f);
}

/* Ends a number k bytes before the end? All but a number's last byte are 0x80 or more. */
static bool ends_before(const uint8_t *end, size_t n, size_t k)
{
	return k == n || end[-1 - (ptrdiff_t)k] < 0x80;
}

/* How many bytes at the end of both are the same. */
static size_t same_bytes(const uint8_t *a, const uint8_t *b, size_t least)
{
	size_t k = 0;

	while (k + 8 <= least && memcmp(a - k - 8, b - k - 8, 8) == 0)
		k += 8;
	while (k < least && a[-1 - (ptrdiff_t)k] == b[-1 - (ptrdiff_t)k])
		k++;
	return k;
}

/* How many of the last k bytes before end are a number's last one. */
static size_t count_ends(const uint8_t *end, size_t k)
{
	size_t n = 0;

	for (size_t i = 1; i <= k; i++)
		n += end[-(ptrdiff_t)i] < 0x80;
	return n;
}

/* How many numbers at the end of f are those of the last row, and how many bytes they are. */
static size_t same_end(const struct proto_field *f, const struct bytes *last, size_t *n_bytes)
{
	const uint8_t *end = f->at + f->n;
	size_t n = bytes_left(last), k = 0;

	*n_bytes = 0;
	if (f->n == 0 || n == 0)
		return 0;
	k = same_bytes(end, last->end, f->n < n ? f->n : n);
	/* back to where a number begins in both */
	while (k > 0 && !(ends_before(end, f->n, k) && ends_before(last->end, n, k)))
		k--;
	*n_bytes = k;
	return count_ends(end, k);
}

/* Room for n more hashes before those that stay. */
static uint64_t *put_path(struct pprof_samples *s, size_t n_shared, size_t n)
{
	size_t want = n_shared + n;

	/* Also for none, so that the first path has a place. */
	if (want > s->n_room || !s->path) {
		size_t room = 2 * want + 64;
		uint64_t *path = xreallocarray(NULL, room, sizeof(*path));

		if (n_shared > 0)
			memcpy(path + room - n_shared, s->path + s->n_room - n_shared,
			       n_shared * sizeof(*path));
		free(s->path);
		s->path = path;
		s->n_room = room;
	}
	s->n_path = want;
	return s->path + s->n_room - want;
}

/* Packed ids, without those at the end that the last row has, too. */
static bool put_packed(struct pprof_samples *s, const struct proto_field *f)
{
	size_t n_bytes, n_shared = same_end(f, &s->ids, &n_bytes);
	size_t n = count_ends(f->at + f->n - n_bytes, f->n - n_bytes);
	struct bytes b = bytes_over(f->at, f->n - n_bytes, false);
	uint64_t *to;

	if (n_shared + n > MOST_FRAMES)
		return false;
	to = put_path(s, n_shared, n);
	for (size_t i = 0; i < n && !b.bad; i++)
		to[i] = hash_of(s, take_varint(&b));
	s->ids = bytes_over(f->at, f->n, false);
	return !b.bad && bytes_left(&b) == 0;
}

static bool put_taken(struct pprof_samples *s)
{
	uint64_t *to;

	if (s->taken.n > MOST_FRAMES)
		return false;
	to = put_path(s, 0, s->taken.n);
	for (size_t i = 0; i < s->taken.n; i++)
		to[i] = hash_of(s, s->taken.at[i]);
	s->ids = bytes_over(NULL, 0, false);
	return true;
}

/* Messages. */

/* Has a label nothing but numbers where its fields are? */
static bool is_label(const struct proto_field *f)
{
	struct bytes b = bytes_over(f->at, f->n, false);
	struct proto_field inner;

	while (f->wire == PROTO_BYTES && proto_next(&b, &inner))
		if (inner.number >= 1 && inner.number <= 4 && inner.wire != PROTO_VARINT)
			return false;
	return f->wire == PROTO_BYTES && !b.bad;
}

static bool take_fields(struct pprof_samples *s, struct message *m, struct bytes b)
{
	const uint8_t *from = b.at;
	struct proto_field f;

	for (; proto_next(&b, &f); from = b.at) {
		if (f.number == SAMPLE_LABEL) {
			if (!is_label(&f))
				return false;
			if (bytes_left(&m->labels) == 0)
				m->labels.at = from;
			m->labels.end = b.at;
		} else if ((f.number == SAMPLE_LOCATION && !add_ids(s, m, &f)) ||
			   (f.number == SAMPLE_VALUE && !take_values(s, &f))) {
			return false;
		}
	}
	return !b.bad && (m->packed.n > 0 ? put_packed(s, &m->packed) : put_taken(s));
}

static bool is_same(const struct bytes *a, const struct bytes *b)
{
	size_t n = bytes_left(a);

	return n > 0 && n == bytes_left(b) && memcmp(a->at, b->at, n) == 0;
}

static void take_sample(struct pprof_samples *s, const struct proto_field *f)
{
	struct message m = { .first_value = s->values.n, .labels = bytes_over(NULL, 0, false) };
	struct pprof_row row = { .message = f->at, .n_bytes = (uint32_t)f->n };

	vec_clear(&s->taken);
	if (f->n > UINT32_MAX || !take_fields(s, &m, bytes_over(f->at, f->n, false))) {
		s->values.n = m.first_value;
		s->ids = bytes_over(NULL, 0, false); /* no row has the path */
		s->n_odd++;
		return;
	}
	if (s->n_path > 0)
		row.stack = hash_bytes_128(s->path + s->n_room - s->n_path,
					   s->n_path * sizeof(*s->path));
	row.labels = m.labels.at;
	row.n_label_bytes = (uint32_t)bytes_left(&m.labels);
	row.same_labels = is_same(&m.labels, &s->labels);
	row.n_values = (uint32_t)(s->values.n - m.first_value);
	s->labels = m.labels;
	vec_push(&s->rows, row);
}

bool pprof_samples_next(struct pprof_samples *s, size_t most)
{
	struct proto_field f;

	vec_clear(&s->rows);
	vec_clear(&s->values);
	while (s->rows.n < most && proto_next(&s->rest, &f))
		if (f.number == PPROF_SAMPLE && f.wire == PROTO_BYTES)
			take_sample(s, &f);
	return s->rows.n > 0;
}

void pprof_row_frames(const struct pprof_tables *t, const struct pprof_row *row,
		      pprof_frames *frames)
{
	struct bytes b = bytes_over(row->message, row->n_bytes, false);
	struct proto_field f;

	vec_clear(frames);
	while (proto_next(&b, &f)) {
		struct bytes ids = bytes_over(f.at, f.n, false);

		if (f.number != SAMPLE_LOCATION)
			continue;
		if (f.wire == PROTO_VARINT)
			vec_push(frames, pprof_location(t, f.value));
		while (f.wire == PROTO_BYTES && bytes_left(&ids) > 0)
			vec_push(frames, pprof_location(t, take_varint(&ids)));
	}
}

void pprof_samples_begin(struct pprof_samples *s, const struct pprof_tables *t,
			 const uint8_t *bytes, size_t n)
{
	s->t = t;
	s->rest = bytes_over(bytes, n, false);
	s->ids = s->labels = bytes_over(NULL, 0, false);
	s->n_odd = s->n_nowhere = 0;
	s->n_path = 0;
	vec_clear(&s->rows);
	hash_locations(s);
}

void pprof_samples_done(struct pprof_samples *s)
{
	vec_done(&s->rows);
	vec_done(&s->values);
	vec_done(&s->taken);
	vec_done(&s->location);
	free(s->path);
}
