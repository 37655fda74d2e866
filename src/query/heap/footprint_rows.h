/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Rows of a footprint: whose allocations are one row by the lens' grouping and enum heap_rows. Rows are of stacks, whose frames
 * say whose they are, or of what groups of samples are of: threads, processes, events, ….
 */
#ifndef PROFTOP_QUERY_HEAP_FOOTPRINT_ROWS_H
#define PROFTOP_QUERY_HEAP_FOOTPRINT_ROWS_H

#include <stdbool.h>
#include <stdint.h>

struct footprint;
struct heap_columns;
struct progress;
struct weights;

/* Makes the keys of rows, from the footprint's lens. */
void footprint_rows_init(struct footprint *m);
/* Makes the rows, unsorted; w is of the footprint's lens. 0 or -ECANCELED: then there may be none. */
int footprint_rows_make(struct footprint *m, const struct weights *w, struct progress *progress);

/* Which row the allocations of each origin are of; ID_NONE: of none. [n_origins]; the caller frees. */
uint32_t *footprint_rows_of_origins(const struct footprint *m, const struct heap_columns *c);

/* "site", "function", "module", …, "stack": what rows are of, for people and JSON. */
const char *footprint_rows_name(const struct footprint *m);

/* "WHERE", "MODULE", "THREAD", …: above a column of their names. */
const char *footprint_rows_title(const struct footprint *m);

/* Are rows of functions, whose callers one can go to? */
bool footprint_rows_of_functions(const struct footprint *m);

/* What stands behind the name of row i of the sorted sites beside its place: a module, "tid 7", or a stack; the caller frees. */
char *footprint_rows_behind(const struct footprint *m, uint32_t site);

/* The same without modules, of a row with such a key and stack. */
char *footprint_rows_apart(const struct footprint *m, uint32_t key, uint32_t stack);

#endif
