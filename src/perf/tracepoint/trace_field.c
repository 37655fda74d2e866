/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fields of raw bytes; see trace_field.h. */
#include "config.h"

#include "perf/tracepoint/trace_field.h"

#include "base/bytes.h"

uint64_t trace_number(const uint8_t *p, uint32_t size, bool is_signed, bool swap)
{
	struct bytes b = bytes_over(p, size, swap);
	uint64_t v = size == 1   ? take_u8(&b)
		     : size == 2 ? take_u16(&b)
		     : size == 4 ? take_u32(&b)
				 : take_u64(&b);
	unsigned unused = 64 - 8 * (size < 8 ? size : 8);

	return is_signed ? (uint64_t)((int64_t)(v << unused) >> unused) : v;
}

static bool is_inside(const struct trace_field *f, const struct trace_raw *raw)
{
	return f->size > 0 && f->size <= raw->n && f->offset <= raw->n - f->size;
}

bool trace_field_number(const struct trace_field *f, const struct trace_raw *raw, uint64_t *out)
{
	bool number = f->size == 1 || f->size == 2 || f->size == 4 || f->size == 8;

	if (!number || f->meaning > TRACE_ADDRESS || !is_inside(f, raw))
		return false;
	*out = trace_number(raw->at + f->offset, f->size, f->is_signed, raw->swap);
	return true;
}

bool trace_field_bytes(const struct trace_field *f, const struct trace_raw *raw,
		       const uint8_t **bytes, size_t *n)
{
	uint64_t where;
	size_t at;

	if (!is_inside(f, raw))
		return false;
	*bytes = raw->at + f->offset;
	*n = f->size;
	if (f->meaning < TRACE_DYNAMIC)
		return true;
	if (f->size != 4)
		return false;
	where = trace_number(*bytes, 4, false, raw->swap);
	at = where & 0xffff;
	at += f->meaning == TRACE_RELATIVE ? (size_t)f->offset + 4 : 0;
	*n = (size_t)(where >> 16);
	*bytes = raw->at + (at <= raw->n ? at : 0);
	return at <= raw->n && *n <= raw->n - at;
}
