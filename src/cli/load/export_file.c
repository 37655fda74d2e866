/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Endings are looked up with .gz taken off, the longest first. */
#include "config.h"

#include "cli/load/export_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "cli/options/gzip_output.h"
#include "cli/options/output.h"
#include "formats/format.h"
#include "formats/write/export_losses.h"
#include "query/analysis.h"

static const struct {
	const char *ending, *format;
	const char *comparing; /* of a lens that compares; NULL: cannot be written */
} endings[] = {
	{ ".speedscope.json", "speedscope", NULL },
	{ ".perf.txt", "perf-script", NULL },
	{ ".cpuprofile", "v8", NULL },
	{ ".heapprofile", "v8", NULL },
	{ ".callgrind", "callgrind", NULL },
	{ ".heaptrack.zst", "heaptrack", NULL },
	{ ".heaptrack", "heaptrack", NULL },
	{ ".folded", "folded", "folded-diff" },
	{ ".jsonl", "samples-jsonl", NULL },
	{ ".json", "firefox", NULL },
	{ ".csv", "samples-csv", NULL },
	{ ".svg", "svg", "svg-diff" },
	{ ".pb", "pprof", NULL },
};
#define N_ENDINGS (sizeof(endings) / sizeof(*endings))

static bool ends_in(const char *s, size_t n, const char *end)
{
	size_t len = strlen(end);

	return n > len && memcmp(s + n - len, end, len) == 0;
}

int export_write(const struct format *format, const struct analysis *a,
		 const struct write_options *o, const char *path, struct output *out, struct err *e)
{
	FILE *packed;
	int rc;

	if (format->packed || !path || !ends_in(path, strlen(path), ".gz"))
		return format->write(a, o, out->to, e);
	packed = gzip_output_new(out->to);
	rc = format->write(a, o, packed, e);
	fclose(packed);
	return rc;
}

static int find_format(const struct analysis *a, const char *path, const struct format **out,
		       struct err *e)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	size_t n = strlen(path);
	const char *wanted = NULL;

	n -= ends_in(path, n, ".gz") ? strlen(".gz") : 0;
	if (strncmp(name, "callgrind.out", strlen("callgrind.out")) == 0)
		wanted = lens_compares(&a->lens) ? "" : "callgrind";
	for (size_t i = 0; i < N_ENDINGS && !wanted; i++)
		if (ends_in(path, n, endings[i].ending))
			wanted = !lens_compares(&a->lens) ? endings[i].format
				 : endings[i].comparing   ? endings[i].comparing
							  : "";
	if (!wanted)
		return err_set(
			e, -EINVAL,
			"%s: the ending chooses the format: .svg .pb.gz .json .speedscope.json "
			".folded .csv .jsonl .cpuprofile .callgrind .heaptrack.zst",
			path);
	if (!*wanted)
		return err_set(e, -EINVAL, "%s: of a comparison .svg and .folded can be written",
			       path);
	*out = format_by_name(wanted);
	return *out && (*out)->write
		       ? 0
		       : err_set(e, -EINVAL, "%s: %s cannot be written", path, wanted);
}

static int write_to(const struct analysis *a, const char *path, char **said, struct err *e)
{
	const struct write_options options = { .whole_names = true, .name = path };
	const struct format *format = NULL;
	struct err why = ERR_INIT;
	struct output out;
	char *lost;
	int rc = find_format(a, path, &format, e);

	if (rc)
		return rc;
	if (access(path, F_OK) == 0)
		return err_set(e, -EEXIST, "%s: is there already", path);
	rc = output_open(&out, path, e);
	if (rc)
		return rc;
	rc = export_write(format, a, &options, path, &out, &why);
	if (rc && out.code) { /* the output says it */
		err_clear(&why);
		rc = 0;
	}
	if (rc) {
		output_close(&out, false, NULL);
		err_set(e, rc, "%s: %s", path, err_text(&why));
		err_clear(&why);
		return rc;
	}
	rc = output_close(&out, true, e);
	if (rc)
		return rc;
	lost = format->compares ? NULL : export_lost(a, format);
	*said = xasprintf("written: %s (%s)%s%s", path, format->name, lost ? ", without " : "",
			  lost ? lost : "");
	free(lost);
	return 0;
}

int export_file(const struct analysis *a, const char *path, char **said, struct err *e)
{
	const char *home = getenv("HOME");
	char *whole = home && strncmp(path, "~/", 2) == 0 ? xasprintf("%s%s", home, path + 1)
							  : xstrdup(path);
	int rc = write_to(a, whole, said, e);

	free(whole);
	return rc;
}
