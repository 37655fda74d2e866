/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "tui/app/app_complete.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "profile/profile.h"
#include "query/analysis.h"
#include "query/core/filter.h"
#include "query/core/filter_term.h"
#include "tui/app/app_lens.h"
#include "tui/app/app_state.h"
#include "tui/contract/prompt.h"

/* Names that are looked through, and told. */
#define LOOKED_MOST 200000u
#define TOLD_MOST   12

/* What fits so far. */
struct fitting {
	const char *begin; /* what was typed of it */
	size_t n;          /* bytes of that */
	char *common;      /* what all that fit begin with; NULL: nothing fits; owned */
	char *told;        /* the first of them, for a message; owned */
	uint32_t n_fit;
};

static void fit(struct fitting *f, const char *name)
{
	size_t same = 0;
	char *told;

	if (strncmp(name, f->begin, f->n) != 0 || *name == '\0')
		return;
	if (f->common && strcmp(f->common, name) == 0 && f->n_fit == 1)
		return; /* again */
	f->n_fit++;
	if (!f->common) {
		f->common = xstrdup(name);
		f->told = xstrdup(name);
		return;
	}
	while (f->common[same] && f->common[same] == name[same])
		same++;
	/* not amid a code point */
	while (same > 0 && ((unsigned char)name[same] & 0xc0) == 0x80)
		same--;
	f->common[same] = '\0';
	if (f->n_fit > TOLD_MOST || strstr(f->told, name))
		return;
	told = xasprintf("%s  %s", f->told, name);
	free(f->told);
	f->told = told;
}

static void fit_string(struct fitting *f, const struct profile *p, string_id s)
{
	fit(f, profile_string(p, s, NULL));
}

/* Names of what a kind is about, as far as the profile has them. */
static void fit_values(struct fitting *f, const struct app *a, const char *kind)
{
	const struct profile *p = a->analysis->profile;
	const struct profile_counts *n = &a->analysis->counts;
	bool modules = strstr(kind, "module") || strcmp(kind, "in") == 0;

	for (size_t i = 0; term_value_name(kind, i); i++)
		fit(f, term_value_name(kind, i));
	if (modules)
		for (uint32_t i = 0; i < n->n_modules; i++)
			fit_string(f, p, profile_module(p, (module_id){ i })->name);
	else if (strcmp(kind, "event") == 0)
		for (uint32_t i = 0; i < n->n_events; i++)
			fit_string(f, p, profile_event(p, (event_id){ i })->name);
	else if (strcmp(kind, "thread") == 0 || strcmp(kind, "comm") == 0)
		for (uint32_t i = 0; i < n->n_threads; i++)
			fit_string(f, p, profile_thread(p, (thread_id){ i })->name);
	else if (strcmp(kind, "process") == 0)
		for (uint32_t i = 0; i < n->n_processes; i++)
			fit_string(f, p, process_name(profile_process(p, (process_id){ i })));
	else if (strcmp(kind, "fn") == 0 || strcmp(kind, "leaf") == 0 ||
		 strcmp(kind, "focus") == 0 || strcmp(kind, "merge") == 0 ||
		 strcmp(kind, "collapse") == 0)
		for (uint32_t i = 0; i < n->n_functions && i < LOOKED_MOST; i++)
			if (!(profile_function(p, (function_id){ i })->flags & FUNCTION_COMM))
				fit_string(f, p, profile_function(p, (function_id){ i })->name);
}

/* Types what is missing: names have no blanks there, as a term would end. */
static void type(struct app *a, const char *text)
{
	size_t used, len = strcspn(text, " \"");

	for (size_t i = 0; i < len; i += used)
		prompt_key(&a->prompt, text_decode(text + i, len - i, &used));
}

static void tell(struct app *a, const struct fitting *f)
{
	if (f->n_fit > TOLD_MOST)
		app_say_owned(a, false,
			      xasprintf("%s  and %u more", f->told, f->n_fit - TOLD_MOST));
	else if (f->n_fit > 1)
		app_say(a, false, f->told);
	else if (f->n_fit == 0)
		app_say(a, false, "nothing begins so");
}

void app_complete(struct app *a)
{
	const char *text = a->prompt.text ? a->prompt.text : "", *term = text, *colon;
	struct fitting f = { 0 };

	for (const char *s = text; *s; s++)
		if (*s == ' ')
			term = s + 1;
	if (a->prompt.cursor != a->prompt.n || *term == '"')
		return;
	term += *term == '!';
	colon = strchr(term, ':');
	if (colon) {
		char *kind = xstrndup(term, (size_t)(colon - term));

		f.begin = colon + 1;
		f.n = strlen(f.begin);
		fit_values(&f, a, kind);
		free(kind);
	} else {
		f.begin = term;
		f.n = strlen(term);
		for (size_t i = 0; term_kind_name(i); i++)
			fit(&f, term_kind_name(i));
	}
	if (f.common) {
		size_t typed = f.n;
		bool whole = f.n_fit == 1 && !colon;

		type(a, f.common + typed);
		if (whole)
			type(a, ":");
	}
	if (f.n_fit != 1)
		tell(a, &f);
	free(f.common);
	free(f.told);
}
