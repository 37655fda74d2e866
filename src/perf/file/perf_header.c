/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The head and the tail of a perf.data.
 *
 * Every offset and size is checked against the file and capped before anything is allocated. What is
 * damaged in the features is counted and left out: the samples do not depend on it.
 */
#include "config.h"

#include "perf/file/perf_header.h"

#include "base/err.h"
#include "base/path.h"
#include "input/input.h"
#include "perf/records/perf_events.h"
#include "symbols/resolver.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define HEADER_BYTES      104 /* with the feature map */
#define PIPE_HEADER_BYTES 16
#define SECTION_BYTES_MAX ((uint64_t)16 << 20) /* of a feature, or of all attrs */
#define ATTRS_MAX         4096                 /* events of a file */
#define ATTR_BYTES_MIN    64                   /* the first version */
#define ATTR_BYTES_MAX    4096
#define STRINGS_MAX       65536 /* of a command line */

#define EVENT_UPDATE_NAME 2 /* what an EVENT_UPDATE record brings */

static const char magic[8] = "PERFILE2", magic_swapped[8] = "2ELIFREP";
/* Of perf before Linux 3.6, in the same order of bytes on every machine. */
static const char magic_v1[8] = "PERFFILE";

/* A length and that many bytes, padded with NULs. */
static char *take_string(struct bytes *b)
{
	size_t len;
	const char *s = take_text(b, take_u32(b), &len);

	return b->bad ? NULL : xstrndup(s, len);
}

static void set_text(char **to, struct bytes *b)
{
	char *s = take_string(b);

	if (!s)
		return;
	free(*to);
	*to = s;
}

static void take_command_line(struct perf_header *h, struct bytes *b)
{
	uint32_t n = take_u32(b);
	VEC(char) line = { 0 };

	for (uint32_t i = 0; i < n && i < STRINGS_MAX && !b->bad; i++) {
		size_t len;
		const char *s = take_text(b, take_u32(b), &len);

		vec_reserve(&line, line.n + len + 2);
		if (i > 0)
			line.at[line.n++] = ' ';
		if (len > 0)
			memcpy(line.at + line.n, s, len);
		line.n += len;
	}
	if (line.n > 0) {
		free(h->command_line);
		h->command_line = xstrndup(line.at, line.n);
	}
	vec_done(&line);
}

static void forget_descriptions(struct perf_header *h)
{
	for (size_t i = 0; i < h->described.n; i++) {
		free(h->described.at[i].name);
		vec_done(&h->described.at[i].ids);
	}
	vec_clear(&h->described);
}

static void take_descriptions(struct perf_header *h, struct bytes *b)
{
	uint32_t n = take_u32(b), attr_bytes = take_u32(b);

	forget_descriptions(h);
	for (uint32_t i = 0; i < n && i < ATTRS_MAX; i++) {
		struct perf_description d = { 0 };
		uint32_t n_ids;

		if (!perf_attr_decode(b, attr_bytes, &d.attr)) {
			b->bad = true;
			return;
		}
		n_ids = take_u32(b);
		d.name = take_string(b);
		if (n_ids > bytes_left(b) / sizeof(uint64_t))
			b->bad = true;
		for (uint32_t k = 0; k < n_ids && !b->bad; k++)
			vec_push(&d.ids, take_u64(b));
		vec_push(&h->described, d);
		if (b->bad)
			return;
	}
}

static void take_compression(struct perf_header *h, struct bytes *b)
{
	take_u32(b); /* version */
	take_u32(b); /* kind: 1, zstd */
	h->zstd_level = take_u32(b);
	take_u32(b); /* ratio */
	h->packed_max = take_u32(b);
}

static void take_clock(struct perf_header *h, struct bytes *b)
{
	take_u32(b); /* version */
	take_u32(b); /* clock id */
	h->wall_ns = take_u64(b);
	h->clock_ns = take_u64(b);
}

static void take_time_conversion(struct perf_header *h, struct bytes *b)
{
	uint64_t shift = take_u64(b), mult = take_u64(b), zero = take_u64(b);

	if (b->bad || shift >= 64)
		return;
	h->cpu_shift = shift;
	h->cpu_mult = mult;
	h->cpu_zero = zero;
}

/* What a kind of counters can do, as names and values. */
static void take_capabilities(struct perf_header *h, struct bytes *b)
{
	uint32_t n = take_u32(b);

	for (uint32_t i = 0; i < n && !b->bad; i++) {
		uint32_t name_n = take_u32(b);
		const uint8_t *name = take_bytes(b, name_n);
		uint32_t value_n = take_u32(b), depth = 0;
		const uint8_t *value = take_bytes(b, value_n);

		if (b->bad || name_n < 9 || memcmp(name, "branches", 9) != 0)
			continue;
		for (size_t k = 0; k < value_n && k < 6 && value[k] >= '0' && value[k] <= '9'; k++)
			depth = depth * 10 + (uint32_t)(value[k] - '0');
		/* The cores of a cpu may differ: what fills the larger ones is surely cut. */
		h->branch_depth = depth > h->branch_depth ? depth : h->branch_depth;
	}
}

/* The same of several kinds, as cpus with two kinds of cores have. */
static void take_all_capabilities(struct perf_header *h, struct bytes *b)
{
	uint32_t n = take_u32(b);

	for (uint32_t i = 0; i < n && !b->bad; i++) {
		take_capabilities(h, b);
		take_bytes(b, take_u32(b)); /* whose they are */
	}
}

static bool is_known_feature(uint64_t feature)
{
	return feature <= PERF_FEATURE_LAST ||
	       (feature >= PERF_FEATURE_SIMPLEPERF && feature <= PERF_FEATURE_SIMPLEPERF_LAST);
}

/* Features that nobody here asks for are not even read. */
static bool is_wanted_feature(uint32_t feature)
{
	return (feature >= PERF_FEATURE_TRACING_DATA && feature <= PERF_FEATURE_CPUDESC) ||
	       (feature >= PERF_FEATURE_TOTAL_MEM && feature <= PERF_FEATURE_EVENT_DESC) ||
	       feature == PERF_FEATURE_SIMPLEPERF || feature == PERF_FEATURE_SIMPLEPERF_FILE2 ||
	       feature == PERF_FEATURE_BPF_PROG_INFO || feature == PERF_FEATURE_BPF_BTF ||
	       feature == PERF_FEATURE_CPU_PMU_CAPS || feature == PERF_FEATURE_PMU_CAPS ||
	       feature == PERF_FEATURE_COMPRESSED || feature == PERF_FEATURE_CLOCK_DATA;
}

void perf_header_tracing(struct perf_header *h, const void *bytes, size_t n)
{
	if (n == 0 || h->tracing.n > 0)
		return;
	vec_reserve(&h->tracing, n);
	memcpy(h->tracing.at, bytes, n);
	h->tracing.n = n;
}

/* simpleperf has it inside a record. */
static void take_tracing_record(struct perf_header *h, struct bytes *b)
{
	uint32_t n = take_u32(b);
	const uint8_t *at = bytes_left(b) > 0 ? take_bytes(b, n) : NULL;

	if (at)
		perf_header_tracing(h, at, n);
}

/* A copy of what is left, in place of what was there. */
#define KEEP(vec, b) \
	do { \
		size_t keep_n = bytes_left(b); \
		vec_clear(vec); \
		vec_reserve(vec, keep_n); \
		(vec)->n = keep_n; \
		if (keep_n > 0) \
			memcpy((vec)->at, (b)->at, keep_n); \
	} while (0)

/* What the machine was; false when the feature says nothing of that. */
static bool take_machine(struct perf_header *h, uint64_t feature, struct bytes *b)
{
	switch (feature) {
	case PERF_FEATURE_HOSTNAME:
		set_text(&h->hostname, b);
		return true;
	case PERF_FEATURE_OSRELEASE:
		set_text(&h->os_release, b);
		return true;
	case PERF_FEATURE_VERSION:
		set_text(&h->version, b);
		return true;
	case PERF_FEATURE_ARCH:
		set_text(&h->arch, b);
		return true;
	case PERF_FEATURE_NRCPUS:
		h->n_cpus = take_u32(b);
		return true;
	case PERF_FEATURE_CPUDESC:
		set_text(&h->cpu, b);
		return true;
	case PERF_FEATURE_TOTAL_MEM:
		h->memory_bytes = take_u64(b) * 1024;
		return true;
	default:
		return false;
	}
}

static void take_feature(struct perf_header *h, uint64_t feature, struct bytes b)
{
	switch (feature) {
	case PERF_FEATURE_TRACING_DATA:
		perf_header_tracing(h, b.at, bytes_left(&b));
		break;
	case PERF_FEATURE_BUILD_ID:
		KEEP(&h->build_ids, &b);
		break;
	case PERF_FEATURE_SIMPLEPERF:
	case PERF_FEATURE_SIMPLEPERF_FILE2:
		KEEP(&h->files[feature == PERF_FEATURE_SIMPLEPERF_FILE2], &b);
		break;
	case PERF_FEATURE_BPF_PROG_INFO:
	case PERF_FEATURE_BPF_BTF:
		KEEP(&h->bpf[feature == PERF_FEATURE_BPF_BTF], &b);
		break;
	case PERF_FEATURE_CMDLINE:
		take_command_line(h, &b);
		break;
	case PERF_FEATURE_EVENT_DESC:
		take_descriptions(h, &b);
		break;
	case PERF_FEATURE_COMPRESSED:
		take_compression(h, &b);
		break;
	case PERF_FEATURE_CPU_PMU_CAPS:
		take_capabilities(h, &b);
		break;
	case PERF_FEATURE_PMU_CAPS:
		take_all_capabilities(h, &b);
		break;
	case PERF_FEATURE_CLOCK_DATA:
		take_clock(h, &b);
		break;
	default:
		h->n_features_unknown += !take_machine(h, feature, &b) &&
					 !is_known_feature(feature);
		break;
	}
	h->n_features_damaged += b.bad;
}

static bool is_inside(const struct perf_header *h, const struct perf_section *s)
{
	return s->offset <= h->file_bytes && s->size <= h->file_bytes - s->offset;
}

/* The section's bytes, which the caller frees; NULL when they are not all there or too many. */
static uint8_t *read_section(struct input *in, const struct perf_header *h,
			     const struct perf_section *s)
{
	uint8_t *bytes;

	if (!is_inside(h, s) || s->size > SECTION_BYTES_MAX || s->size == 0)
		return NULL;
	bytes = xmalloc(s->size);
	if (input_pread(in, bytes, s->size, s->offset, NULL) == (ssize_t)s->size)
		return bytes;
	free(bytes);
	return NULL;
}

static void read_feature(struct input *in, struct perf_header *h, uint32_t feature,
			 const struct perf_section *s)
{
	uint8_t *bytes;

	if (!is_wanted_feature(feature)) {
		h->n_features_unknown += !is_known_feature(feature);
		return;
	}
	/* Nothing to say, as old perfs wrote it. */
	if (s->size == 0 && is_inside(h, s))
		return;
	bytes = read_section(in, h, s);
	if (bytes)
		take_feature(h, feature, bytes_over(bytes, s->size, h->swap));
	else
		h->n_features_damaged++;
	free(bytes);
}

/* Behind the records: one section for each bit of the map. */
static void read_features(struct input *in, struct perf_header *h)
{
	uint64_t at = h->data.offset + h->data.size;

	if (h->no_data_size || h->n_missing > 0)
		return;
	for (uint32_t feature = 0; feature < 256; feature++) {
		struct perf_section s, entry = { .offset = at, .size = 16 };
		uint8_t *bytes;
		struct bytes b;

		if (!(h->features[feature / 64] >> (feature % 64) & 1))
			continue;
		at += 16;
		bytes = read_section(in, h, &entry);
		if (!bytes) {
			h->n_features_damaged++;
			continue;
		}
		b = bytes_over(bytes, 16, h->swap);
		s.offset = take_u64(&b);
		s.size = take_u64(&b);
		free(bytes);
		read_feature(in, h, feature, &s);
	}
}

/*
 * Bytes from one attr to the next: as the header says, or, when that cannot be, as the first attr's
 * own size says (behind each attr stands a section of ids). 0 when neither fits.
 */
static uint64_t attr_stride(struct perf_header *h, const uint8_t *first)
{
	struct bytes b = bytes_over(first + 4, 4, h->swap);
	uint64_t own = take_u32(&b);

	if (h->attr_bytes >= ATTR_BYTES_MIN + 16 && h->attr_bytes <= ATTR_BYTES_MAX &&
	    h->attrs.size >= h->attr_bytes)
		return h->attr_bytes;
	own = (own ? own : ATTR_BYTES_MIN) + 16;
	h->attrs_guessed = true;
	return own >= ATTR_BYTES_MIN + 16 && own <= h->attrs.size ? own : 0;
}

/* Ids are read piece by piece: a hostile section may be as large as the file. */
static void read_ids(struct input *in, struct perf_header *h, const struct perf_section *s,
		     struct perf_events *events, uint32_t event)
{
	uint8_t piece[512 * sizeof(uint64_t)];
	uint64_t at = 0, size = s->size & ~UINT64_C(7);

	if (!is_inside(h, s)) {
		h->attrs_guessed = true;
		return;
	}
	while (at < size && events->ids.n < PERF_IDS_MAX) {
		size_t want = size - at < sizeof(piece) ? (size_t)(size - at) : sizeof(piece);
		struct bytes b = bytes_over(piece, want, h->swap);

		if (input_pread(in, piece, want, s->offset + at, NULL) != (ssize_t)want)
			return;
		while (bytes_left(&b) > 0)
			perf_events_add_id(events, event, take_u64(&b));
		at += want;
	}
}

static void read_attrs(struct input *in, struct perf_header *h, struct perf_events *events)
{
	uint8_t *bytes = h->attrs.size >= ATTR_BYTES_MIN + 16 ? read_section(in, h, &h->attrs)
							      : NULL;
	uint64_t stride = bytes ? attr_stride(h, bytes) : 0;
	struct bytes b = bytes_over(bytes, stride ? h->attrs.size : 0, h->swap);

	while (stride > 0 && bytes_left(&b) >= stride && events->all.n < ATTRS_MAX) {
		struct perf_section ids;
		struct perf_attr a;
		uint32_t event;

		if (!perf_attr_decode(&b, stride - 16, &a))
			break;
		ids.offset = take_u64(&b);
		ids.size = take_u64(&b);
		event = perf_events_add(events, &a, NULL);
		read_ids(in, h, &ids, events, event);
	}
	free(bytes);
}

static void take_header(struct perf_header *h, struct bytes *b)
{
	h->attr_bytes = take_u64(b);
	h->attrs.offset = take_u64(b);
	h->attrs.size = take_u64(b);
	h->data.offset = take_u64(b);
	h->data.size = take_u64(b);
	take_u64(b); /* event types: an old table of names */
	take_u64(b);
	for (size_t i = 0; i < 4; i++)
		h->features[i] = take_u64(b);
}

/* Makes the data section end where the file does. */
static int clip_data(struct input *in, struct perf_header *h, struct err *e)
{
	uint64_t left;

	if (h->data.offset > h->file_bytes)
		return err_set(e, -EBADMSG,
			       "%s: its records begin at offset %" PRIu64
			       ", behind the end of the file (%" PRIu64 " bytes)",
			       input_name(in), h->data.offset, h->file_bytes);
	left = h->file_bytes - h->data.offset;
	h->no_data_size = h->data.size == 0 && left > 0;
	if (h->no_data_size)
		h->data.size = left;
	if (h->data.size > left) {
		h->n_missing = h->data.size - left;
		h->data.size = left;
	}
	return 0;
}

static void add_attr_record(struct perf_header *h, const struct perf_record *r,
			    struct perf_events *events)
{
	struct bytes b = perf_record_body(r), size = b;
	struct perf_attr a;
	uint32_t event;
	size_t n;

	take_u32(&size);
	n = take_u32(&size);
	n = n ? n : ATTR_BYTES_MIN;
	if (n > bytes_left(&b)) {
		n = bytes_left(&b);
		h->attrs_guessed = true;
	}
	if (events->all.n >= ATTRS_MAX || !perf_attr_decode(&b, n, &a))
		return;
	event = perf_events_add(events, &a, NULL);
	while (bytes_left(&b) >= sizeof(uint64_t))
		perf_events_add_id(events, event, take_u64(&b));
}

void perf_header_done(struct perf_header *h)
{
	free(h->hostname);
	free(h->os_release);
	free(h->version);
	free(h->arch);
	free(h->cpu);
	free(h->command_line);
	forget_descriptions(h);
	vec_done(&h->described);
	vec_done(&h->build_ids);
	vec_done(&h->tracing);
	vec_done(&h->files[0]);
	vec_done(&h->files[1]);
	vec_done(&h->bpf[0]);
	vec_done(&h->bpf[1]);
}

/* Version 1 tells the byte order by the size of its header only. */
static bool is_swapped(const uint8_t bytes[HEADER_BYTES])
{
	const char *ours = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? magic : magic_swapped;
	struct bytes b = bytes_over(bytes + 8, 8, false);

	if (memcmp(bytes, magic_v1, 8) == 0)
		return take_u64(&b) > UINT32_MAX;
	return memcmp(bytes, ours, 8) != 0;
}

int perf_header_read(struct input *in, struct perf_header *h, struct err *e)
{
	uint8_t bytes[HEADER_BYTES] = { 0 };
	const uint8_t *peeked;
	struct bytes b;
	uint64_t size;
	size_t n;
	int rc = input_peek(in, sizeof(bytes), &peeked, &n, e);

	if (rc < 0)
		return rc;
	memcpy(bytes, peeked, n < sizeof(bytes) ? n : sizeof(bytes));
	h->swap = is_swapped(bytes);
	b = bytes_over(bytes + 8, sizeof(bytes) - 8, h->swap);
	size = take_u64(&b);
	h->pipe = size == PIPE_HEADER_BYTES;
	if (n < (h->pipe ? PIPE_HEADER_BYTES : HEADER_BYTES))
		return err_set(e, -EBADMSG, "%s: ends inside its header, after %zu bytes",
			       input_name(in), n);
	if (h->pipe)
		return input_read_full(in, bytes, PIPE_HEADER_BYTES, e) < 0 ? -EIO : 0;
	take_header(h, &b);
	if (size < HEADER_BYTES)
		memset(h->features, 0, sizeof(h->features));
	return 0;
}

void perf_header_again(struct input *in, struct perf_header *h)
{
	uint8_t bytes[HEADER_BYTES] = { 0 };
	struct bytes b = bytes_over(bytes + 16, sizeof(bytes) - 16, h->swap);

	if (input_pread(in, bytes, sizeof(bytes), 0, NULL) == (ssize_t)sizeof(bytes))
		take_header(h, &b);
}

uint64_t perf_header_end_of_data(struct input *in, const struct perf_header *h)
{
	struct perf_header now = { .swap = h->swap };

	perf_header_again(in, &now);
	return now.data.size > 0 ? now.data.offset + now.data.size : 0;
}

int perf_header_read_sections(struct input *in, struct perf_header *h, struct perf_events *events,
			      struct err *e)
{
	int rc;

	h->growing = input_follows(in);
	h->file_bytes = input_file_bytes(in);
	rc = h->growing ? 0 : clip_data(in, h, e);
	if (rc < 0)
		return rc;
	if (!h->growing)
		read_features(in, h);
	read_attrs(in, h, events);
	perf_header_describe(h, events);
	if (events->all.n > 0)
		return 0;
	return err_set(e, -EBADMSG,
		       "%s: no event is described: its attr section (%" PRIu64
		       " bytes at offset %" PRIu64 ") is not in the file (%" PRIu64
		       " bytes) or not readable",
		       input_name(in), h->attrs.size, h->attrs.offset, h->file_bytes);
}

void perf_header_record(struct perf_header *h, const struct perf_record *r,
			struct perf_events *events)
{
	struct bytes b = perf_record_body(r);
	uint64_t what, id;
	const char *name;
	size_t len;

	switch (r->type) {
	case PERF_REC_HEADER_ATTR:
		/* A file has its attrs already. */
		if (h->pipe)
			add_attr_record(h, r, events);
		break;
	case PERF_REC_EVENT_UPDATE:
		what = take_u64(&b);
		id = take_u64(&b);
		name = take_text(&b, bytes_left(&b), &len);
		if (!b.bad && what == EVENT_UPDATE_NAME)
			perf_events_rename(events, id, name, len);
		break;
	case PERF_REC_HEADER_TRACING_DATA:
	case PERF_REC_SIMPLEPERF_TRACING:
		take_tracing_record(h, &b);
		break;
	case PERF_REC_TIME_CONV:
		take_time_conversion(h, &b);
		break;
	case PERF_REC_HEADER_FEATURE:
		what = take_u64(&b);
		take_feature(h, b.bad ? 0 : what, b);
		break;
	default:
		break;
	}
}

void perf_header_describe(struct perf_header *h, struct perf_events *events)
{
	bool without_attrs = events->all.n == 0;

	for (size_t i = 0; i < h->described.n; i++) {
		const struct perf_description *d = &h->described.at[i];

		if (without_attrs) {
			uint32_t event = perf_events_add(events, &d->attr, d->name);

			h->attrs_guessed = true;
			for (size_t k = 0; k < d->ids.n; k++)
				perf_events_add_id(events, event, d->ids.at[k]);
		} else if (i < events->all.n && !events->all.at[i].name && d->name) {
			events->all.at[i].name = xstrdup(d->name);
		}
	}
}

void perf_header_tell_build_id(const struct perf_build_id *id, struct resolver *r)
{
	char *path = xstrndup(id->path, id->path_len);
	const char *name = path_last_part(path);
	struct build_id b = { .n = id->n_build_id };

	memcpy(b.bytes, id->build_id, id->n_build_id);
	/* Kernel code is the kernel itself or a module ([name], name.ko). */
	resolver_build_id(r, path, &b,
			  id->kernel && (strncmp(name, "[kernel", 7) == 0 ||
					 strncmp(name, "vmlinux", 7) == 0));
	free(path);
}

void perf_header_tell_build_ids(const struct perf_header *h, struct resolver *r)
{
	size_t at = 0;

	while (h->build_ids.n - at >= PERF_RECORD_HEADER_BYTES) {
		struct perf_record record;
		struct perf_build_id id;
		uint64_t size = perf_record_at(h->build_ids.at + at, h->swap, &record);

		if (size == 0 || size > h->build_ids.n - at)
			return;
		if (perf_build_id_decode(&record, &id))
			perf_header_tell_build_id(&id, r);
		at += size;
	}
}
