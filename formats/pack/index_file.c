/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reading of an index, see index_file.h. The first pass builds all of it in a profile that nobody sees, so that no check of the
 * model is left out. The second builds the tables again in the one that is wanted, and moves the rows, of which there are many.
 */
#include "config.h"

#include "formats/pack/index_file.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/task.h"
#include "formats/pack/pack_file.h"
#include "formats/pack/pack_sections.h"
#include "profile/row_blocks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct index_file {
	int fd;           /* owned */
	uint64_t n_bytes; /* of the file */
	uint64_t at;      /* offset of the next section */
	uint64_t tables;  /* offset of the one behind the key */
	uint64_t sum;     /* of all before the next section; see pack_sum() */
	uint64_t key_sum; /* of all before the tables */
	uint8_t *buffer;  /* [cap] of one packed section; owned */
	size_t cap;
	uint8_t *key; /* [n_key] owned */
	size_t n_key;
};

static bool read_at(const struct index_file *f, void *to, size_t n, uint64_t offset)
{
	for (size_t done = 0; done < n;) {
		ssize_t got = pread(f->fd, (char *)to + done, n - done, (off_t)(offset + done));

		if (got == 0 || (got < 0 && errno != EINTR))
			return false;
		done += got > 0 ? (size_t)got : 0;
	}
	return true;
}

static void make_room(struct index_file *f, size_t n)
{
	if (n <= f->cap)
		return;
	free(f->buffer);
	f->buffer = xmalloc(n);
	f->cap = n;
}

/* Is the last section, of n bytes in the buffer, the sum of all before? */
static bool is_sum(const struct index_file *f, uint64_t n)
{
	struct bytes b = bytes_over(f->buffer + PACK_SECTION, (size_t)n, false);
	uint64_t sum = pack_take(&b);

	return !b.bad && bytes_left(&b) == 0 && sum == f->sum;
}

/* As pack_take_section(), of the file: bytes are good until the next one. */
static int next_section(struct index_file *f, struct pack_section *s)
{
	uint8_t head[PACK_SECTION];
	struct bytes b;
	uint64_t n;
	int more;

	if (f->n_bytes - f->at < PACK_SECTION || !read_at(f, head, PACK_SECTION, f->at))
		return -EBADMSG;
	n = pack_section_bytes(head);
	if (n > f->n_bytes - f->at - PACK_SECTION)
		return -EBADMSG;
	make_room(f, PACK_SECTION + (size_t)n);
	if (!read_at(f, f->buffer, PACK_SECTION + (size_t)n, f->at))
		return -EBADMSG;
	b = bytes_over(f->buffer, PACK_SECTION + (size_t)n, false);
	more = pack_take_section(&b, f->buffer, pack_sections_most(), s, NULL);
	if (more == 0 && !is_sum(f, n))
		more = -EBADMSG;
	f->sum = pack_sum(f->sum, f->buffer, PACK_SECTION + (size_t)n);
	f->at += PACK_SECTION + n;
	return more;
}

static bool read_key(struct index_file *f)
{
	uint8_t head[PACK_HEAD];
	struct bytes b = bytes_over(head, PACK_HEAD, false);
	struct pack_section s;

	if (f->n_bytes < PACK_HEAD || !read_at(f, head, PACK_HEAD, 0) ||
	    pack_take_head(&b, PACK_INDEX_MAGIC, NULL) != 0)
		return false;
	f->at = PACK_HEAD;
	f->sum = pack_sum(0, head, PACK_HEAD);
	if (next_section(f, &s) != 1)
		return false;
	if (s.id == PACK_KEY) {
		f->key = xmalloc(s.n + 1);
		memcpy(f->key, s.bytes, s.n);
		f->n_key = s.n;
	}
	free(s.owned);
	f->tables = f->at;
	f->key_sum = f->sum;
	return f->key != NULL;
}

struct index_file *index_file_open(int fd)
{
	struct index_file *f = xcalloc(1, sizeof(*f));
	struct stat st;

	f->fd = fd;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0)
		f->n_bytes = (uint64_t)st.st_size;
	if (read_key(f))
		return f;
	index_file_close(f);
	return NULL;
}

void index_file_close(struct index_file *f)
{
	if (!f)
		return;
	close(f->fd);
	free(f->buffer);
	free(f->key);
	free(f);
}

const uint8_t *index_file_key(const struct index_file *f, size_t *n)
{
	*n = f->n_key;
	return f->key;
}

/* One of the two passes. */
struct pass {
	struct profile *p;
	struct pack_sections *tables;
	bool rows; /* are they taken, too? */
};

static int take_blocks(struct pass *w, const struct pack_section *s)
{
	struct bytes b = bytes_over(s->bytes, s->n, false);
	uint32_t columns = pack_take_below(&b, UINT32_MAX);
	int rc;

	/* their numbers are those of the file */
	if (b.bad || !pack_sections_same_ids(w->tables))
		return -EBADMSG;
	rc = build_row_blocks(w->p, columns, &b);
	return b.bad ? -EBADMSG : rc;
}

static int take(struct pass *w, const struct pack_section *s)
{
	bool rows = s->id == PACK_BLOCKS || s->id == PACK_SAMPLES;
	int rc = 0, ended;

	if (rows && !w->rows)
		return 0;
	builder_begin(w->p);
	rc = s->id == PACK_BLOCKS ? take_blocks(w, s) : pack_sections_take(w->tables, s);
	ended = builder_end(w->p);
	return rc ? rc : ended;
}

static int pass(struct index_file *f, struct pass *w, struct progress *progress)
{
	int rc = 0, more;

	f->at = f->tables;
	f->sum = f->key_sum;
	do {
		struct pack_section s;

		more = next_section(f, &s);
		if (more > 0) {
			rc = take(w, &s);
			free(s.owned);
		}
		if (w->rows)
			progress_set(progress, f->at, f->n_bytes);
		if (progress_cancelled(progress))
			rc = -ECANCELED;
	} while (more > 0 && rc == 0);
	if (rc == 0 && (more < 0 || f->at != f->n_bytes || !pack_sections_whole(w->tables) ||
			!pack_sections_same_ids(w->tables)))
		rc = -EBADMSG;
	return rc == -EFBIG || rc == -ENOSPC ? -EBADMSG : rc;
}

static int read_apart(struct index_file *f, struct profile *apart, struct progress *progress)
{
	struct pass w = { .p = apart, .rows = true };
	struct profile_counts counts;
	int rc;

	builder_begin(apart);
	w.tables = pack_sections_new(apart, build_capture(apart, "", ""));
	builder_end(apart);
	rc = pass(f, &w, progress);
	pack_sections_free(w.tables);
	profile_counts_read(apart, &counts);
	return rc == 0 && counts.n_samples == 0 ? -EBADMSG : rc;
}

int index_file_read(struct index_file *f, struct profile *p, capture_id c,
		    struct progress *progress)
{
	struct profile *apart = profile_new();
	struct pass w = { .p = p };
	int rc = read_apart(f, apart, progress);

	if (rc == 0) {
		w.tables = pack_sections_new(p, c);
		rc = pass(f, &w, progress);
		builder_begin(apart);
		builder_begin(p);
		if (rc == 0 && !build_take_rows(p, apart))
			rc = -EBADMSG;
		builder_end(p);
		builder_end(apart);
		pack_sections_free(w.tables);
		rc = rc == -EBADMSG ? -EIO : rc;
	}
	profile_free(apart);
	return rc;
}
