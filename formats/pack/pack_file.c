/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A section is unpacked as it turns out to be, not as it claims: what it claims is only compared at the end. */
#include "config.h"

#include "formats/pack/pack_file.h"

#include "base/err.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#define LEVEL        6
#define LEVEL_FAST   1
#define FIRST_BYTES  ((size_t)64 << 10)
/* Of a file, those that the section of its notes is in: what zstd cannot make smaller becomes a little larger. */
#define NOTES_WITHIN (PACK_HEAD + 24 + PACK_NOTES_MOST + FIRST_BYTES)

/* How the bytes of a section stand in the file. */
#define HOW_ZSTD  0u
#define HOW_AS_IS 1u

/* Writing. */

static void put_fixed(pack_bytes *b, uint64_t v, size_t n)
{
	uint8_t bytes[8];

	for (size_t i = 0; i < n; i++)
		bytes[i] = (uint8_t)(v >> 8 * i);
	pack_put_bytes(b, bytes, n);
}

void pack_put_head(pack_bytes *file, const char *magic)
{
	pack_put_bytes(file, magic, strlen(magic));
	put_fixed(file, PACK_VERSION, 4);
	put_fixed(file, 0, 4);
}

static void put_head(pack_bytes *file, enum pack_section_id id, uint64_t how, size_t n,
		     size_t packed)
{
	put_fixed(file, id, 4);
	put_fixed(file, how, 4);
	put_fixed(file, n, 8);
	put_fixed(file, packed, 8);
}

static void put_packed(pack_bytes *file, enum pack_section_id id, int level, const pack_bytes *body)
{
	size_t bound = ZSTD_compressBound(body->n), n;
	uint8_t *packed = xmalloc(bound);
	ZSTD_CCtx *z = ZSTD_createCCtx();

	if (!z)
		mem_fail(bound);
	ZSTD_CCtx_setParameter(z, ZSTD_c_compressionLevel, level);
	ZSTD_CCtx_setParameter(z, ZSTD_c_checksumFlag, 1);
	n = ZSTD_compress2(z, packed, bound, body->at, body->n);
	if (ZSTD_isError(n))
		mem_fail(bound);
	put_head(file, id, HOW_ZSTD, body->n, n);
	pack_put_bytes(file, packed, n);
	ZSTD_freeCCtx(z);
	free(packed);
}

void pack_put_section(pack_bytes *file, enum pack_section_id id, enum pack_how how,
		      pack_bytes *body)
{
	if (how == PACK_AS_IS) {
		put_head(file, id, HOW_AS_IS, body->n, body->n);
		pack_put_bytes(file, body->at, body->n);
	} else {
		put_packed(file, id, how == PACK_SMALL ? LEVEL : LEVEL_FAST, body);
	}
	vec_clear(body);
}

/* Reading. */

static uint64_t take_fixed(struct bytes *b, size_t n)
{
	const uint8_t *at = take_bytes(b, n);
	uint64_t v = 0;

	for (size_t i = 0; at && i < n; i++)
		v |= (uint64_t)at[i] << 8 * i;
	return v;
}

int pack_take_head(struct bytes *file, const char *magic, struct err *e)
{
	const uint8_t *has = take_bytes(file, strlen(magic));
	uint64_t version = take_fixed(file, 4);

	take_fixed(file, 4);
	if (file->bad || memcmp(has, magic, strlen(magic)) != 0)
		return err_set(e, -EBADMSG, "ends inside the head of a pack");
	if (version != PACK_VERSION)
		return err_set(e, -EBADMSG,
			       "is a pack of version %" PRIu64 "; this proftop reads version %u",
			       version, PACK_VERSION);
	return 0;
}

/* Whole, or NULL: damaged, or more than `most`. */
static uint8_t *unpack(const uint8_t *from, size_t n_from, size_t most, size_t *n)
{
	ZSTD_DCtx *z = ZSTD_createDCtx();
	ZSTD_inBuffer in = { from, n_from, 0 };
	size_t cap = FIRST_BYTES < most ? FIRST_BYTES : most, rc = 1;
	ZSTD_outBuffer out = { xmalloc(cap + 1), cap, 0 };

	if (!z)
		mem_fail(cap);
	while (rc != 0 && !ZSTD_isError(rc)) {
		size_t had = out.pos, read = in.pos;

		rc = ZSTD_decompressStream(z, &out, &in);
		if (rc == 0 || ZSTD_isError(rc))
			break;
		if (out.pos == out.size && out.size < most) {
			cap = out.size > most / 2 ? most : out.size * 2;
			out.dst = xreallocarray(out.dst, cap + 1, 1);
			out.size = cap;
		} else if (out.pos == had && in.pos == read) {
			rc = (size_t)-1;
		}
	}
	ZSTD_freeDCtx(z);
	*n = out.pos;
	if (rc == 0 && in.pos == n_from)
		return out.dst;
	free(out.dst);
	return NULL;
}

uint64_t pack_section_bytes(const uint8_t *head)
{
	struct bytes b = bytes_over(head, PACK_SECTION, false);

	take_bytes(&b, PACK_SECTION - 8);
	return take_fixed(&b, 8);
}

int pack_take_section(struct bytes *file, const uint8_t *begin, size_t most, struct pack_section *s,
		      struct err *e)
{
	uint64_t n, packed, how;
	const uint8_t *at;

	*s = (struct pack_section){ .offset = (size_t)(file->at - begin) };
	s->id = (uint32_t)take_fixed(file, 4);
	how = take_fixed(file, 4);
	n = take_fixed(file, 8);
	packed = take_fixed(file, 8);
	if (!file->bad && packed > bytes_left(file))
		file->bad = true;
	at = file->bad ? NULL : take_bytes(file, (size_t)packed);
	if (file->bad)
		return err_set(e, -EBADMSG, "the file is cut at offset %zu, inside a section",
			       s->offset);
	if (s->id == PACK_END)
		return 0;
	if (n > most)
		return err_set(e, -EBADMSG,
			       "section %" PRIu32 " at offset %zu says that it has %" PRIu64
			       " bytes, more than there is room for",
			       s->id, s->offset, n);
	s->n = (size_t)packed;
	s->bytes = at;
	if (how != HOW_AS_IS)
		s->bytes = s->owned = unpack(at, (size_t)packed, (size_t)n, &s->n);
	if (!s->bytes || s->n != n) {
		free(s->owned);
		*s = (struct pack_section){ .id = s->id, .offset = s->offset };
		return err_set(e, -EBADMSG, "section %" PRIu32 " at offset %zu is damaged", s->id,
			       s->offset);
	}
	return 1;
}

/* The first bytes of a regular file; NULL: there is none. A pipe is not opened: whoever writes it would be left when it is closed. */
static uint8_t *read_begin(const char *path, size_t most, size_t *n)
{
	struct stat st;
	bool is_file = stat(path, &st) == 0 && S_ISREG(st.st_mode);
	int fd = is_file ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) : -1;
	uint8_t *bytes = NULL;
	ssize_t got;

	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
		bytes = xmalloc(most);
		got = pread(fd, bytes, most, 0);
		*n = got > 0 ? (size_t)got : 0;
	}
	if (fd >= 0)
		close(fd);
	return bytes;
}

bool pack_read_notes(const char *path, char **text, size_t *n)
{
	struct pack_section s = { .bytes = NULL };
	struct bytes b;
	size_t n_begin;
	uint8_t *begin = read_begin(path, PACK_HEAD + 4, &n_begin);
	bool has;

	if (!begin)
		return false;
	b = bytes_over(begin, n_begin, false);
	has = pack_take_head(&b, PACK_MAGIC, NULL) == 0 && take_fixed(&b, 4) == PACK_NOTES &&
	      !b.bad;
	free(begin);
	begin = has ? read_begin(path, NOTES_WITHIN, &n_begin) : NULL;
	if (!begin)
		return false;
	b = bytes_over(begin, n_begin, false);
	has = pack_take_head(&b, PACK_MAGIC, NULL) == 0 &&
	      pack_take_section(&b, begin, PACK_NOTES_MOST, &s, NULL) == 1 && s.owned;
	free(begin);
	if (has) {
		*text = (char *)s.owned;
		*n = s.n;
	}
	return has;
}
