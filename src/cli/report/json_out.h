/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * JSON written as it goes, so that a report of a million rows needs no tree of a million nodes.
 *
 * Strings are ASCII with \u escapes, so no name can carry a control character to a terminal; bytes that are
 * no UTF-8 become U+FFFD. Numbers are exact.
 */
#ifndef PROFTOP_CLI_REPORT_JSON_OUT_H
#define PROFTOP_CLI_REPORT_JSON_OUT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define JSON_DEPTH_MAX 8

struct json_out {
	FILE *to;
	int depth;                    /* containers that are open */
	bool filled[JSON_DEPTH_MAX];  /* something stands in the container already */
	bool by_line[JSON_DEPTH_MAX]; /* of each open container */
};

/* key NULL: an element of an array, or the document itself. */
void json_begin(struct json_out *j, const char *key, char bracket, bool by_line);
void json_end(struct json_out *j, char bracket);
void json_put_text(struct json_out *j, const char *key, const char *value);
void json_put_int(struct json_out *j, const char *key, int64_t value);
void json_put_bool(struct json_out *j, const char *key, bool value);
void json_put_null(struct json_out *j, const char *key);
/* weight / scale, every digit. */
void json_put_weight(struct json_out *j, const char *key, int64_t weight, int64_t scale);
/* A number that was worked out; null where it is none. */
void json_put_double(struct json_out *j, const char *key, double value);
/* part / whole with six digits after the point; null where whole is 0. */
void json_put_ratio(struct json_out *j, const char *key, int64_t part, int64_t whole);

#endif
