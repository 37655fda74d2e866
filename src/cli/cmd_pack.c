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
#include "formats/pack/pack_write.h"

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

static enum status write_out(const struct options *o, const char *path, struct load *l,
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
	(void)o;
	rc = pack_write(load_profile(l), without, out.to, &holds, &e);
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
	l = load_start(o, &read, &e);
	status = l ? write_out(o, path, l, without) : message_error(&e, STATUS_USAGE);
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
