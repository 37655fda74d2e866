/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * JSON by rules: a table says what is done with the value at a path, and all others are passed over. The text is read once, from
 * front to back, and nothing of it is kept, so that memory holds what the rules keep.
 *
 *   path      = part { part }
 *   part      = "." key | "[]" (each element of an array) | ".*" (each member of an object)
 *
 * The first part needs no dot: "threads[].samples.time[]".
 */
#ifndef PROFTOP_FORMATS_JSON_JSON_STREAM_H
#define PROFTOP_FORMATS_JSON_JSON_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct input;
struct progress;

enum json_kind { JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_STRING };

struct json_value {
	enum json_kind kind;
	const char *s; /* [n] bytes of a string, or a number's digits; borrowed for the call */
	size_t n;
	bool truth; /* of JSON_BOOL */
};

/* to is what json_read() was given. */
typedef void json_value_fn(void *to, const struct json_value *v);
typedef void json_edge_fn(void *to);
/* A member's name, before its value. */
typedef void json_key_fn(void *to, const char *s, size_t n);

struct json_rule {
	const char *path;
	const char *
		same; /* below this path everything is as below that one, for what is nested to any depth; or NULL */
	json_value_fn *value; /* of a scalar there */
	json_edge_fn *begin;  /* an array or object there begins */
	json_edge_fn *end;
	json_key_fn *key; /* of paths that end in ".*" */
};

/* The number, rounded to the nearest; `otherwise` where it is none, or does not fit. */
int64_t json_int(const struct json_value *v, int64_t otherwise);
/* As json_int(), of indexes: UINT32_MAX where it is none, null or negative. */
uint32_t json_index(const struct json_value *v);
double json_double(const struct json_value *v, double otherwise);

/* How a text ended. */
struct json_end {
	uint64_t offset; /* where it is no JSON any more, or ends too soon */
	char *why;       /* a sentence, or NULL where it is whole; owned by the caller */
};

/*
 * Reads all of the input. 0, also where the text breaks off: then end->why says so, and the rules have had what came before.
 * Fails with -ECANCELED and where nothing could be read.
 */
int json_read(struct input *in, const struct json_rule *rules, size_t n_rules, void *to,
	      struct json_end *end, struct progress *progress, struct err *e);

/* The same of texts one after the other, as in a file with a text a line. The rule of the path "" is that of each whole text. */
int json_read_lines(struct input *in, const struct json_rule *rules, size_t n_rules, void *to,
		    struct json_end *end, struct progress *progress, struct err *e);

/* Is there a member of that name in the first object of the text? For probes: text may be cut. */
bool json_has_key(const uint8_t *text, size_t n, const char *key);

#endif
