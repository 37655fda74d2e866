/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The command line's way in: find the verb, parse its options, run it. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/system_limits.h"
#include "cli/options/command.h"
#include "cli/options/message.h"
#include "cli/options/options.h"
#include "cli/options/output.h"
#include "cli/options/saved_options.h"
#include "formats/pack/pack_file.h"
#include "notebook/notebook.h"

/* Longer words are no verbs, and more slips no slip. */
#define WORD_MAX  16
#define SLIPS_MAX 2

static const struct command *const commands[] = {
	&cmd_explore, &cmd_report, &cmd_diff,  &cmd_export, &cmd_info,   &cmd_record, &cmd_live,
	&cmd_compare, &cmd_mark,   &cmd_pause, &cmd_resume, &cmd_detach, &cmd_doctor, &cmd_pack
};
#define N_COMMANDS (sizeof(commands) / sizeof(commands[0]))

static void print_synopsis(const struct command *c, FILE *to)
{
	fprintf(to, "  proftop%s%s%s%s\n", *c->name ? " " : "", c->name, *c->synopsis ? " " : "",
		c->synopsis);
}

/* The page of the manual that tells of a command. */
static const char *manual_page(const struct command *c)
{
	static const struct {
		const char *name, *page;
	} pages[] = {
		{ "record", "proftop-record" }, { "live", "proftop-live" },
		{ "diff", "proftop-diff" },     { "report", "proftop-report" },
		{ "export", "proftop-report" }, { "info", "proftop-report" },
		{ "pack", "proftop-report" },   { "mark", "proftop-heap" },
		{ "pause", "proftop-heap" },    { "resume", "proftop-heap" },
		{ "detach", "proftop-heap" },
	};

	for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++)
		if (strcmp(pages[i].name, c->name) == 0)
			return pages[i].page;
	return "proftop";
}

static void print_help(const struct command *c, FILE *to)
{
	fputs("usage:\n", to);
	print_synopsis(c, to);
	if (c == &cmd_explore)
		for (size_t i = 1; i < N_COMMANDS; i++)
			print_synopsis(commands[i], to);
	fprintf(to, "\n%s\n\n", c->summary);
	options_help(c, to);
	fprintf(to,
		"\nFiles are told apart by their content; several merge; - is standard input; with no FILE,\n"
		"./perf.data is opened. More: man %s, or ? inside.\n",
		manual_page(c));
}

/*
 * Someone may start us with standard streams closed; a file opened later must not take their
 * number. What stands in for them fails when used, as a closed one would.
 */
static void hold_standard_streams(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 &&
		    open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0)
			return;
}

/* "proftop help", unless that is a file. */
static bool is_help(int argc, char **argv)
{
	return argc == 2 && strcmp(argv[1], "help") == 0 && access("help", F_OK) != 0;
}

static const struct command *find_command(int *argc, char ***argv)
{
	static char help_option[] = "--help";

	if (*argc < 2)
		return &cmd_explore;
	for (size_t i = 0; i < N_COMMANDS; i++) {
		if (!*commands[i]->name || strcmp(commands[i]->name, (*argv)[1]) != 0)
			continue;
		--*argc;
		++*argv;
		return commands[i];
	}
	if (is_help(*argc, *argv))
		(*argv)[1] = help_option;
	return &cmd_explore;
}

/* How many letters to change, put in or take out (Levenshtein), up to a limit that a typing slip stays below. */
static size_t distance(const char *a, const char *b)
{
	size_t n = strlen(b), row[WORD_MAX + 1];

	for (size_t j = 0; j <= n; j++)
		row[j] = j;
	for (size_t i = 1; a[i - 1]; i++) {
		size_t corner = row[0];

		row[0] = i;
		for (size_t j = 1; j <= n; j++) {
			size_t change = corner + (a[i - 1] != b[j - 1]);
			size_t other = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;

			corner = row[j];
			row[j] = change < other ? change : other;
		}
	}
	return row[n];
}

static const struct command *nearest_command(const char *word)
{
	const struct command *best = NULL;
	size_t least = SLIPS_MAX + 1;

	for (size_t i = 1; i < N_COMMANDS; i++) {
		size_t d = distance(word, commands[i]->name);

		if (d >= least)
			continue;
		least = d;
		best = commands[i];
	}
	return best;
}

/*
 * Is the first file none, but a verb with a slip in it, or one that we do not have ("proftop match a b")?
 * Then says so.
 */
static bool is_no_verb(const struct options *o)
{
	const char *word = o->files.at[0];
	const struct command *near;

	if (strspn(word, "abcdefghijklmnopqrstuvwxyz-") != strlen(word) || word[0] == '-' ||
	    strlen(word) > WORD_MAX || access(word, F_OK) == 0)
		return false;
	near = nearest_command(word);
	if (near)
		message("there is no command and no file \"%s\"; did you mean: proftop %s", word,
			near->name);
	else if (o->files.n > 1)
		message("there is no command and no file \"%s\"; see: proftop --help", word);
	return near || o->files.n > 1;
}

/* Saved views and notes, also those that a pack brings. */
static int take_saved(struct options *o, struct err *e)
{
	const char *file = saved_options_file(o);
	const char *said;
	char *packed = NULL;
	size_t n = 0;
	int rc;

	if (file)
		pack_read_notes(file, &packed, &n);
	rc = saved_options_take(o, packed, n, e);
	free(packed);
	said = o->notebook->complaint;
	for (size_t i = 0; !rc && i < o->files.n; i++)
		if (o->files.at[i] != file) {
			packed = NULL;
			pack_read_notes(o->files.at[i], &packed, &n);
			notebook_add_other(o->notebook, o->files.at[i], packed, n);
			free(packed);
		}
	if (!said && o->notebook->complaint)
		message("%s", o->notebook->complaint);
	return rc;
}

static enum status run(const struct command *c, struct options *o, int argc, char **argv)
{
	struct err e = ERR_INIT;

	if (options_parse(o, c, argc, argv, &e))
		return message_error(&e, STATUS_USAGE);
	if (o->help) {
		print_help(c, stdout);
		return STATUS_GOOD;
	}
	if (o->version) {
		puts("proftop " VERSION);
		return STATUS_GOOD;
	}
	if (c->verb & (ON_LIVE | ON_COMPARE) && saved_options_take(o, NULL, 0, &e))
		return message_error(&e, STATUS_USAGE);
	if (c->verb & (ON_RECORD | ON_TELL | ON_LIVE | ON_DOCTOR | ON_COMPARE))
		return c->run(o);
	if (o->files.n == 0 && access("perf.data", R_OK) == 0)
		vec_push(&o->files, "perf.data");
	if (o->files.n == 0) {
		message("no file was given and there is no perf.data here; see: proftop --help");
		return STATUS_USAGE;
	}
	if (c == &cmd_explore && is_no_verb(o))
		return STATUS_USAGE;
	/* Reading may take its time: not in vain. */
	if (output_check(o->output, &e) || output_check(o->junit, &e))
		return message_error(&e, STATUS_USAGE);
	if (c->verb & (ON_LENS | ON_PACK) && take_saved(o, &e))
		return message_error(&e, STATUS_USAGE);
	return c->run(o);
}

int main(int argc, char **argv)
{
	const struct command *c;
	struct options o;
	enum status status;

	system_limits_settle_malloc();
	message_locale();
	c = find_command(&argc, &argv);
	/* What is recorded gets streams and signals as we got them. */
	if (c != &cmd_record)
		hold_standard_streams();
	if (c != &cmd_record && c != &cmd_compare) {
		signal(SIGPIPE, SIG_IGN); /* `| head` ends the output, not the program */
	}
	status = run(c, &o, argc, argv);
	options_done(&o);
	if (fflush(stdout) && errno != EPIPE && status == STATUS_GOOD) {
		message("standard output: %s", strerror(errno));
		status = STATUS_USAGE;
	}
	return (int)status;
}
