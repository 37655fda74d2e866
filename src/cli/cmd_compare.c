/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * proftop compare: two commands, recorded in turn, and the difference of all their runs. What slows a machine for a while, or
 * warms it, meets both alike so.
 */
#include "config.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "cli/options/command.h"
#include "cli/options/message.h"
#include "cli/options/options.h"
#include "cli/options/output.h"
#include "cli/options/scratch.h"
#include "cli/record/record_runs.h"
#include "query/core/lens.h"
#include "query/diff/comparison.h"

#define USUAL_RUNS 5

/* Everything that is made of the command line; owned but for the options. */
struct turns {
	const struct options *o;
	struct option_list command[N_SIDES]; /* words */
	char *name[N_SIDES];                 /* as people call it */
	VEC(char *) words;                   /* of commands that were one text */
	char *directory;                     /* of the recordings */
	struct scratch scratch;              /* the same, if nobody wants to keep them */
	VEC(char *) path[N_SIDES];           /* of each run */
	int n_runs;
};

static const char *const side_names[N_SIDES] = { "before", "after" };

/* What the shell reads as more than a word. */
#define SHELL_SIGNS "|&;<>()$`\\\"'*?[]#~=%{}!\n"

/* The words of a text without such signs. */
static void split(struct turns *c, enum side side, const char *text)
{
	for (const char *at = text + strspn(text, " \t"); *at; at += strspn(at, " \t")) {
		size_t n = strcspn(at, " \t");
		char *word = xstrndup(at, n);

		vec_push(&c->words, word);
		vec_push(&c->command[side], word);
		at += n;
	}
}

/* A command that is one word is a text: with blanks in it words, or what sh(1) runs. False: it is refused, which is said. */
static bool take_words(struct turns *c, enum side side, const struct option_list *files,
		       size_t from, size_t to)
{
	const char *first = files->at[from];
	char *name = xstrdup(first);

	for (size_t i = from + 1; i < to; i++) {
		char *longer = xasprintf("%s %s", name, files->at[i]);

		free(name);
		name = longer;
	}
	c->name[side] = name;
	if (to - from > 1 || !strpbrk(first, " \t" SHELL_SIGNS)) {
		for (size_t i = from; i < to; i++)
			vec_push(&c->command[side], files->at[i]);
	} else if (!strpbrk(first, SHELL_SIGNS)) {
		split(c, side, first);
	} else if (c->o->heap) {
		message("\"%s\" is for a shell, whose heap would be what is compared: give the program and its arguments alone",
			first);
		return false;
	} else {
		vec_push(&c->command[side], "sh");
		vec_push(&c->command[side], "-c");
		vec_push(&c->command[side], first);
	}
	if (c->command[side].n == 0)
		message("a command is empty");
	return c->command[side].n > 0;
}

static bool take_commands(struct turns *c)
{
	const struct option_list *files = &c->o->files;
	size_t middle = 0;

	while (middle < files->n && strcmp(files->at[middle], "--") != 0)
		middle++;
	if (c->o->n_before > 0 || middle == 0 || middle + 1 >= files->n) {
		message("compare wants two commands: proftop compare --runs 5 -- 'COMMAND A' -- 'COMMAND B'; files are compared by proftop diff BEFORE AFTER");
		return false;
	}
	return take_words(c, SIDE_BEFORE, files, 0, middle) &&
	       take_words(c, SIDE_AFTER, files, middle + 1, files->n);
}

/* Where the recordings go: to --keep-runs, which is made, or to a directory that goes with us. */
static bool find_directory(struct turns *c)
{
	const char *parent = getenv("TMPDIR");
	struct err e = ERR_INIT;

	if (c->o->keep_runs) {
		c->directory = xstrdup(c->o->keep_runs);
		if (mkdir(c->directory, 0777) == 0 || errno == EEXIST)
			return true;
		message("%s cannot be made: %s", c->directory, strerror(errno));
		return false;
	}
	if (scratch_make(&c->scratch, parent && *parent ? parent : "/tmp", "proftop-compare-",
			 &e)) {
		message_error(&e, STATUS_USAGE);
		return false;
	}
	c->directory = xstrdup(c->scratch.path);
	return true;
}

/* A heap is one program's: what others the command became or started are in traces beside it, and would be left out. */
static bool is_one_program(const struct turns *c, const char *path)
{
	char *other = xasprintf("%s.2", path);
	bool one = !c->o->heap || access(other, F_OK) != 0;

	free(other);
	if (!one)
		message("the command became another program, with a heap of its own: give that program alone; nothing is compared");
	return one;
}

/* One run of a side. STATUS_GOOD, or what ends it all, which is said. */
static enum status record_one(struct turns *c, enum side side, int number)
{
	struct options one = *c->o;
	bool stopped = false;
	enum status status;
	char *path = xasprintf("%s/%s.%d.data", c->directory, side_names[side], number);

	one.files = c->command[side];
	one.output = path;
	one.runs = NULL;
	one.again = c->path[SIDE_BEFORE].n + c->path[SIDE_AFTER].n > 0;
	vec_push(&c->path[side], path);
	status = record_runs_one(&one, cmd_record.run, true, &stopped);
	if (stopped) {
		message("stopped: nothing is compared");
		return (enum status)(128 + SIGINT);
	}
	if (status == STATUS_GOOD && is_one_program(c, path))
		return STATUS_GOOD;
	if (status == STATUS_GOOD)
		return STATUS_UNUSABLE;
	message("run %d of \"%s\" ended with status %d: nothing is compared", number, c->name[side],
		(int)status);
	return STATUS_UNUSABLE;
}

/* A B, B A, A B, …: neither side always comes first. */
static enum status record_all(struct turns *c)
{
	enum status status = STATUS_GOOD;

	for (int i = 0; i < c->n_runs && status == STATUS_GOOD; i++)
		for (int k = 0; k < N_SIDES && status == STATUS_GOOD; k++)
			status = record_one(c, (enum side)(i % N_SIDES ? !k : k), i + 1);
	return status;
}

static enum status diff(const struct turns *c)
{
	struct options o = *c->o;
	enum status status;

	o.command = &cmd_diff;
	o.files = (struct option_list){ 0 };
	for (int side = 0; side < N_SIDES; side++) {
		o.side_name[side] = c->name[side];
		for (size_t i = 0; i < c->path[side].n; i++)
			vec_push(&o.files, c->path[side].at[i]);
	}
	o.divided = true;
	o.n_before = c->path[SIDE_BEFORE].n;
	/* What was recorded got signals as we did; `| head` ends the output, not us. */
	signal(SIGPIPE, SIG_IGN);
	status = cmd_diff.run(&o);
	vec_done(&o.files);
	return status;
}

static void turns_done(struct turns *c)
{
	for (int side = 0; side < N_SIDES; side++) {
		for (size_t i = 0; i < c->path[side].n; i++)
			free(c->path[side].at[i]);
		vec_done(&c->path[side]);
		vec_done(&c->command[side]);
		free(c->name[side]);
	}
	for (size_t i = 0; i < c->words.n; i++)
		free(c->words.at[i]);
	vec_done(&c->words);
	if (c->scratch.path)
		scratch_remove(&c->scratch);
	free(c->directory);
}

static enum status compare(const struct options *o)
{
	struct turns c = { .o = o, .scratch = { .fd = -1 } };
	struct err e = ERR_INIT;
	enum status status = STATUS_USAGE;

	/* What can be refused is refused before anything runs for an hour. */
	if (output_check(o->output, &e) || output_check(o->junit, &e))
		return message_error(&e, STATUS_USAGE);
	if (record_runs_number(o, USUAL_RUNS, &c.n_runs) && take_commands(&c) && find_directory(&c))
		status = record_all(&c);
	if (status == STATUS_GOOD)
		status = diff(&c);
	turns_done(&c);
	return status;
}

const struct command cmd_compare = {
	.name = "compare",
	.synopsis = "[--runs N] [--report] [--fail-if CONDITION] -- 'COMMAND A' -- 'COMMAND B'",
	.summary =
		"Records two commands in turn, several runs each, and compares them as proftop diff does.",
	.verb = ON_COMPARE,
	.run = compare,
};
