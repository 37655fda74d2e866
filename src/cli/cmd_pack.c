/* SPDX-License-Identifier: GPL-3.0-or-later */
/* proftop pack: one file with a recording and all its names, for where the programs are not. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/fmt.h"
#include "base/mem.h"
#include "cli/load/load.h"
#include "cli/options/message.h"
#include "cli/options/options.h"
#include "cli/options/output.h"
#include "cli/options/query_options.h"
#include "code/code_archive.h"
#include "formats/pack/pack_write.h"
#include "notebook/notebook.h"

/* "x.data" becomes "x.pack"; other endings stay. The caller frees. */
static char *output_name(const struct options *o, struct err *e)
{
	static const char *const ends[] = { ".data", ".heap" };
	const char *path = o->files.n > 0 ? o->files.at[0] : "perf.data";
	size_t n = strlen(path);

	if (o->output)
		return xstrdup(o->output);
	if (strcmp(path, "-") == 0) {
		err_set(e, -EINVAL, "pack of standard input wants -o FILE");
		return NULL;
	}
	while (n > 1 && path[n - 1] == '/')
		n--;
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		if (n > strlen(ends[i]) &&
		    memcmp(path + n - strlen(ends[i]), ends[i], strlen(ends[i])) == 0)
			return xasprintf("%.*s.pack", (int)(n - strlen(ends[i])), path);
	return xasprintf("%.*s.pack", (int)n, path);
}

/* What is in the file that somebody may not want to hand on. */
static void tell(const char *path, unsigned holds)
{
	char *what = pack_private_say(holds), size[FMT_SIZE];
	struct stat st;

	if (stat(path, &st) == 0 && S_ISREG(st.st_mode))
		message("%s: %s", path, fmt_bytes(size, st.st_size));
	if (what)
		message("%s has %s", path, what);
	free(what);
}

/* What annotate needs of programs and sources, as far as it may be in the file. */
static void collect(const struct load *l, unsigned without, struct code_archive *out)
{
	struct code_archive_wish wish = { .where = load_annotate(l),
					  .code = !(without & 1u << PACK_HAS_CODE),
					  .sources = !(without & 1u << PACK_HAS_SOURCES),
					  .paths = !(without & 1u << PACK_HAS_PATHS) };

	code_archive_make(out, load_profile(l), &wish, NULL);
	if (out->n_functions_out > 0 || out->n_files_out > 0)
		message("left out, as there is room for %u MB of each: code of %llu functions, "
			"lines of %llu source files",
			(unsigned)(CODE_ARCHIVE_MOST >> 20),
			(unsigned long long)out->n_functions_out,
			(unsigned long long)out->n_files_out);
	if (out->n_files_untold > 0)
		message("left out: lines of %llu source files that no program here was compiled of, as "
			"its debug information says (--source DIR takes those below DIR)",
			(unsigned long long)out->n_files_untold);
	if (out->n_files_shared > 0)
		message("left out: lines of %llu source files whose names without paths are those of "
			"others",
			(unsigned long long)out->n_files_shared);
}

static int write_pack(const struct load *l, const struct notebook *notebook, unsigned without,
		      FILE *to, unsigned *holds, struct err *e)
{
	char *notes = notebook_text(notebook);
	struct code_archive archive;
	VEC(struct pack_attachment) files = { 0 };
	int rc;

	collect(l, without, &archive);
	for (size_t i = 0; i < archive.modules.n; i++) {
		const struct code_archive_module *m = &archive.modules.at[i];

		vec_push(&files,
			 ((struct pack_attachment){
				 .module = m->module.v, .bytes = m->bytes.at, .n = m->bytes.n }));
	}
	for (size_t i = 0; i < archive.sources.n; i++) {
		const struct code_archive_source *s = &archive.sources.at[i];

		vec_push(&files, ((struct pack_attachment){
					 .path = s->path, .bytes = s->bytes.at, .n = s->bytes.n }));
	}
	rc = pack_write(load_profile(l), &(struct pack_attachments){ files.at, files.n, notes },
			without, to, holds, e);
	free(notes);
	vec_done(&files);
	code_archive_done(&archive);
	return rc;
}

static enum status write_out(const char *path, struct load *l, const struct notebook *notebook,
			     unsigned without)
{
	struct err e = ERR_INIT;
	struct output out;
	unsigned holds = 0;
	int rc;

	if (load_wait(l, &e))
		return message_error(&e, STATUS_UNUSABLE);
	if (output_open(&out, path, &e))
		return message_error(&e, STATUS_USAGE);
	if (output_is_terminal(&out)) {
		output_close(&out, false, NULL);
		message("a pack is no text: -o FILE, or a pipe");
		return STATUS_USAGE;
	}
	rc = write_pack(l, notebook, without, out.to, &holds, &e);
	if (rc && out.code) { /* the output says it */
		err_clear(&e);
		rc = 0;
	}
	if (output_close(&out, !rc, &e) || rc)
		return message_error(&e, STATUS_USAGE);
	tell(strcmp(path, "-") == 0 ? "standard output" : path, holds);
	return STATUS_GOOD;
}

static enum status pack(const struct options *o)
{
	struct err e = ERR_INIT;
	struct load_wish read = load_of(o);
	unsigned without = 0;
	enum status status;
	struct load *l;
	char *path;

	if (o->without && pack_private_parse(o->without, &without, &e))
		return message_error(&e, STATUS_USAGE);
	path = output_name(o, &e);
	if (!path)
		return message_error(&e, STATUS_USAGE);
	if (output_spares(path, o->files.at, o->files.n, &e)) {
		free(path);
		return message_error(&e, STATUS_USAGE);
	}
	l = load_start(o, &read, &e);
	status = l ? write_out(path, l, o->notebook, without) : message_error(&e, STATUS_USAGE);
	load_free(l);
	free(path);
	return status;
}

const struct command cmd_pack = {
	.name = "pack",
	.synopsis = "[-o OUT] [--without WHAT] FILE",
	.summary =
		"Writes a recording and all its names to one file that opens without the programs.",
	.verb = ON_PACK,
	.run = pack,
};
