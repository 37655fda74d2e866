/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * OTLP profiles: how files of them are known, and which messages they have. A file is one message of ProfilesData, or messages one after the
 * other, each behind its length in 4 bytes, most significant first, as the collector's file exporter writes them; or JSON.
 */
#include "config.h"

#include "formats/otlp/otlp.h"

#include "base/err.h"
#include "base/mem.h"
#include "formats/facts.h"
#include "formats/json/json_stream.h"
#include "formats/otlp/otlp_build.h"
#include "formats/otlp/otlp_tables.h"
#include "formats/proto/proto_fields.h"
#include "input/input.h"
#include "input/whole_input.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The keys of JSON are within so many bytes. */
#define PEEK_BYTES ((size_t)64 << 10)

struct reader {
	struct profile *p;
	capture_id capture;
	struct otlp_tables t;
	struct otlp_builder *b;
	int rc;          /* of the builder */
	bool cut;        /* the bytes end within a message */
	size_t cut_at;   /* where it is damaged */
	const char *why; /* of damaged packed data, or NULL */
};

static bool add_message(void *arg)
{
	struct reader *r = arg;

	r->rc = otlp_build(r->b, &r->t);
	return r->rc == 0;
}

/* The message that begins at bytes has a length before it that fits, and begins as ProfilesData does. */
static size_t length_before(const uint8_t *bytes, size_t n)
{
	return n > 4 ? (size_t)bytes[0] << 24 | (size_t)bytes[1] << 16 | (size_t)bytes[2] << 8 |
			       bytes[3]
		     : 0;
}

/* 0x0a and 0x12: the fields of ProfilesData. */
static bool is_data(uint8_t first)
{
	return first == 0x0a || first == 0x12;
}

static void read_message(struct reader *r, const uint8_t *bytes, size_t n, size_t offset)
{
	size_t at;

	otlp_tables_clear(&r->t);
	if (!otlp_proto_read(&r->t, bytes, n, &at) && !r->cut) {
		r->cut = true;
		r->cut_at = offset + at;
	}
	add_message(r);
}

static void read_messages(struct reader *r, const struct whole_input *file)
{
	size_t at = 0;

	builder_begin(r->p);
	if (file->n > 0 && is_data(file->bytes[0]))
		read_message(r, file->bytes, file->n, 0);
	while (file->n > 0 && !is_data(file->bytes[0]) && at < file->n && r->rc == 0) {
		size_t n = length_before(file->bytes + at, file->n - at), left = file->n - at - 4;

		if (n == 0 || !is_data(file->bytes[at + 4])) {
			r->cut_at = r->cut ? r->cut_at : at;
			r->cut = true;
			break;
		}
		read_message(r, file->bytes + at + 4, n < left ? n : left, at + 4);
		if (n > left)
			r->cut = true;
		at += 4 + (n < left ? n : left);
	}
	if (builder_end(r->p) < 0 && r->rc == 0)
		r->rc = -EFBIG;
}

static int refuse(const struct reader *r, const struct input *in, const struct json_end *end,
		  struct err *e)
{
	if (r->cut)
		return err_set(
			e, -EBADMSG,
			"%s: is an OTLP profile that breaks off at offset %zu, before its first sample",
			input_name(in), r->cut_at);
	if (otlp_builder_n_old(r->b) > 0)
		return err_set(
			e, -EBADMSG,
			"%s: is an OTLP profile of a layout before opentelemetry-proto 1.8, which has no table of stacks: record it with a newer collector, or as pprof",
			input_name(in));
	return facts_refuse_json(end, in, "is an OTLP profile", e);
}

static int finish(struct reader *r, struct input *in, const struct json_end *end, int rc,
		  struct err *e)
{
	if (rc == 0)
		rc = r->rc;
	if (rc == 0 && otlp_builder_n_rows(r->b) == 0)
		return refuse(r, in, end, e);
	if (rc == -EFBIG)
		err_set(e, rc, "%s: has more than a profile can hold", input_name(in));
	if (rc == -ECANCELED)
		return err_set(e, rc, "%s: reading was stopped", input_name(in));
	if (rc < 0 && rc != -EFBIG)
		return rc;
	builder_begin(r->p);
	otlp_builder_tell(r->b);
	facts_json_end(r->p, r->capture, end);
	if (r->why)
		build_fact(r->p, r->capture, "losses", "rest of the file", FACT_LOSS, "%s", r->why);
	else if (r->cut)
		build_fact(r->p, r->capture, "losses", "rest of the file", FACT_LOSS,
			   "breaks off at offset %zu", r->cut_at);
	builder_end(r->p);
	return rc;
}

static bool is_json(const uint8_t *bytes, size_t n)
{
	return json_has_key(bytes, n, "resourceProfiles") || json_has_key(bytes, n, "dictionary");
}

/* A tag of protobuf is a newline, so that the first byte does not tell. */
static bool is_json_input(struct input *in, struct err *e)
{
	const uint8_t *bytes;
	size_t n;

	return input_peek(in, PEEK_BYTES, &bytes, &n, e) >= 0 && is_json(bytes, n);
}

static int read_otlp(struct input *in, struct profile *p, capture_id c,
		     const struct read_options *o, struct progress *progress, struct err *e)
{
	struct reader r = { .p = p, .capture = c, .t = { .p = p } };
	struct whole_input file = { 0 };
	struct json_end end = { 0 };
	int rc;

	r.b = otlp_builder_new(p, c, o ? o->root_names : ROOT_COMM, progress);
	if (is_json_input(in, e)) {
		rc = otlp_json_read(&r.t, in, add_message, &r, &end, progress, e);
	} else {
		rc = whole_input_read(&file, in, progress, e);
		r.why = file.cut;
		if (rc == 0)
			read_messages(&r, &file);
	}
	rc = finish(&r, in, &end, rc, e);
	otlp_builder_free(r.b);
	otlp_tables_done(&r.t);
	whole_input_done(&file);
	free(end.why);
	return rc;
}

/* Recognising. */

/* Are all bytes fields, the last perhaps cut, of these numbers, and all messages? */
static bool has_fields(const uint8_t *bytes, size_t n, uint32_t most, struct proto_field *first)
{
	struct bytes b = bytes_over(bytes, n, false);
	struct proto_field f;
	bool any = false;

	while (proto_next(&b, &f)) {
		if (f.number > most || f.wire != PROTO_BYTES)
			return false;
		if (!any)
			*first = f;
		any = true;
	}
	return any;
}

/* The tag and the length of the first field, whose bytes need not all be there. */
static size_t inside(const uint8_t *bytes, size_t n, uint8_t tag, size_t *left)
{
	struct bytes b = bytes_over(bytes, n, false);
	uint64_t length;

	if (take_u8(&b) != tag)
		return 0;
	length = take_varint(&b);
	if (b.bad || length < 2)
		return 0;
	*left = bytes_left(&b) < length ? bytes_left(&b) : (size_t)length;
	return (size_t)(b.at - bytes);
}

/*
 * ProfilesData is ResourceProfiles (0x0a) with a Resource (0x0a) or ScopeProfiles (0x12), whose first field is again a message; or its
 * dictionary (0x12) comes first, of which any table may be the first: the collector writes fields from the last to the first. A profile of
 * pprof begins with a message of two numbers.
 */
static bool begins_data(const uint8_t *bytes, size_t n)
{
	struct proto_field f = { 0 };
	size_t left, at = inside(bytes, n, 0x0a, &left), deeper;

	if (at == 0) {
		at = inside(bytes, n, 0x12, &left);
		return at > 0 && left >= 2 && has_fields(bytes + at, left, 7, &f);
	}
	/* a resource may be empty */
	if (left >= 2 && bytes[at] == 0x0a && bytes[at + 1] == 0) {
		at += 2;
		left -= 2;
	}
	if (left < 2)
		return false;
	if (bytes[at] == 0x12)
		return inside(bytes + at, left, 0x12, &deeper) > 0 &&
		       has_fields(bytes + at, left, 3, &f) | (deeper + 8 >= left);
	/* Resource.attributes[0].key is a text */
	deeper = inside(bytes + at, left, 0x0a, &left);
	if (deeper == 0 || left < 4 || bytes[at + deeper] != 0x0a)
		return false;
	at += deeper;
	deeper = inside(bytes + at, left, 0x0a, &left);
	return deeper > 0 && left >= 2 && bytes[at + deeper] == 0x0a;
}

static int probe(const uint8_t *bytes, size_t n)
{
	size_t length;

	if (is_json(bytes, n))
		return memmem(bytes, n, "\"resourceProfiles\"", 18) ||
				       memmem(bytes, n, "\"stringTable\"", 13)
			       ? FORMAT_SURE + 10
			       : 0;
	if (n > 4 && begins_data(bytes, n))
		return FORMAT_SURE + 5;
	length = length_before(bytes, n);
	return n > 8 && length > 4 && begins_data(bytes + 4, length < n - 4 ? length : n - 4)
		       ? FORMAT_SURE + 5
		       : 0;
}

const struct format format_otlp = {
	.name = "otlp",
	.title = "OpenTelemetry profiles (OTLP files of the collector, protobuf and JSON)",
	.probe = probe,
	.read = read_otlp,
};
