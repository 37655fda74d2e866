/* SPDX-License-Identifier: GPL-3.0-or-later */
/* getopt_long(3) fed from the OPTIONS table; values that stand for themselves are checked here. */
#include "config.h"

#include "cli/options/options.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "notebook/notebook.h"
#include "query/core/filter.h"
#include "query/core/ratio.h"

/* What getopt_long returns for options without a letter: past every character. */
#define LONG_BASE 256

#define SCREEN_MAX 1000
#define WIDTH_MIN  40
#define WIDTH_MAX  10000

/*
 * What an option does with its value (NULL when it has none) and its field of struct options. Returns 0, or
 * -EINVAL with a sentence.
 */
typedef int take_fn(struct options *o, void *field, const char *value, struct err *e);

static int take_flag(struct options *o, void *field, const char *value, struct err *e)
{
	bool *flag = field;

	(void)o;
	(void)value;
	(void)e;
	*flag = true;
	return 0;
}

static int take_text(struct options *o, void *field, const char *value, struct err *e)
{
	const char **text = field;

	(void)o;
	(void)e;
	*text = value;
	return 0;
}

static int take_list(struct options *o, void *field, const char *value, struct err *e)
{
	struct option_list *list = field;

	(void)o;
	(void)e;
	vec_push(list, value);
	return 0;
}

/* As the others, of what cannot be empty; see is_missing(). */
static int take_name(struct options *o, void *field, const char *value, struct err *e)
{
	return take_text(o, field, value, e);
}

static int take_names(struct options *o, void *field, const char *value, struct err *e)
{
	return take_list(o, field, value, e);
}

/* "FROM=TO", where TO may be empty: the root. */
static int take_map(struct options *o, void *field, const char *value, struct err *e)
{
	const char *equals = strchr(value, '=');

	if (!equals || equals == value)
		return err_set(e, -EINVAL, "--source-map wants FROM=TO, not \"%s\"", value);
	return take_list(o, field, value, e);
}

static int take_ratio(struct options *o, void *field, const char *value, struct err *e)
{
	int rc = ratio_check(value, e);

	return rc ? rc : take_list(o, field, value, e);
}

/* What is given several times adds up, as if it had been given once with commas between. */
static int take_joined(struct options *o, void *field, const char *value, struct err *e)
{
	char **text = field, *before = *text;

	(void)o;
	(void)e;
	*text = before ? xasprintf("%s,%s", before, value) : xstrdup(value);
	free(before);
	return 0;
}

/* --all is --kernel and --jit. */
static int take_all(struct options *o, void *field, const char *value, struct err *e)
{
	o->jit = true;
	return take_flag(o, field, value, e);
}

static int take_rows(struct options *o, void *field, const char *value, struct err *e)
{
	int64_t *rows = field;
	long long v;
	char *end;

	(void)o;
	errno = 0;
	v = strtoll(value, &end, 10);
	if (errno || end == value || *end || v < 0)
		return err_set(e, -EINVAL, "-n wants a number of rows, 0 for all, not \"%s\"",
			       value);
	*rows = v;
	return 0;
}

static int take_percent(struct options *o, void *field, const char *value, struct err *e)
{
	double *percent = field, v;
	char *end;

	(void)o;
	v = strtod(value, &end);
	if (end == value || *end || !isfinite(v) || v < 0 || v > 100)
		return err_set(e, -EINVAL, "--min wants a percentage from 0 to 100, not \"%s\"",
			       value);
	*percent = v;
	return 0;
}

static int take_width(struct options *o, void *field, const char *value, struct err *e)
{
	int *width = field;
	char *end;
	long v;

	(void)o;
	errno = 0;
	v = strtol(value, &end, 10);
	if (errno || end == value || *end || v < 0 || v > WIDTH_MAX || (v > 0 && v < WIDTH_MIN))
		return err_set(
			e, -EINVAL,
			"--width wants a number of columns from %d to %d, 0 for all, not \"%s\"",
			WIDTH_MIN, WIDTH_MAX, value);
	*width = (int)v;
	return 0;
}

static int take_screen(struct options *o, void *field, const char *value, struct err *e)
{
	int *cols = field, used = 0, c, l;

	if (strspn(value, "0123456789x") != strlen(value) || strlen(value) > 9 ||
	    sscanf(value, "%dx%d%n", &c, &l, &used) != 2 || value[used] || c < 1 || l < 1 ||
	    c > SCREEN_MAX || l > SCREEN_MAX)
		return err_set(e, -EINVAL,
			       "--screen wants COLSxROWS, each from 1 to %d, not \"%s\"",
			       SCREEN_MAX, value);
	*cols = c;
	o->lines = l;
	return 0;
}

static int take_filter(struct options *o, void *field, const char *value, struct err *e)
{
	(void)field;
	return filter_add(o->filter, value, e);
}

/* Adds the term kind:value to the filter. */
static int add_term(struct options *o, const char *kind, const char *value, struct err *e)
{
	char *quoted = filter_quote(value), *term = xasprintf("%s:%s", kind, quoted);
	int rc = filter_add(o->filter, term, e);

	free(quoted);
	free(term);
	return rc;
}

static int take_time(struct options *o, void *field, const char *value, struct err *e)
{
	(void)field;
	return add_term(o, "time", value, e);
}

static int take_thread(struct options *o, void *field, const char *value, struct err *e)
{
	(void)field;
	return add_term(o, "thread", value, e);
}

static const struct {
	const char *name;
	int letter;
	const char *value;
	uint32_t verbs;
	const char *help;
	take_fn *take;
	size_t field; /* offset in struct options */
} table[N_OPTIONS] = {
#define X(id, text, letter, value, verbs, how, field, help) \
	[OPTION_##id] = { \
		text, letter, value, verbs, help, take_##how, offsetof(struct options, field) \
	},
	OPTIONS(X)
#undef X
};

/* A name that is empty comes of an unset variable in a script: not the default is meant by it. */
static bool is_missing(enum option_id which, const char *value)
{
	take_fn *take = table[which].take;

	return (take == take_name || take == take_names) && !*value;
}

/* The forms that getopt_long wants; only what the verb takes. */
struct forms {
	char letters[2 * N_OPTIONS + 4];
	struct option long_forms[N_OPTIONS + 1];
};

static void make_forms(struct forms *f, uint32_t verb)
{
	size_t n = 0;
	char *at = f->letters;

	memset(f, 0, sizeof(*f));
	if (verb == ON_RECORD)
		*at++ = '+'; /* what follows the first word is the command's */
	*at++ = ':';         /* a missing value is told apart, and nothing is printed */
	for (int i = 0; i < N_OPTIONS; i++) {
		if (!(table[i].verbs & verb))
			continue;
		f->long_forms[n++] = (struct option){
			.name = table[i].name,
			.has_arg = table[i].value ? required_argument : no_argument,
			.val = LONG_BASE + i,
		};
		if (!table[i].letter)
			continue;
		*at++ = (char)table[i].letter;
		if (table[i].value)
			*at++ = ':';
	}
}

/* Which option getopt_long's answer means, or N_OPTIONS. */
static enum option_id option_of(int answer)
{
	if (answer >= LONG_BASE)
		return (enum option_id)(answer - LONG_BASE);
	for (int i = 0; i < N_OPTIONS; i++)
		if (table[i].letter == answer)
			return (enum option_id)i;
	return N_OPTIONS;
}

static const char *help_command(const struct options *o, char buffer[64])
{
	const char *verb = o->command->name;

	snprintf(buffer, 64, "proftop%s%s --help", *verb ? " " : "", verb);
	return buffer;
}

/* Is "--name", or "--name=value", one that the command does not take? */
static bool is_of_others(const struct options *o, const char *word)
{
	size_t n = strcspn(word + 2, "=");

	for (int i = 0; i < N_OPTIONS; i++)
		if (strlen(table[i].name) == n && memcmp(table[i].name, word + 2, n) == 0)
			return !(table[i].verbs & o->command->verb);
	return false;
}

static int bad_option(const struct options *o, int answer, char **argv, struct err *e)
{
	char help[64];

	if (answer == ':')
		return err_set(e, -EINVAL, "%s wants a value; see: %s", argv[optind - 1],
			       help_command(o, help));
	if (optopt > 0 && optopt < LONG_BASE)
		return err_set(e, -EINVAL, "there is no option -%c; see: %s", optopt,
			       help_command(o, help));
	if (is_of_others(o, argv[optind - 1]))
		return err_set(e, -EINVAL, "%s is an option of other commands; see: %s",
			       argv[optind - 1], help_command(o, help));
	return err_set(e, -EINVAL, "there is no option %s, or it takes no value; see: %s",
		       argv[optind - 1], help_command(o, help));
}

/* Where "--" divides the words of what compares or records, and tells them apart; argc: nowhere. */
static int find_divide(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "--") == 0)
			return i;
	return argc;
}

int options_parse(struct options *o, const struct command *command, int argc, char **argv,
		  struct err *e)
{
	struct forms forms;
	int answer, rc, n_first = argc;

	if (command->verb & (ON_SIDES | ON_LIVE))
		n_first = find_divide(argc, argv);

	*o = (struct options){ .command = command,
			       .argv = argv,
			       .metric = "",
			       .rows = -1,
			       .min_percent = -1,
			       .width = -1 };
	rc = filter_parse("", &o->filter, e);
	if (rc)
		return rc;
	make_forms(&forms, command->verb);
	optind = 0; /* GNU: begin anew, whoever parsed before */
	opterr = 0;
	while ((answer = getopt_long(n_first, argv, forms.letters, forms.long_forms, NULL)) != -1) {
		enum option_id which = option_of(answer);

		if (which == N_OPTIONS)
			return bad_option(o, answer, argv, e);
		if (is_missing(which, optarg))
			return err_set(e, -EINVAL,
				       "--%s wants a %s, and what it was given is empty",
				       table[which].name, table[which].value);
		rc = table[which].take(o, (char *)o + table[which].field, optarg, e);
		if (rc)
			return rc;
	}
	for (int i = optind; i < n_first; i++)
		vec_push(&o->files, argv[i]);
	o->divided = n_first < argc;
	o->n_before = o->divided ? o->files.n : 0;
	for (int i = n_first + 1; i < argc; i++)
		vec_push(&o->files, argv[i]);
	return 0;
}

void options_done(struct options *o)
{
	filter_free(o->filter);
	if (o->notebook)
		notebook_done(o->notebook);
	free(o->notebook);
	if (o->saved)
		saved_view_done(o->saved);
	free(o->saved);
	vec_done(&o->files);
	vec_done(&o->symbols);
	vec_done(&o->sources);
	vec_done(&o->source_maps);
	vec_done(&o->events);
	vec_done(&o->ratios);
	vec_done(&o->fail_if);
	vec_done(&o->maps);
	free(o->attach);
	free(o->cpus);
	free(o->tasks);
}

void options_help(const struct command *command, FILE *to)
{
	for (int i = 0; i < N_OPTIONS; i++) {
		char form[64];

		if (!(table[i].verbs & command->verb))
			continue;
		snprintf(form, sizeof(form), "%s--%s%s%s", table[i].letter ? "-X, " : "    ",
			 table[i].name, table[i].value ? " " : "",
			 table[i].value ? table[i].value : "");
		if (table[i].letter)
			form[1] = (char)table[i].letter;
		fprintf(to, "  %-22s %s\n", form, table[i].help);
	}
}
