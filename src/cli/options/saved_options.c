/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "cli/options/saved_options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "cli/options/message.h"
#include "cli/options/options.h"
#include "notebook/notebook.h"
#include "query/core/filter.h"

/* What is recorded by us is no file to keep anything beside. */
const char *saved_options_file(const struct options *o)
{
	bool recorded = o->command->verb & ON_COMPARE ||
			(o->command->verb & ON_LIVE && o->divided) || o->attach || o->all_cpus ||
			o->cpus || o->tasks;

	if (recorded || o->files.n == 0)
		return NULL;
	return o->files.at[o->command->verb & ON_DIFF ? o->files.n - 1 : 0];
}

static int take_filter(struct options *o, const struct saved_view *v, const char *path,
		       struct err *e)
{
	struct filter *all = NULL;
	struct err bad = ERR_INIT;
	char *given = filter_text(o->filter);
	int rc = filter_parse(v->filter ? v->filter : "", &all, &bad);

	if (!rc)
		rc = filter_add(all, given, &bad);
	if (rc) {
		err_set(e, rc, "view \"%s\" of %s: %s", v->name, path, err_text(&bad));
		filter_free(all);
	} else {
		filter_free(o->filter);
		o->filter = all;
	}
	err_clear(&bad);
	free(given);
	return rc;
}

static void take(const char **field, const char *saved)
{
	if (!*field)
		*field = saved;
}

/* Reports of other views have an order of their own. */
static bool can_sort(const struct options *o, const struct saved_view *v)
{
	static const char *const sorted[] = { "top", "threads", "memory" };
	bool report = !(o->command->verb & (ON_EXPLORE | ON_LIVE));

	for (size_t i = 0; report && v->view && i < sizeof(sorted) / sizeof(sorted[0]); i++)
		report = strcmp(sorted[i], v->view) != 0;
	return !report || !v->view;
}

/* Order and function belong to the view: another one that was asked for has its own. */
static void take_options(struct options *o, const struct saved_view *v)
{
	bool same_view = !o->view;

	take(&o->view, v->view);
	take(&o->group, v->group);
	if (same_view && can_sort(o, v))
		take(&o->sort, v->sort);
	if (same_view)
		take(&o->function, v->function);
	if (v->metric && !*o->metric && o->events.n == 0)
		o->metric = v->metric;
	if (v->event && o->events.n == 0)
		vec_push(&o->events, v->event);
}

int saved_options_take(struct options *o, const char *packed, size_t n_packed, struct err *e)
{
	enum notebook_page where;
	const struct saved_view *v;
	const char *file = saved_options_file(o);
	int rc;

	o->notebook = xmalloc(sizeof(*o->notebook));
	notebook_open(o->notebook, file);
	if (file && packed)
		notebook_take_packed(o->notebook, file, packed, n_packed);
	if (o->notebook->complaint)
		message("%s", o->notebook->complaint);
	if (!o->view_name)
		return 0;
	v = notebook_view(o->notebook, o->view_name, &where);
	if (!v) {
		char *names;

		if (file && access(file, R_OK) < 0)
			return err_set(e, -errno, "%s: cannot be opened: %s", file,
				       strerror(errno));
		if (o->notebook->barred)
			message("%s", o->notebook->barred);
		names = notebook_view_names(o->notebook);
		err_set(e, -EINVAL,
			"there is no saved view \"%s\"%s%s; there are: %s (V on a screen saves one)",
			o->view_name, file ? " for " : "", file ? file : "", names);
		free(names);
		return -EINVAL;
	}
	rc = take_filter(o, v, o->notebook->path[where], e);
	if (rc)
		return rc;
	/* What is saved while it is used may be saved anew. */
	o->saved = xmalloc(sizeof(*o->saved));
	*o->saved = saved_view_copy(v);
	take_options(o, o->saved);
	return 0;
}
