/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Names that are seen together. Folding and cutting take away what tells some of them apart: these are written with the
 * words that differ behind them, "pair<…>::pair<…>() …long".
 */
#ifndef PROFTOP_TUI_ROWS_NAME_SET_H
#define PROFTOP_TUI_ROWS_NAME_SET_H

#include <stdbool.h>
#include <stddef.h>

/* A name and its cells. */
struct seen_name {
	const char *label;  /* borrowed; NULL: there is none */
	const char *module; /* likewise */
	int cols;           /* of the name's cell */
	int module_cols;    /* of the module's; 0: it is not seen */
};

/*
 * What to write instead, [n], in no more columns: NULL for names that read other than all others of the n as they are, and
 * for those that are the same name of the same module. Each string and the array are the caller's: names_apart_free().
 */
char **names_apart(const struct seen_name *names, size_t n, bool ascii);
void names_apart_free(char **labels, size_t n);

#endif
