/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes an analysis in another format, packed where the output's name says so; what a screen shows goes to a file by its ending. */
#ifndef PROFTOP_CLI_LOAD_EXPORT_FILE_H
#define PROFTOP_CLI_LOAD_EXPORT_FILE_H

struct analysis;
struct err;
struct format;
struct output;
struct write_options;

/* As format->write; path may be NULL. The output stays the caller's to be closed. */
int export_write(const struct format *format, const struct analysis *a,
		 const struct write_options *o, const char *path, struct output *out,
		 struct err *e);

/*
 * To a new file, whose ending chooses the format: .svg, .pb.gz, .json (Firefox), .speedscope.json, .folded, .perf.txt, .csv, .jsonl,
 * .cpuprofile, .heapprofile, or callgrind.out…; .gz behind it packs. *said is a sentence of what was written and what the format has
 * no room for, malloc'd. 0, or -errno with a sentence, and there is no file.
 */
int export_file(const struct analysis *a, const char *path, char **said, struct err *e);

#endif
