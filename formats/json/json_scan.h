/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The tokens of a JSON text (RFC 8259), in order. The text is read in pieces; of it only the token that is being read is in memory, so
 * that texts may be of any size and nested to any depth. Bytes of strings are not checked to be UTF-8: names are cleaned before they are
 * shown.
 */
#ifndef PROFTOP_FORMATS_JSON_JSON_SCAN_H
#define PROFTOP_FORMATS_JSON_JSON_SCAN_H

#include "formats/json/json_stream.h"

/* What tokens are given to. Names and values are borrowed for the call. */
struct json_tokens {
	void (*value)(void *to, const struct json_value *v);
	void (*key)(void *to, const char *s, size_t n);
	void (*begin)(void *to, bool array); /* or an object */
	void (*end)(void *to);               /* of the array or object that began last */
};

/* As json_read(), or with `many` as json_read_lines(). */
int json_scan(struct input *in, const struct json_tokens *tokens, void *to, bool many,
	      struct json_end *end, struct progress *progress, struct err *e);

#endif
