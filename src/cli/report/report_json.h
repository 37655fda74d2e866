/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A report as JSON; the shape is doc/json.md. */
#ifndef PROFTOP_CLI_REPORT_REPORT_JSON_H
#define PROFTOP_CLI_REPORT_REPORT_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct json_out;
struct groups;
struct report;

/* Prints what report_make_rows() made. Trouble with the file shows when it is closed. */
void report_json(const struct report *r, FILE *to);

/* What stands at the head of every view's JSON, in an object that is open. */
void report_json_head(struct json_out *j, const struct report *r, const char *view);

/* Puts a key's name, and its module where it has one. False: KEY_NONE, whose name is null. */
bool report_json_name(struct json_out *j, const struct groups *keys, uint32_t key);

#endif
