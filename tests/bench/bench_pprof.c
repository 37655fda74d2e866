/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Many pprof files of one program, as a fleet's machines write them, out of one real file.
 *
 * bench_pprof FILE DIRECTORY N [BYTES]
 *
 * FILE is a pprof profile, packed by gzip as Go writes it. DIRECTORY gets N files of BYTES each before packing (1 MB).
 * Each numbers the locations in an order of its own. Stacks are walks over the file's calls: where two real stacks
 * meet in a location, one may go on as the other does. A file has about two thirds of a common pool of stacks.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include <profile.pb-c.h>

#include "base/bytes.h"
#include "formats/proto/proto_fields.h"

#define SAMPLE      2 /* fields of profile.proto */
#define LOCATION    4
#define MOST_FRAMES 256
#define MOST_BYTES  ((size_t)64 << 20)
#define TURN        12 /* a step in so many goes on as another stack does */

/* A frame of a real stack. */
struct place {
	uint32_t sample, at;
};

struct walk {
	uint32_t n;
	uint32_t frames[MOST_FRAMES]; /* indexes of locations, innermost first */
};

struct fleet {
	uint8_t *bytes;         /* of the real file, unpacked */
	Pprof__Sample **sample; /* [n_samples] */
	size_t n_samples;
	Pprof__Location **location; /* [n_locations] */
	size_t n_locations;
	uint8_t *rest; /* its other fields, as they stand there */
	size_t n_rest;
	struct place *places; /* of all frames, by location */
	uint32_t *first;      /* [n_locations + 1] where those of a location begin in places */
	struct walk *pool;    /* [n_pool] */
	size_t n_pool;
	uint64_t seed;
};

/* A file that is being made. */
struct out {
	uint8_t *bytes; /* [MOST_BYTES] */
	size_t n;
};

static _Noreturn void die(const char *what)
{
	perror(what);
	exit(1);
}

static void *allocate(size_t n, size_t each)
{
	void *p = calloc(n + 1, each);

	if (!p)
		die("memory");
	return p;
}

static uint32_t below(struct fleet *f, uint32_t n)
{
	f->seed ^= f->seed << 13;
	f->seed ^= f->seed >> 7;
	f->seed ^= f->seed << 17;
	return (uint32_t)(f->seed >> 32) % n;
}

static void read_fields(struct fleet *f, size_t n)
{
	struct bytes b = bytes_over(f->bytes, n, false);
	const uint8_t *from = b.at;
	struct proto_field field;

	f->sample = allocate(n, sizeof(*f->sample));
	f->location = allocate(n, sizeof(*f->location));
	f->rest = allocate(n, 1);
	for (; proto_next(&b, &field); from = b.at) {
		if (field.number == SAMPLE) {
			f->sample[f->n_samples++] = pprof__sample__unpack(NULL, field.n, field.at);
		} else if (field.number == LOCATION) {
			f->location[f->n_locations++] = pprof__location__unpack(NULL, field.n,
										field.at);
		} else {
			memcpy(f->rest + f->n_rest, from, (size_t)(b.at - from));
			f->n_rest += (size_t)(b.at - from);
		}
	}
}

static void read_profile(struct fleet *f, const char *path)
{
	gzFile file = gzopen(path, "rb");
	int n;

	f->bytes = allocate(MOST_BYTES, 1);
	if (!file || (n = gzread(file, f->bytes, MOST_BYTES)) < 0)
		die(path);
	gzclose(file);
	read_fields(f, (size_t)n);
	if (f->n_samples == 0 || f->n_locations == 0) {
		fprintf(stderr, "%s: no pprof profile with samples\n", path);
		exit(1);
	}
}

/* Go numbers locations from 1 on, in their order. */
static uint32_t index_of(const struct fleet *f, uint64_t id)
{
	if (id == 0 || id > f->n_locations || f->location[id - 1]->id != id) {
		fprintf(stderr, "locations are not numbered as Go does\n");
		exit(1);
	}
	return (uint32_t)id - 1;
}

static void index_places(struct fleet *f)
{
	size_t n_frames = 0;

	f->first = allocate(f->n_locations + 2, sizeof(*f->first));
	for (size_t i = 0; i < f->n_samples; i++)
		for (size_t k = 0; k < f->sample[i]->n_location_id; k++, n_frames++)
			f->first[index_of(f, f->sample[i]->location_id[k]) + 2]++;
	for (size_t i = 2; i < f->n_locations + 2; i++)
		f->first[i] += f->first[i - 1];
	f->places = allocate(n_frames, sizeof(*f->places));
	for (uint32_t i = 0; i < f->n_samples; i++)
		for (uint32_t k = 0; k < f->sample[i]->n_location_id; k++) {
			uint32_t l = index_of(f, f->sample[i]->location_id[k]);

			f->places[f->first[l + 1]++] = (struct place){ i, k };
		}
}

/* From a root inwards, to the end of some real stack. */
static void make_walk(struct fleet *f, struct walk *w)
{
	uint32_t sample = below(f, (uint32_t)f->n_samples);
	uint32_t at = (uint32_t)f->sample[sample]->n_location_id;

	for (w->n = 0; at-- > 0 && w->n < MOST_FRAMES; w->n++) {
		uint32_t l = index_of(f, f->sample[sample]->location_id[at]);

		w->frames[w->n] = l;
		if (below(f, TURN) == 0) {
			const struct place *next =
				&f->places[f->first[l] + below(f, f->first[l + 1] - f->first[l])];

			sample = next->sample;
			at = next->at;
		}
	}
	for (uint32_t i = 0; i < w->n / 2; i++) {
		uint32_t outer = w->frames[i];

		w->frames[i] = w->frames[w->n - 1 - i];
		w->frames[w->n - 1 - i] = outer;
	}
}

static size_t bytes_of(const struct walk *w)
{
	return 2 * (size_t)w->n + 12;
}

static void make_pool(struct fleet *f, size_t bytes)
{
	size_t n = 0, most = bytes / 12 + 1;

	f->pool = allocate(most, sizeof(*f->pool));
	for (size_t has = 0; has < bytes * 3 / 2 && n < most; n++) {
		make_walk(f, &f->pool[n]);
		has += bytes_of(&f->pool[n]);
	}
	f->n_pool = n;
}

/* Ids of locations in an order of the file's own. */
static uint64_t *number(struct fleet *f)
{
	size_t n = f->n_locations;
	uint64_t *ids = allocate(n, sizeof(*ids));

	for (size_t i = 0; i < n; i++) {
		size_t other = below(f, (uint32_t)i + 1);

		ids[i] = ids[other];
		ids[other] = i + 1;
	}
	return ids;
}

static void put_varint(struct out *o, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		o->bytes[o->n++] = (uint8_t)(v | 0x80);
	o->bytes[o->n++] = (uint8_t)v;
}

static void put_head(struct out *o, uint32_t field, size_t n)
{
	put_varint(o, (uint64_t)field << 3 | PROTO_BYTES);
	put_varint(o, n);
}

static void put_sample(struct fleet *f, struct out *o, const struct walk *w, const uint64_t *ids)
{
	const Pprof__Sample *like = f->sample[below(f, (uint32_t)f->n_samples)];
	uint64_t own[MOST_FRAMES];
	Pprof__Sample s = *like; /* its values and labels */

	for (uint32_t i = 0; i < w->n; i++)
		own[i] = ids[w->frames[i]];
	s.n_location_id = w->n;
	s.location_id = own;
	put_head(o, SAMPLE, pprof__sample__get_packed_size(&s));
	o->n += pprof__sample__pack(&s, o->bytes + o->n);
}

static void put_locations(struct fleet *f, struct out *o, const uint64_t *ids)
{
	uint32_t *order = allocate(f->n_locations, sizeof(*order));

	for (uint32_t i = 0; i < f->n_locations; i++)
		order[ids[i] - 1] = i;
	for (size_t i = 0; i < f->n_locations; i++) {
		Pprof__Location l = *f->location[order[i]];

		l.id = i + 1;
		put_head(o, LOCATION, pprof__location__get_packed_size(&l));
		o->n += pprof__location__pack(&l, o->bytes + o->n);
	}
	free(order);
}

static void write_machine(struct fleet *f, struct out *o, const char *path, size_t bytes)
{
	gzFile file = gzopen(path, "wb1");
	uint64_t *ids = number(f);

	memcpy(o->bytes, f->rest, f->n_rest);
	o->n = f->n_rest;
	put_locations(f, o, ids);
	for (size_t i = 0; i < f->n_pool && o->n < bytes; i++)
		if (below(f, 3) > 0)
			put_sample(f, o, &f->pool[i], ids);
	if (!file || gzwrite(file, o->bytes, (unsigned)o->n) != (int)o->n || gzclose(file) != Z_OK)
		die(path);
	free(ids);
}

int main(int argc, char **argv)
{
	size_t bytes = argc > 4 ? strtoul(argv[4], NULL, 10) : 1000000;
	struct fleet f = { .seed = 88172645463325252 };
	struct out out = { .bytes = allocate(2 * MOST_BYTES, 1) };
	char path[4096];

	if (argc < 4 || bytes > MOST_BYTES) {
		fprintf(stderr, "usage: bench_pprof FILE DIRECTORY N [BYTES]\n");
		return 2;
	}
	read_profile(&f, argv[1]);
	index_places(&f);
	make_pool(&f, bytes);
	for (long i = 0; i < strtol(argv[3], NULL, 10); i++) {
		snprintf(path, sizeof(path), "%s/host-%03ld.pb.gz", argv[2], i);
		write_machine(&f, &out, path, bytes);
	}
	return 0;
}
