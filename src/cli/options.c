/* SPDX-License-Identifier: GPL-3.0-or-later */
/* getopt_long(3) fed from the OPTIONS table; values that stand for themselves are checked here. */
#include "config.h"

#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "err.h"
#include "filter.h"

/* What getopt_long returns for options without a letter: past every character. */
#define LONG_BASE 256

#define SCREEN_MAX 1000

static const struct {
	const char *name;
	int letter;
	const char *value;
	uint32_t verbs;
	const char *help;
} table[N_OPTIONS] = {
#define X(name, text, letter, value, verbs, help) \
	[OPTION_##name] = { text, letter, value, verbs, help },
	OPTIONS(X)
#undef X
};

static int parse_rows(const char *text, int64_t *out, struct err *e)
{
	char *end;
	long long v;

	errno = 0;
	v = strtoll(text, &end, 10);
	if (errno || end == text || *end || v < 0)
		return err_set(e, -EINVAL, "-n wants a number of rows, 0 for all, not \"%s\"",
			       text);
	*out = v;
	return 0;
}

static int parse_percent(const char *text, double *out, struct err *e)
{
	char *end;
	double v = strtod(text, &end);

	if (end == text || *end || !isfinite(v) || v < 0 || v > 100)
		return err_set(e, -EINVAL, "--min wants a percentage from 0 to 100, not \"%s\"",
			       text);
	*out = v;
	return 0;
}

static int parse_screen(const char *text, int *cols, int *lines, struct err *e)
{
	int used = 0, c, l;

	if (strspn(text, "0123456789x") != strlen(text) || strlen(text) > 9 ||
	    sscanf(text, "%dx%d%n", &c, &l, &used) != 2 || text[used] || c < 1 || l < 1 ||
	    c > SCREEN_MAX || l > SCREEN_MAX)
		return err_set(e, -EINVAL,
			       "--screen wants COLSxROWS, each from 1 to %d, not \"%s\"",
			       SCREEN_MAX, text);
	*cols = c;
	*lines = l;
	return 0;
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

static int take_option(struct options *o, enum option_id which, const char *value, struct err *e)
{
	switch (which) {
	case OPTION_FILTER:
		return filter_add(o->filter, value, e);
	case OPTION_TIME:
		return add_term(o, "time", value, e);
	case OPTION_THREAD:
		return add_term(o, "thread", value, e);
	case OPTION_EVENT:
		vec_push(&o->events, value);
		return 0;
	case OPTION_SYMBOLS:
		vec_push(&o->symbols, value);
		return 0;
	case OPTION_ROWS:
		return parse_rows(value, &o->rows, e);
	case OPTION_MIN:
		return parse_percent(value, &o->min_percent, e);
	case OPTION_SCREEN:
		return parse_screen(value, &o->cols, &o->lines, e);
	case OPTION_METRIC:
		o->metric = value;
		return 0;
	case OPTION_GROUP:
		o->group = value;
		return 0;
	case OPTION_VIEW:
		o->view = value;
		return 0;
	case OPTION_FUNCTION:
		o->function = value;
		return 0;
	case OPTION_SORT:
		o->sort = value;
		return 0;
	case OPTION_TO:
		o->to = value;
		return 0;
	case OPTION_OUTPUT:
		o->output = value;
		return 0;
	case OPTION_KEYS:
		o->keys = value;
		return 0;
	case OPTION_COLOR:
		o->color = value;
		return 0;
	case OPTION_KERNEL:
		o->kernel = true;
		return 0;
	case OPTION_JIT:
		o->jit = true;
		return 0;
	case OPTION_ALL:
		o->kernel = o->jit = true;
		return 0;
	case OPTION_PID:
		o->pid = true;
		return 0;
	case OPTION_TID:
		o->tid = true;
		return 0;
	case OPTION_ADDRS:
		o->addrs = true;
		return 0;
	case OPTION_NOINLINE:
		o->no_inline = true;
		return 0;
	case OPTION_SERVERS:
		o->debuginfod = true;
		return 0;
	case OPTION_INLINE:
		o->inlined = true;
		return 0;
	case OPTION_JSON:
		o->json = true;
		return 0;
	case OPTION_ASCII:
		o->ascii = true;
		return 0;
	case OPTION_NOMOUSE:
		o->no_mouse = true;
		return 0;
	case OPTION_HELP:
		o->help = true;
		return 0;
	case OPTION_VERSION:
		o->version = true;
		return 0;
	case N_OPTIONS:
		break;
	}
	return 0;
}

/* The forms that getopt_long wants; only what the verb takes. */
struct forms {
	char letters[2 * N_OPTIONS + 3];
	struct option long_forms[N_OPTIONS + 1];
};

static void make_forms(struct forms *f, uint32_t verb)
{
	size_t n = 0;
	char *at = f->letters;

	memset(f, 0, sizeof(*f));
	*at++ = ':'; /* a missing value is told apart, and nothing is printed */
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

static int bad_option(const struct options *o, int answer, char **argv, struct err *e)
{
	char help[64];

	if (answer == ':')
		return err_set(e, -EINVAL, "%s wants a value; see: %s", argv[optind - 1],
			       help_command(o, help));
	if (optopt > 0 && optopt < LONG_BASE)
		return err_set(e, -EINVAL, "there is no option -%c; see: %s", optopt,
			       help_command(o, help));
	return err_set(e, -EINVAL, "there is no option %s, or it takes no value; see: %s",
		       argv[optind - 1], help_command(o, help));
}

int options_parse(struct options *o, const struct command *command, int argc, char **argv,
		  struct err *e)
{
	struct forms forms;
	int answer, rc;

	*o = (struct options){ .command = command, .metric = "", .rows = -1, .min_percent = -1 };
	rc = filter_parse("", &o->filter, e);
	if (rc)
		return rc;
	make_forms(&forms, command->verb);
	optind = 0; /* GNU: begin anew, whoever parsed before */
	opterr = 0;
	while ((answer = getopt_long(argc, argv, forms.letters, forms.long_forms, NULL)) != -1) {
		enum option_id which = option_of(answer);

		if (which == N_OPTIONS)
			return bad_option(o, answer, argv, e);
		rc = take_option(o, which, optarg, e);
		if (rc)
			return rc;
	}
	for (int i = optind; i < argc; i++)
		vec_push(&o->files, argv[i]);
	return 0;
}

void options_done(struct options *o)
{
	filter_free(o->filter);
	vec_done(&o->files);
	vec_done(&o->symbols);
	vec_done(&o->events);
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
