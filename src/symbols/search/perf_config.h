/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What perf's own config files say that matters to who reads its recordings (perf-config(1)). */
#ifndef PROFTOP_SYMBOLS_SEARCH_PERF_CONFIG_H
#define PROFTOP_SYMBOLS_SEARCH_PERF_CONFIG_H

struct consulted_files;

/*
 * Where perf keeps copies of what it recorded, by build-id: buildid.dir, else ~/.debug. NULL when there
 * is no home either. The caller frees. c (or NULL) notes which files say so.
 */
char *perf_config_buildid_dir(const char *home, struct consulted_files *c);

#endif
