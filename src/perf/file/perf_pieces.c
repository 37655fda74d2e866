/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A frame of zstd's may begin in one piece and end in another, so its state outlives pieces, but for damaged ones. */
#include "config.h"

#include "perf/file/perf_pieces.h"

#include "base/mem.h"
#include "perf/file/perf_stream.h"

#define PACKED_MAX      ((uint64_t)64 << 20) /* out of one record */
#define ZSTD_BLOCK_HEAD 3                    /* bytes */

/* perf's own bound with room to spare, as long as it is credible. */
static uint64_t most_of_a_piece(uint32_t packed_max)
{
	uint64_t most = 4 * (uint64_t)packed_max;

	if (most == 0 || most > PACKED_MAX)
		return PACKED_MAX;
	return most < PERF_WINDOW_BYTES ? PERF_WINDOW_BYTES : most;
}

void perf_pieces_init(struct perf_pieces *p, uint32_t most)
{
	*p = (struct perf_pieces){ .zstd = ZSTD_createDCtx(), .most = most_of_a_piece(most) };
	if (!p->zstd)
		mem_fail(sizeof(*p));
}

void perf_pieces_done(struct perf_pieces *p)
{
	ZSTD_freeDCtx(p->zstd);
}

void perf_pieces_begin(struct perf_pieces *p, const struct perf_record *r, uint64_t offset)
{
	struct bytes b = perf_record_body(r);
	uint64_t n = bytes_left(&b);

	if (r->type == PERF_REC_COMPRESSED2) {
		uint64_t said = take_u64(&b);

		n = said < bytes_left(&b) ? said : bytes_left(&b);
	}
	p->n++;
	p->piece = (ZSTD_inBuffer){ .src = b.at, .size = (size_t)n };
	p->left = p->most;
	p->offset = offset;
	p->more = n > 0;
	if (p->n_mute++ == 0)
		p->mute_offset = offset;
}

size_t perf_pieces_unpack(struct perf_pieces *p, uint8_t *to, size_t n, bool *bad)
{
	ZSTD_outBuffer out = { .dst = to, .size = n < p->left ? n : (size_t)p->left };
	size_t rc = ZSTD_decompressStream(p->zstd, &out, &p->piece);

	/* A full window says that zstd may hold more. */
	p->more = p->piece.pos < p->piece.size || out.pos == out.size;
	p->left -= out.pos;
	p->wanted = rc;
	if (out.pos > 0)
		p->n_mute = 0;
	*bad = ZSTD_isError(rc) || p->left == 0;
	return out.pos;
}

void perf_pieces_give_up(struct perf_pieces *p)
{
	if (p->n_bad++ == 0)
		p->bad_offset = p->offset;
	ZSTD_DCtx_reset(p->zstd, ZSTD_reset_session_only);
	p->more = false;
	p->wanted = 0;
}

/* Recorders flush each piece: zstd waits for nothing, or for the head of a block. Damage may have it wait for more. */
static bool ends_within_block(const struct perf_pieces *p)
{
	return p->wanted != 0 && p->wanted != ZSTD_BLOCK_HEAD;
}

bool perf_pieces_end(struct perf_pieces *p)
{
	uint64_t n = p->n_mute > 0 ? p->n_mute : 1;

	if (!ends_within_block(p))
		return true;
	if (p->n_mute > 0)
		p->offset = p->mute_offset;
	perf_pieces_give_up(p);
	p->n_bad += n - 1;
	return false;
}
