/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Writes a longer recording: a perf.data whose records come again and again, each turn with later times.
 *
 * bench_loop PERF.DATA MEGABYTES >LONGER
 *
 * A record without a time, or with time 0, comes once: perf wrote it of what was there before. All others
 * come in each turn, so what started in the recording starts again, as under a build or a shell script.
 * The recording is one of this machine's byte order, a file and not a pipe, and not packed.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define S_IP         (UINT64_C(1) << 0)
#define S_TID        (UINT64_C(1) << 1)
#define S_TIME       (UINT64_C(1) << 2)
#define S_ID         (UINT64_C(1) << 6)
#define S_CPU        (UINT64_C(1) << 7)
#define S_STREAM_ID  (UINT64_C(1) << 9)
#define S_IDENTIFIER (UINT64_C(1) << 16)

#define RECORD_SAMPLE         9u
#define RECORD_USER           64u /* from here on the perf tool's own, without a time */
#define RECORD_FINISHED_ROUND 68u
#define RECORD_AUXTRACE       71u
#define RECORD_COMPRESSED     81u
#define RECORD_COMPRESSED2    83u
#define FEATURE_SAMPLE_TIME   21
#define FEATURE_BITS          256
#define GAP_NS                1000000 /* between the last time of a turn and the first of the next */

struct section {
	uint64_t offset, size;
};

struct file_header {
	char magic[8];
	uint64_t size, attr_size;
	struct section attrs, data, event_types;
	uint64_t features[FEATURE_BITS / 64];
};

struct record_header {
	uint32_t type;
	uint16_t misc, size;
};

/* What comes in each turn. */
struct turn {
	uint8_t *at;          /* [n] bytes of records */
	size_t n;             /* bytes */
	size_t *times;        /* [n_times] where in them a time stands */
	size_t n_times;       /* of them */
	uint64_t first, last; /* times */
};

static void die(const char *what)
{
	fprintf(stderr, "bench_loop: %s\n", what);
	exit(1);
}

static uint64_t u64_at(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* Where a sample's time stands behind its header. */
static size_t sample_time(uint64_t type)
{
	return 8 * (size_t)(!!(type & S_IDENTIFIER) + !!(type & S_IP) + !!(type & S_TID));
}

/* How many bytes from the end of another record its time stands. */
static size_t trailer_time(uint64_t type)
{
	return 8 * (size_t)(1 + !!(type & S_ID) + !!(type & S_STREAM_ID) + !!(type & S_CPU) +
			    !!(type & S_IDENTIFIER));
}

/* Where in a record its time stands; 0: it has none. */
static size_t time_of(const struct record_header *r, uint64_t type)
{
	size_t at;

	if (r->type >= RECORD_USER)
		return 0;
	if (r->type == RECORD_SAMPLE)
		at = sizeof(*r) + sample_time(type);
	else
		at = r->size < trailer_time(type) ? 0 : r->size - trailer_time(type);
	return at + 8 <= r->size ? at : 0;
}

static struct record_header header_at(const uint8_t *p, size_t left)
{
	struct record_header r;

	if (left < sizeof(r))
		die("the recording ends inside a record");
	memcpy(&r, p, sizeof(r));
	if (r.size < sizeof(r) || r.size > left)
		die("the recording ends inside a record");
	if (r.type == RECORD_AUXTRACE || r.type == RECORD_COMPRESSED ||
	    r.type == RECORD_COMPRESSED2)
		die("the recording is packed, or a hardware trace");
	return r;
}

/* Copies what comes in each turn out of n bytes of records. */
static struct turn turn_of(const uint8_t *records, size_t n, uint64_t type)
{
	struct turn t = { .at = malloc(n), .times = malloc((n / 8 + 1) * sizeof(*t.times)) };

	if (!t.at || !t.times)
		die("no memory");
	t.first = UINT64_MAX;
	for (size_t at = 0; at < n;) {
		struct record_header r = header_at(records + at, n - at);
		size_t where = time_of(&r, type);
		uint64_t time = where > 0 ? u64_at(records + at + where) : 0;

		if (time > 0) {
			t.times[t.n_times++] = t.n + where;
			t.first = time < t.first ? time : t.first;
			t.last = time > t.last ? time : t.last;
		}
		if (time > 0 || r.type == RECORD_FINISHED_ROUND) {
			memcpy(t.at + t.n, records + at, r.size);
			t.n += r.size;
		}
		at += r.size;
	}
	if (t.n_times == 0)
		die("the recording has no times");
	return t;
}

static void put(const void *p, size_t n)
{
	if (fwrite(p, 1, n, stdout) != n)
		die(strerror(errno));
}

/* What stands behind the records: a table of sections, and these. */
static void put_features(const uint8_t *file, size_t n, const struct file_header *h, uint64_t moved,
			 uint64_t last)
{
	size_t from = (size_t)(h->data.offset + h->data.size), i = 0, n_tail = n - from;
	uint8_t *tail = malloc(n_tail + 1);

	if (!tail)
		die("no memory");
	memcpy(tail, file + from, n_tail);
	for (int bit = 0; bit < FEATURE_BITS; bit++) {
		struct section s;

		if (!(h->features[bit / 64] >> bit % 64 & 1))
			continue;
		if ((i + 1) * sizeof(s) > n_tail)
			die("the recording ends inside its features");
		memcpy(&s, tail + i * sizeof(s), sizeof(s));
		if (bit == FEATURE_SAMPLE_TIME && s.size >= 16 && s.offset >= from &&
		    s.offset - from <= n_tail - 16)
			memcpy(tail + (s.offset - from) + 8, &last, sizeof(last));
		s.offset += moved;
		memcpy(tail + i++ * sizeof(s), &s, sizeof(s));
	}
	put(tail, n_tail);
	free(tail);
}

static void write_longer(const uint8_t *file, size_t n, uint64_t bytes)
{
	struct file_header h;
	struct turn t;
	uint64_t more, turns, step;

	memcpy(&h, file, sizeof(h));
	if (memcmp(h.magic, "PERFILE2", 8) != 0 || h.size < sizeof(h) || h.attrs.offset > n - 48 ||
	    h.data.offset > n || h.data.size == 0 || h.data.size > n - h.data.offset)
		die("not a whole perf.data of this machine");
	/* sample_type is the fourth word of perf_event_attr, and the same for the times of all. */
	t = turn_of(file + h.data.offset, (size_t)h.data.size, u64_at(file + h.attrs.offset + 24));
	more = bytes > n ? bytes - n : 0;
	turns = (more + t.n - 1) / t.n;
	step = t.last - t.first + GAP_NS;
	h.data.size += turns * t.n;
	put(&h, sizeof(h));
	put(file + sizeof(h), (size_t)h.data.offset - sizeof(h));
	h.data.size -= turns * t.n;
	put(file + h.data.offset, (size_t)h.data.size);
	for (uint64_t turn = 0; turn < turns; turn++) {
		for (size_t i = 0; i < t.n_times; i++) {
			uint64_t time = u64_at(t.at + t.times[i]) + step;

			memcpy(t.at + t.times[i], &time, sizeof(time));
		}
		put(t.at, t.n);
	}
	put_features(file, n, &h, turns * t.n, t.last + turns * step);
	free(t.at);
	free(t.times);
}

int main(int argc, char **argv)
{
	struct stat st;
	void *file;
	int fd = argc == 3 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;

	if (argc != 3 || strtoull(argv[2], NULL, 10) == 0)
		die("usage: bench_loop PERF.DATA MEGABYTES >LONGER");
	if (fd < 0 || fstat(fd, &st) < 0)
		die("cannot open the recording");
	if ((size_t)st.st_size < sizeof(struct file_header) + 48)
		die("not a whole perf.data of this machine");
	file = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (file == MAP_FAILED)
		die(strerror(errno));
	write_longer(file, (size_t)st.st_size, strtoull(argv[2], NULL, 10) * 1000000);
	if (fflush(stdout) != 0)
		die(strerror(errno));
	munmap(file, (size_t)st.st_size);
	close(fd);
	return 0;
}
