/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Regular expressions against functions and modules, once each. */
#include "config.h"

#include "query/core/frame_ids.h"

#include "base/mem.h"
#include "base/task.h"
#include "query/core/filter_term.h"
#include "query/core/frame_class.h"
#include "query/core/regex.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Matches between two looks at whether somebody wants to stop. */
#define CANCEL_MASK 255

char *frame_id_made_label(const struct profile *p, module_id m)
{
	const char *name = profile_string(p, profile_module(p, m)->name, NULL);

	if (*name == '\0')
		return xstrdup("[unknown]");
	return *name == '[' ? xstrdup(name) : xasprintf("[%s]", name);
}

static bool string_matches(const struct profile *p, const struct term *t, string_id s)
{
	size_t len;
	const char *text = profile_string(p, s, &len);

	return regex_matches(t->regex, text, len);
}

/* Is its expression about modules? */
static bool is_of_modules(const struct term *t)
{
	return t->kind == TERM_MODULE || t->kind == TERM_IN || t->kind == TERM_FOCUS_MODULE ||
	       t->kind == TERM_COLLAPSE_MODULE;
}

static bool made_label_matches(const struct profile *p, const struct term *t, module_id m)
{
	char *label = frame_id_made_label(p, m);
	bool yes = regex_matches(t->regex, label, strlen(label));

	free(label);
	return yes;
}

/* What has no symbol goes by what its whole module is called, too. */
static bool function_matches(const struct profile *p, const struct term *t, function_id id,
			     const bool *modules)
{
	const struct function *f = profile_function(p, id);

	if (f->flags & FUNCTION_COMM)
		return false;
	if (t->kind == TERM_IS)
		return frame_class_has_function(t->state, t->regex, p, f);
	if (is_of_modules(t))
		return modules[f->module.v];
	if (t->kind == TERM_FILE)
		return function_file(f).v != 0 && string_matches(p, t, function_file(f));
	return string_matches(p, t, f->name) ||
	       (f->flags & FUNCTION_BEGIN && made_label_matches(p, t, f->module));
}

static bool unnamed_matches(const struct profile *p, const struct term *t, module_id m)
{
	if (t->kind == TERM_IS)
		return frame_class_has_unnamed(t->state, p, m);
	if (is_of_modules(t))
		return string_matches(p, t, profile_module(p, m)->name);
	return t->kind != TERM_FILE && made_label_matches(p, t, m);
}

int frame_ids_match(const struct profile *p, const struct profile_counts *counts,
		    const struct term *t, struct progress *progress, bool *out)
{
	bool *modules = out + counts->n_functions;

	for (uint32_t i = 0; i < counts->n_modules; i++) {
		if ((i & CANCEL_MASK) == 0 && progress_cancelled(progress))
			return -ECANCELED;
		modules[i] = unnamed_matches(p, t, (module_id){ i });
	}
	for (uint32_t i = 0; i < counts->n_functions; i++) {
		if ((i & CANCEL_MASK) == 0 && progress_cancelled(progress))
			return -ECANCELED;
		out[i] = function_matches(p, t, (function_id){ i }, modules);
	}
	return 0;
}
