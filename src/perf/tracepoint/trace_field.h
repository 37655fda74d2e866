/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A field of a tracepoint's event: where it lies among a sample's raw bytes, and what it holds. */
#ifndef PROFTOP_PERF_TRACEPOINT_TRACE_FIELD_H
#define PROFTOP_PERF_TRACEPOINT_TRACE_FIELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How the bytes of a field are meant. */
enum trace_meaning {
	TRACE_NUMBER,
	TRACE_ADDRESS,  /* a pointer: in hexadecimal */
	TRACE_TEXT,     /* an array of characters */
	TRACE_BYTES,    /* another array */
	TRACE_DYNAMIC,  /* length << 16 | offset of it, from the start */
	TRACE_RELATIVE, /* the same from the field's end */
};

struct trace_field {
	const char *name; /* borrowed */
	uint32_t offset, size;
	uint32_t element; /* bytes of one thing of an array; 0: unknown, or no array */
	enum trace_meaning meaning;
	bool is_signed;
	bool text; /* what a dynamic one leads to is text */
};

/* The raw bytes of a sample. */
struct trace_raw {
	const uint8_t *at;
	size_t n;
	bool swap; /* of the other byte order */
};

/* The field's own bytes, or those that a dynamic one leads to. False: they are not all there. */
bool trace_field_bytes(const struct trace_field *f, const struct trace_raw *raw,
		       const uint8_t **bytes, size_t *n);

/* Its number, its sign extended. False when it is none, or not there. */
bool trace_field_number(const struct trace_field *f, const struct trace_raw *raw, uint64_t *out);

/* A number of 1, 2, 4 or 8 bytes. */
uint64_t trace_number(const uint8_t *p, uint32_t size, bool is_signed, bool swap);

#endif
