/* SPDX-License-Identifier: GPL-3.0-or-later */
/* proftop export: what a filter leaves, in another format. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "cli/load/export_file.h"
#include "cli/load/load.h"
#include "cli/load/load_heaps.h"
#include "cli/options/comparison_options.h"
#include "cli/options/message.h"
#include "cli/options/options.h"
#include "cli/options/output.h"
#include "cli/options/query_options.h"
#include "formats/format.h"
#include "formats/write/export_losses.h"
#include "query/analysis.h"
#include "query/diff/module_pairs.h"

/* "folded, pprof": the formats that can be written; the caller frees. */
static char *writable_formats(void)
{
	char *all = xstrdup("");

	for (size_t i = 0; formats[i]; i++) {
		char *longer;

		if (!formats[i]->write)
			continue;
		longer = xasprintf("%s%s%s", all, *all ? ", " : "", formats[i]->name);
		free(all);
		all = longer;
	}
	return all;
}

/* The format of --to, or NULL with a sentence. */
static const struct format *find_format(const struct options *o, struct err *e)
{
	const struct format *format = o->to ? format_by_name(o->to) : NULL;
	char *all;

	if (format && format->write)
		return format;
	all = writable_formats();
	if (!o->to)
		err_set(e, -EINVAL, "export wants --to and a format: %s", all);
	else
		err_set(e, -EINVAL, "--to takes %s, not \"%s\"", all, o->to);
	free(all);
	return NULL;
}

static enum status write_out(const struct options *o, const struct format *format,
			     const struct analysis *a)
{
	struct err e = ERR_INIT;
	const struct write_options options = { .mark_kernel = o->kernel,
					       .mark_jit = o->jit,
					       .name = o->output };
	struct output out;
	int rc = output_open(&out, o->output, &e);

	if (rc)
		return message_error(&e, STATUS_USAGE);
	rc = export_write(format, a, &options, o->output, &out, &e);
	if (rc && out.code) { /* the output says it, and a closed pipe is no trouble */
		err_clear(&e);
		rc = 0;
	}
	if (output_close(&out, !rc, &e) || rc)
		return message_error(&e, STATUS_USAGE);
	return STATUS_GOOD;
}

/* With programs of two names paired; rules that there were none of before. */
static int again(struct lens *lens, const struct name_rules *names, const struct profile *p,
		 struct analysis **out)
{
	analysis_free(*out);
	lens_set_names(lens, names);
	return analysis_new(p, lens, NULL, out);
}

/* Both sides as columns of one analysis. */
static int compare(const struct options *o, const struct profile *p, struct analysis **out,
		   struct err *e)
{
	const struct lens_wish w = load_heaps_lens(o);
	struct comparison sides = { 0 };
	struct lens lens;
	int rc = comparison_options(o, p, &sides, e);

	if (!rc)
		rc = comparison_options_lens(&w, &sides, p, o->metric, &lens, e);
	if (!rc) {
		if (lens.sides.normalise != NORMALISE_NONE &&
		    lens.sides.normalise != NORMALISE_TOTAL)
			rc = err_set(e, -EINVAL, "--normalise of an export is none or total");
		else
			rc = analysis_new(p, &lens, NULL, out);
		if (!rc && !o->no_pairs && lens.grouping == GROUP_FUNCTION &&
		    module_pairs_find((*out)->diff, &sides.names) > 0)
			rc = again(&lens, &sides.names, p, out);
		lens_done(&lens);
	}
	comparison_done(&sides);
	return rc;
}

/* Nobody who chose no event is to take one for all. */
static void tell_events(const struct options *o, const struct format *format,
			const struct analysis *a)
{
	char *names = NULL, *written;

	if (!format->one_event || query_options_chose_event(o))
		return;
	names = query_options_events_left_out(a, LENS_MAX_COLUMNS);
	if (!names)
		return;
	written = metric_name(a->profile, a->lens.column[0].metric);
	message("only %s was written, not %s; --event NAME chooses one", written, names);
	free(written);
	free(names);
}

/* Nobody is to take what was written for all there was. */
static void tell_losses(const struct format *format, const struct analysis *a)
{
	char *lost = format->compares ? NULL : export_lost(a, format);

	if (lost)
		message("%s has no room for %s: left out", format->name, lost);
	free(lost);
	if (export_drops_positions(a) && format->holds & (HOLDS(ADDRESSES) | HOLDS(LINES)))
		message("frames have no addresses and source lines, as a filter or --group changes stacks");
}

static enum status export_loaded(const struct options *o, const struct format *format,
				 struct load *l)
{
	const struct lens_wish w = load_heaps_lens(o);
	struct err e = ERR_INIT;
	struct analysis *a;
	enum status status;

	if (load_wait(l, &e))
		return message_error(&e, STATUS_UNUSABLE);
	if (format->compares ? compare(o, load_profile(l), &a, &e)
			     : query_options_analysis(&w, load_profile(l), ANALYSIS_TREE, &a, &e))
		return message_error(&e, STATUS_USAGE);
	status = write_out(o, format, a);
	if (status == STATUS_GOOD) {
		tell_losses(format, a);
		tell_events(o, format, a);
	}
	analysis_free(a);
	return status;
}

static enum status run_export(const struct options *o)
{
	struct err e = ERR_INIT;
	const struct format *format = find_format(o, &e);
	struct load_wish read = load_of(o);
	enum status status;
	struct load *l;

	if (!format || (format->compares && comparison_options_check(o, &e)))
		return message_error(&e, STATUS_USAGE);
	if (!format->compares && (o->side_a || o->side_b || o->normalise)) {
		message("--a, --b and --normalise are of comparisons: --to folded-diff or svg-diff");
		return STATUS_USAGE;
	}
	l = load_start(o, &read, &e);
	if (!l)
		return message_error(&e, STATUS_USAGE);
	status = export_loaded(o, format, l);
	load_free(l);
	return status;
}

const struct command cmd_export = {
	.name = "export",
	.synopsis = "--to FORMAT [-o OUT] FILE…",
	.summary = "Writes what is left of a profile in another format.",
	.verb = ON_EXPORT,
	.run = run_export,
};
