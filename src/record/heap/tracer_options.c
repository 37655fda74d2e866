/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The environment, and %p and its like in paths. */
#include "config.h"

#include "tracer_options.h"

#include "heap_wire.h"

#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

struct text {
	char *at; /* [TRACER_MAX_PATH] */
	size_t n;
	bool full;
};

static void add(struct text *t, const char *s, size_t n)
{
	if (n >= TRACER_MAX_PATH - t->n) {
		t->full = true;
		return;
	}
	memcpy(t->at + t->n, s, n);
	t->n += n;
	t->at[t->n] = '\0';
}

static void add_number(struct text *t, uint64_t v)
{
	char digits[20];
	size_t i = sizeof(digits);

	do
		digits[--i] = (char)('0' + v % 10);
	while (v /= 10);
	add(t, digits + i, sizeof(digits) - i);
}

static void add_program(struct text *t)
{
	char exe[TRACER_MAX_PATH];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe));
	ssize_t from = n;

	if (n <= 0)
		return;
	while (from > 0 && exe[from - 1] != '/')
		from--;
	add(t, exe + from, (size_t)(n - from));
}

static void add_host(struct text *t)
{
	struct utsname u;

	if (uname(&u) == 0)
		add(t, u.nodename, strlen(u.nodename));
}

/* The directory that a relative path is of. */
static void add_directory(struct text *t)
{
	char cwd[TRACER_MAX_PATH];

	if (!getcwd(cwd, sizeof(cwd)))
		return;
	add(t, cwd, strlen(cwd));
	add(t, "/", 1);
}

/*
 * What %c stands for: p the pid, t seconds since 1970, e the program, h the host, n how many names were tried before,
 * % a percent sign. False: nothing, it stays.
 */
static bool add_meaning(struct text *t, char c, const unsigned *n_tried)
{
	if (c == 'p')
		add_number(t, (uint64_t)getpid());
	else if (c == 't')
		add_number(t, (uint64_t)time(NULL));
	else if (c == 'e')
		add_program(t);
	else if (c == 'h')
		add_host(t);
	else if (c == 'n' && n_tried)
		add_number(t, *n_tried);
	else if (c == '%')
		add(t, "%", 1);
	else
		return false;
	return true;
}

/* n_tried is NULL where there is no second choice. */
static bool expand(char *out, const char *pattern, const unsigned *n_tried)
{
	struct text t = { .at = out };

	*out = '\0';
	if (*pattern != '/')
		add_directory(&t);
	for (const char *c = pattern; *c; c++) {
		if (*c == '%' && add_meaning(&t, c[1], n_tried))
			c++;
		else
			add(&t, c, 1);
	}
	return !t.full;
}

/* Is there a %n in it? */
static bool is_counted(const char *pattern)
{
	for (const char *c = strchr(pattern, '%'); c && c[1]; c = strchr(c + 2, '%'))
		if (c[1] == 'n')
			return true;
	return false;
}

/* What the settings, or without them the environment, say of name; or NULL. */
static const char *setting(const char *settings, const char *name)
{
	size_t n = strlen(name);

	if (!settings)
		return getenv(name);
	for (; *settings; settings += strlen(settings) + 1)
		if (strncmp(settings, name, n) == 0 && settings[n] == '=')
			return settings + n + 1;
	return NULL;
}

/* A number, perhaps with k, M or G behind it, which mean powers of 1024; 0 when it is none. */
static uint64_t number(const char *settings, const char *name)
{
	const char *s = setting(settings, name);
	uint64_t v = 0;

	for (; s && *s >= '0' && *s <= '9' && v < UINT32_MAX; s++)
		v = v * 10 + (uint64_t)(*s - '0');
	if (s && (*s == 'k' || *s == 'K'))
		v <<= 10;
	else if (s && *s == 'M')
		v <<= 20;
	else if (s && *s == 'G')
		v <<= 30;
	return v;
}

/* A time in ns: a number with ns, us, ms or s behind it, ms without; 0 when it is none. At most 10 s. */
static uint64_t duration(const char *settings, const char *name)
{
	static const struct {
		const char *unit;
		uint64_t ns;
	} units[] = {
		{ "", 1000000 }, { "ns", 1 }, { "us", 1000 }, { "ms", 1000000 }, { "s", 1000000000 }
	};
	const char *s = setting(settings, name);
	uint64_t v = 0, most = UINT64_C(10000000000);

	for (; s && *s >= '0' && *s <= '9' && v < UINT32_MAX; s++)
		v = v * 10 + (uint64_t)(*s - '0');
	for (size_t i = 0; s && i < sizeof(units) / sizeof(units[0]); i++)
		if (strcmp(s, units[i].unit) == 0)
			return v < most / units[i].ns ? v * units[i].ns : most;
	return 0;
}

/* A part of a hundred, as a part of one: digits, perhaps with a point and more of them, perhaps a percent sign; else 0. */
static double percent(const char *settings, const char *name)
{
	const char *s = setting(settings, name);
	double v = 0, unit = 0.01;

	for (; s && *s >= '0' && *s <= '9' && v < 100; s++)
		v = v * 10 + 0.01 * (*s - '0');
	if (s && *s == '.')
		for (s++; *s >= '0' && *s <= '9' && unit > 1e-6; s++)
			v += (unit /= 10) * (*s - '0');
	return v;
}

static bool is_set(const char *settings, const char *name, bool otherwise)
{
	const char *s = setting(settings, name);

	if (!s || !*s)
		return otherwise;
	return strcmp(s, "0") != 0 && strcmp(s, "no") != 0;
}

static bool is_word(const char *settings, const char *name, const char *word)
{
	const char *s = setting(settings, name);

	return s && strcmp(s, word) == 0;
}

/* With keep_newest known. */
static void read_max_size(struct tracer_options *o, const char *settings)
{
	uint64_t least = o->keep_newest ? HEAP_SIZE_NEWEST : HEAP_SIZE_LEAST;

	o->max_bytes = number(settings, "PROFTOP_MAX_SIZE");
	o->size_raised = o->max_bytes && o->max_bytes < least;
	if (o->size_raised)
		o->max_bytes = least;
}

bool tracer_options_read(struct tracer_options *o, const char *settings)
{
	const char *output = setting(settings, "PROFTOP_OUTPUT");
	const char *log = setting(settings, "PROFTOP_LOGFILE");

	o->log[0] = '\0';
	o->check = number(settings, "PROFTOP_CHECK");
	o->sample_bytes = number(settings, "PROFTOP_SAMPLE");
	o->sample_exact = number(settings, "PROFTOP_SAMPLE_EXACT");
	o->most_share = percent(settings, "PROFTOP_MAX_OVERHEAD");
	/* What sampling left out is not there to be counted. */
	o->cull_ns = o->sample_bytes || o->most_share > 0 ? 0 : duration(settings, "PROFTOP_CULL");
	o->keep_newest = is_word(settings, "PROFTOP_KEEP", "newest");
	read_max_size(o, settings);
	o->only_pid = (uint32_t)number(settings, "PROFTOP_ONLY_PID");
	o->children = is_set(settings, "PROFTOP_CHILDREN", false);
	o->free_stacks = is_set(settings, "PROFTOP_FREE_STACKS", false);
	o->environment = is_set(settings, "PROFTOP_ENVIRONMENT", true);
	o->pss = is_set(settings, "PROFTOP_PSS", true);
	o->code = is_set(settings, "PROFTOP_CODE", true);
	o->toggle_signal = (uint32_t)number(settings, "PROFTOP_TOGGLE_SIGNAL");
	o->paused = is_set(settings, "PROFTOP_PAUSED", false);
	o->disabled = is_set(settings, "PROFTOP_DISABLED", false);
	o->seconds = (uint32_t)number(settings, "PROFTOP_SECONDS");
	if (log && *log && !expand(o->log, log, NULL))
		o->log[0] = '\0';
	output = output && *output ? output : "proftop.%e.%p.heap";
	if (strlen(output) >= sizeof(o->output))
		return false;
	strcpy(o->output, output);
	return true;
}

void tracer_options_program(char out[TRACER_MAX_PATH])
{
	struct text t = { .at = out };

	*out = '\0';
	add_program(&t);
}

bool tracer_options_name(const struct tracer_options *o, unsigned n, char out[TRACER_MAX_PATH])
{
	static const char suffix[] = ".heap";
	unsigned n_tried = n - 1;
	size_t n_suffix = sizeof(suffix) - 1;
	struct text t = { .at = out };
	bool named;

	if (!expand(out, o->output, &n_tried))
		return false;
	if (n == 1 || is_counted(o->output))
		return true;
	t.n = strlen(out);
	named = t.n > n_suffix && strcmp(out + t.n - n_suffix, suffix) == 0;
	if (named)
		t.n -= n_suffix;
	add(&t, ".", 1);
	add_number(&t, n);
	if (named)
		add(&t, suffix, n_suffix);
	return !t.full;
}
