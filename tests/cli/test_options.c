/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The command line's options, and that help, manual and completions know the same ones. */
#include "config.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "cli/options/options.h"
#include "query/core/filter.h"
#include "tui/contract/view.h"

#define ARGS_MAX 12

/* Parses words, which end in NULL, for a verb. */
static int parse(struct options *o, const struct command *c, const char *const *words,
		 struct err *e)
{
	char *argv[ARGS_MAX + 2] = { (char *)"proftop" };
	int argc = 1;

	while (argc <= ARGS_MAX && words[argc - 1]) {
		argv[argc] = (char *)words[argc - 1];
		argc++;
	}
	return options_parse(o, c, argc, argv, e);
}

Test(options, fill_their_fields)
{
	const char *words[] = { "a.data",  "-n",     "12",      "--min=2.5", "--json",  "b.data",
				"--event", "cycles", "--event", "faults",    "--ascii", NULL };
	struct err e = ERR_INIT;
	struct options o;

	cr_assert_eq(parse(&o, &cmd_report, words, &e), 0, "%s", err_text(&e));
	cr_expect_eq(o.rows, 12);
	cr_expect_float_eq(o.min_percent, 2.5, 0);
	cr_expect(o.json);
	cr_expect(o.ascii);
	cr_assert_eq(o.files.n, 2);
	cr_expect_str_eq(o.files.at[0], "a.data");
	cr_expect_str_eq(o.files.at[1], "b.data");
	cr_assert_eq(o.events.n, 2);
	cr_expect_str_eq(o.events.at[1], "faults");
	options_done(&o);
}

/* One of each way in which an option is taken, beside those above. */
Test(options, reach_only_their_fields)
{
	const char *words[] = { "--all", "--symbols=a", "--symbols", "b", "--to=folded", NULL };
	const char *screen[] = { "--screen", "100x30", "--width=0", NULL };
	struct err e = ERR_INIT;
	struct options o;

	cr_assert_eq(parse(&o, &cmd_export, words, &e), 0, "%s", err_text(&e));
	cr_expect(o.kernel && o.jit);
	cr_expect_not(o.pid || o.tid || o.addrs || o.json || o.inlined || o.help);
	cr_assert_eq(o.symbols.n, 2);
	cr_expect_str_eq(o.symbols.at[1], "b");
	cr_expect_str_eq(o.to, "folded");
	cr_expect_null(o.output);
	cr_expect_eq(o.width, -1);
	options_done(&o);
	cr_assert_eq(parse(&o, &cmd_report, screen, &e), 0, "%s", err_text(&e));
	cr_expect_eq(o.cols, 100);
	cr_expect_eq(o.lines, 30);
	cr_expect_eq(o.width, 0);
	options_done(&o);
}

Test(options, add_up)
{
	const char *words[] = { "-p", "4",      "-t", "5,6", "-p", "7,8", "-C",
				"0",  "--task", "9",  "-C",  "2",  NULL };
	struct err e = ERR_INIT;
	struct options o;

	cr_assert_eq(parse(&o, &cmd_record, words, &e), 0, "%s", err_text(&e));
	cr_expect_str_eq(o.attach, "4,7,8");
	cr_expect_str_eq(o.tasks, "5,6,9");
	cr_expect_str_eq(o.cpus, "0,2");
	options_done(&o);
}

Test(options, leave_defaults_where_nothing_is_said)
{
	const char *words[] = { NULL };
	struct err e = ERR_INIT;
	struct options o;

	cr_assert_eq(parse(&o, &cmd_report, words, &e), 0);
	cr_expect_eq(o.rows, -1);
	cr_expect_lt(o.min_percent, 0);
	cr_expect_eq(o.files.n, 0);
	cr_expect_str_eq(o.metric, "");
	cr_expect_null(o.view);
	cr_expect_eq(filter_n_terms(o.filter), 0);
	options_done(&o);
}

/* Short forms of a filter and the filter itself add up, in the order given. */
static const struct {
	const char *words[ARGS_MAX];
	const char *filter;
} filters[] = {
	{ { "-f", "module:libc !fn:^std::" }, "module:libc !fn:^std::" },
	{ { "--time", "2,5" }, "time:2,5" },
	{ { "--thread", "my worker" }, "thread:\"my worker\"" },
	{ { "-f", "fn:a", "--time=,3", "--filter=fn:b" }, "fn:a time:,3 fn:b" },
};

Test(options, add_up_to_one_filter)
{
	for (size_t i = 0; i < sizeof(filters) / sizeof(filters[0]); i++) {
		struct err e = ERR_INIT;
		struct options o;
		char *text;

		cr_assert_eq(parse(&o, &cmd_report, filters[i].words, &e), 0, "%s", err_text(&e));
		text = filter_text(o.filter);
		cr_expect_str_eq(text, filters[i].filter);
		free(text);
		options_done(&o);
	}
}

static const struct {
	const struct command *command;
	const char *words[ARGS_MAX];
	const char *says; /* part of the sentence */
} mistakes[] = {
	{ &cmd_report, { "--frobnicate" }, "no option --frobnicate" },
	{ &cmd_report, { "-Z" }, "no option -Z" },
	{ &cmd_report, { "-n" }, "-n wants a value" },
	{ &cmd_report, { "-n", "-3" }, "not \"-3\"" },
	{ &cmd_report, { "-n", "12x" }, "not \"12x\"" },
	{ &cmd_report, { "-n", "99999999999999999999" }, "-n wants" },
	{ &cmd_report, { "--json=yes" }, "--json" },
	{ &cmd_report, { "--min", "101" }, "from 0 to 100" },
	{ &cmd_report, { "--min", "nan" }, "from 0 to 100" },
	{ &cmd_report, { "--screen", "100" }, "COLSxROWS" },
	{ &cmd_report, { "--screen", "0x5" }, "COLSxROWS" },
	{ &cmd_report, { "--screen", "5x5x5" }, "COLSxROWS" },
	{ &cmd_report, { "--screen", "1001x5" }, "COLSxROWS" },
	{ &cmd_report, { "--width", "39" }, "from 40 to 10000" },
	{ &cmd_report, { "--width", "10001" }, "from 40 to 10000" },
	{ &cmd_report, { "--width", "80x" }, "not \"80x\"" },
	{ &cmd_report, { "--width", "" }, "--width wants" },
	{ &cmd_report, { "--keys", "j" }, "--keys" },
	{ &cmd_report, { "-f", "fn:(" }, "\"(\"" },
	{ &cmd_report, { "--time", "banana" }, "banana" },
	{ &cmd_info, { "--view", "top" }, "--view" },
	{ &cmd_export, { "--json" }, "--json" },
	{ &cmd_report, { "--normalise", "x" }, "--normalise" },
	{ &cmd_explore, { "-o", "x" }, "no option -o" },
};

Test(options, name_the_mistake)
{
	for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++) {
		struct err e = ERR_INIT;
		struct options o;

		cr_expect_eq(parse(&o, mistakes[i].command, mistakes[i].words, &e), -EINVAL,
			     "case %zu", i);
		cr_expect(strstr(err_text(&e), mistakes[i].says), "case %zu: \"%s\" has no \"%s\"",
			  i, err_text(&e), mistakes[i].says);
		err_clear(&e);
		options_done(&o);
	}
}

/* A file of the source tree; the caller frees. */
static char *read_source(const char *path)
{
	const char *srcdir = getenv("srcdir");
	char full[4096], *text = calloc(1, 1 << 16);
	FILE *f;

	snprintf(full, sizeof(full), "%s/%s", srcdir ? srcdir : ".", path);
	f = fopen(full, "r");
	cr_assert(f, "%s cannot be read", full);
	cr_assert_lt(fread(text, 1, (1 << 16) - 1, f), (1 << 16) - 1, "%s is too long", full);
	fclose(f);
	return text;
}

static const struct {
	const char *name;
	int letter;
	uint32_t verbs;
} all[] = {
#define X(id, text, letter, value, verbs, ...) { text, letter, verbs },
	OPTIONS(X)
#undef X
};

/* How the shells' completions write a long and a short option. */
static const struct {
	const char *path, *long_form, *short_form;
} places[] = {
	{ "completions/bash/proftop", "--%s", NULL },
	{ "completions/zsh/_proftop", "--%s", "-%c" },
	{ "completions/fish/proftop.fish", "-l %s ", "-s %c " },
};

/* The pages of the manual that tell the options of verbs. */
static const struct {
	uint32_t verbs;
	const char *path[4];
} pages[] = {
	{ ON_EXPLORE, { "doc/proftop.1" } },
	{ ON_REPORT | ON_INFO, { "doc/proftop.1", "doc/proftop-report.1" } },
	{ ON_EXPORT, { "doc/proftop.1", "doc/proftop-report.1", "doc/proftop-diff.1" } },
	{ ON_DIFF, { "doc/proftop.1", "doc/proftop-report.1", "doc/proftop-diff.1" } },
	{ ON_COMPARE,
	  { "doc/proftop.1", "doc/proftop-report.1", "doc/proftop-diff.1",
	    "doc/proftop-record.1" } },
	{ ON_RECORD, { "doc/proftop.1", "doc/proftop-record.1" } },
	{ ON_LIVE, { "doc/proftop.1", "doc/proftop-live.1", "doc/proftop-record.1" } },
	{ ON_TELL, { "doc/proftop.1" } },
};

/* Is there a list item whose line has the option? */
static bool has_item(const char *text, const char *option)
{
	for (const char *at = strstr(text, option); at; at = strstr(at + 1, option)) {
		const char *line = at;
		char next = at[strlen(option)];

		while (line > text && line[-1] != '\n')
			line--;
		if (strncmp(line, ".It ", 4) == 0 && (next == ' ' || next == '\n'))
			return true;
	}
	return false;
}

static bool is_told(const char *const *path, size_t n, const char *option)
{
	bool told = false;

	for (size_t i = 0; i < n && path[i]; i++) {
		char *text = read_source(path[i]);

		told = told || has_item(text, option);
		free(text);
	}
	return told;
}

/* Each option is an item where those look who use its verb. */
Test(options, are_known_to_manual)
{
	for (size_t p = 0; p < sizeof(pages) / sizeof(pages[0]); p++)
		for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
			char wanted[64];

			if (!(all[i].verbs & pages[p].verbs))
				continue;
			snprintf(wanted, sizeof(wanted), "Fl -%s", all[i].name);
			cr_expect(is_told(pages[p].path, 4, wanted), "page %zu has no %s", p,
				  wanted);
			if (!all[i].letter)
				continue;
			snprintf(wanted, sizeof(wanted), "Fl %c", all[i].letter);
			cr_expect(is_told(pages[p].path, 4, wanted), "page %zu has no %s", p,
				  wanted);
		}
}

Test(options, are_known_to_completions)
{
	for (size_t p = 0; p < sizeof(places) / sizeof(places[0]); p++) {
		char *text = read_source(places[p].path), wanted[64];

		for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
			snprintf(wanted, sizeof(wanted), places[p].long_form, all[i].name);
			cr_expect(strstr(text, wanted), "%s has no %s", places[p].path, wanted);
			if (!all[i].letter || !places[p].short_form)
				continue;
			snprintf(wanted, sizeof(wanted), places[p].short_form, all[i].letter);
#pragma GCC diagnostic pop
			cr_expect(strstr(text, wanted), "%s has no %s", places[p].path, wanted);
		}
		free(text);
	}
}

/* Wherever views are listed, all are. */
Test(options, views_are_known_to_help_manual_and_completions)
{
	static const char *const names[] = {
#define X(id, name) name,
		VIEWS(X)
#undef X
	};
	static const struct {
		const char *path, *begin, *end;
	} lists[] = {
		{ "completions/bash/proftop", "--view) words='", "'" },
		{ "completions/zsh/_proftop", "--view[the view]:view:(", ")" },
		{ "completions/fish/proftop.fish", "-l view -x -a '", "'" },
		{ "doc/proftop.1", "The first view:", ".It" },
		{ "doc/proftop-report.1", "One of", ".It" },
		{ "src/cli/options/options.h", "\"view\",", "\\" },
	};

	for (size_t l = 0; l < sizeof(lists) / sizeof(lists[0]); l++) {
		char *text = read_source(lists[l].path), *begin = strstr(text, lists[l].begin),
		     *end;

		cr_assert(begin, "%s", lists[l].path);
		begin += strlen(lists[l].begin);
		end = strstr(begin, lists[l].end);
		cr_assert(end, "%s", lists[l].path);
		*end = '\0';
		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
			cr_expect(strstr(begin, names[i]), "%s has no %s", lists[l].path, names[i]);
		free(text);
	}
}

/* bash completes exactly the options that a verb takes, no more. */
Test(options, are_listed_by_verb_for_bash)
{
	static const struct {
		const char *begin;
		uint32_t verb;
	} lists[] = {
		{ "report)", ON_REPORT }, { "export)", ON_EXPORT }, { "info)", ON_INFO },
		{ "record)", ON_RECORD }, { "detach)", ON_TELL },   { "live)", ON_LIVE },
		{ "doctor)", ON_DOCTOR }, { "*)", ON_EXPLORE },
	};
	char *text = read_source("completions/bash/proftop");

	for (size_t l = 0; l < sizeof(lists) / sizeof(lists[0]); l++) {
		char *begin = strstr(text, lists[l].begin),
		     *end = begin ? strstr(begin, ";;") : NULL;

		cr_assert(end);
		for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
			char wanted[64], *at;
			bool listed;

			snprintf(wanted, sizeof(wanted), "--%s", all[i].name);
			at = strstr(begin, wanted);
			while (at && at < end &&
			       strchr("abcdefghijklmnopqrstuvwxyz-", at[strlen(wanted)]) != NULL)
				at = strstr(at + 1, wanted);
			listed = at && at < end;
			cr_expect_eq(listed, (all[i].verbs & lists[l].verb) != 0, "%s %s",
				     lists[l].begin, wanted);
		}
	}
	free(text);
}

Test(options, help_lists_what_the_verb_takes)
{
	char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	options_help(&cmd_info, f);
	fclose(f);
	cr_expect(strstr(text, "--json"));
	cr_expect(strstr(text, "-o, --output FILE"));
	cr_expect(!strstr(text, "--view"));
	free(text);
}
