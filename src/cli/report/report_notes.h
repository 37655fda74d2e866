/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The notes of people on rows of a report. All of these do nothing where there are none. */
#ifndef PROFTOP_CLI_REPORT_REPORT_NOTES_H
#define PROFTOP_CLI_REPORT_REPORT_NOTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct footprint_site;
struct groups;
struct heap_table_row;
struct json_out;
struct notebook;
struct report;

/* "# note on parse: …", a line for each note on a row, and on a site of the memory view and of tables of heaps. */
void report_notes_text(const struct report *r, FILE *to);
/* The same of n keys, each note once; those of KEY_NONE are none. */
void report_notes_keys_text(const struct notebook *notes, const struct groups *keys,
			    const uint32_t *key, size_t n, bool ascii, FILE *to);
/* "note" of the object of a row, of a key, of a site and of a row of a table of a heap. */
void report_notes_row_json(const struct report *r, size_t row, struct json_out *j);
void report_notes_key_json(const struct notebook *notes, const struct groups *keys, uint32_t key,
			   struct json_out *j);
void report_notes_site_json(const struct report *r, const struct footprint_site *site,
			    struct json_out *j);
void report_notes_heap_json(const struct report *r, const struct heap_table_row *row,
			    struct json_out *j);
/* What is noted on a function alone, or NULL; borrowed. */
const char *report_notes_function(const struct report *r, const char *name, const char *module);

#endif
