/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The environment, and %p and its like in paths. */
#include "config.h"

#include "record/heap/trace/tracer_options.h"

#include "record/heap/trace/kernel_stat.h"

#include "heaptrace/heap_wire.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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

/* Notes that the value of a variable makes no sense: what holds instead is a sentence of its own. */
static void note_odd(struct tracer_options *o, const char *name, const char *value,
		     const char *instead)
{
	struct tracer_odd *odd = &o->odd[o->n_odd];
	size_t n = strnlen(value, sizeof(odd->value) - 1);

	if (o->n_odd == TRACER_MAX_ODD)
		return;
	o->n_odd++;
	odd->name = name;
	odd->instead = instead;
	memcpy(odd->value, value, n);
	odd->value[n] = '\0';
}

/* The digits at *s as a number below 10 to the 13th, and *s behind them. False: there are none, or too many. */
static bool take_number(const char **s, uint64_t *v)
{
	const char *first = *s;

	for (*v = 0; **s >= '0' && **s <= '9' && *s - first < 13; ++*s)
		*v = *v * 10 + (uint64_t)(**s - '0');
	return *s > first && !(**s >= '0' && **s <= '9');
}

/* What parsing makes of a variable that is set; without sense it is 0, and that is noted. */
static uint64_t parsed(struct tracer_options *o, const char *settings, const char *name,
		       bool (*parse)(const char *s, uint64_t *v), const char *instead)
{
	const char *s = setting(settings, name);
	uint64_t v = 0;

	if (!s || !*s || parse(s, &v))
		return v;
	note_odd(o, name, s, instead);
	return 0;
}

static bool parse_count(const char *s, uint64_t *v)
{
	return take_number(&s, v) && !*s && *v <= UINT32_MAX;
}

/* A number, perhaps with k, M or G behind it, which mean powers of 1024. */
static bool parse_bytes(const char *s, uint64_t *v)
{
	unsigned shift = 0;

	if (!take_number(&s, v))
		return false;
	if (*s == 'k' || *s == 'K')
		shift = 10;
	else if (*s == 'M')
		shift = 20;
	else if (*s == 'G')
		shift = 30;
	if (s[shift != 0] || *v >> (63 - shift))
		return false;
	*v <<= shift;
	return true;
}

/* A time in ns: a number with ns, us, ms or s behind it, ms without. At most 10 s. */
static bool parse_duration(const char *s, uint64_t *ns)
{
	static const struct {
		const char *unit;
		uint64_t ns;
	} units[] = {
		{ "", 1000000 }, { "ns", 1 }, { "us", 1000 }, { "ms", 1000000 }, { "s", 1000000000 }
	};
	uint64_t v, most = UINT64_C(10000000000);

	if (!take_number(&s, &v))
		return false;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(s, units[i].unit) != 0)
			continue;
		*ns = v < most / units[i].ns ? v * units[i].ns : most;
		return true;
	}
	return false;
}

/* A part of a hundred, as millionths: digits, perhaps with a point and more of them, perhaps a percent sign. */
static bool parse_percent(const char *s, uint64_t *millionths)
{
	uint64_t v, unit = 10000;

	if (!take_number(&s, &v) || v > 100000)
		return false;
	v *= unit;
	if (*s == '.')
		for (s++; *s >= '0' && *s <= '9'; s++)
			v += (unit /= 10) * (uint64_t)(*s - '0');
	if (*s == '%')
		s++;
	if (*s)
		return false;
	*millionths = v;
	return true;
}

/* 1 for on, 0 for off. */
static bool parse_switch(const char *s, uint64_t *on)
{
	static const char *const words[][2] = {
		{ "0", "1" }, { "no", "yes" }, { "off", "on" }, { "false", "true" }
	};

	for (size_t i = 0; i < 8; i++) {
		*on = i & 1;
		if (strcmp(s, words[i / 2][*on]) == 0)
			return true;
	}
	return false;
}

/* What stays of a trace that may not become larger. */
enum keep { KEEP_OLDEST, KEEP_NEWEST, KEEP_UNREAD, KEEP_SIZE };

static bool parse_keep(const char *s, uint64_t *keep)
{
	static const char *const words[] = {
		[KEEP_OLDEST] = "oldest", [KEEP_NEWEST] = "newest", [KEEP_UNREAD] = "unread"
	};

	for (*keep = 0; *keep < KEEP_SIZE; ++*keep)
		if (strcmp(s, words[*keep]) == 0)
			return true;
	return false;
}

static bool parse_signal(const char *s, uint64_t *number)
{
	return parse_count(s, number) && *number <= 64;
}

static bool is_set(struct tracer_options *o, const char *settings, const char *name, bool otherwise)
{
	const char *s = setting(settings, name);

	if (!s || !*s)
		return otherwise;
	return parsed(o, settings, name, parse_switch, otherwise ? "1 is taken" : "0 is taken") !=
	       0;
}

static bool parse_level(const char *s, uint64_t *level)
{
	static const char *const words[] = {
		[TRACER_OFF] = "off", [TRACER_WARN] = "warn", [TRACER_INFO] = "info"
	};

	for (*level = 0; *level <= TRACER_INFO; ++*level)
		if (strcmp(s, words[*level]) == 0)
			return true;
	return false;
}

/* Where a log is asked for and no file, it goes to standard error. */
static void read_log(struct tracer_options *o, const char *settings)
{
	const char *file = setting(settings, "PROFTOP_LOGFILE");
	const char *level = setting(settings, "PROFTOP_LOG");
	bool asked = level && *level;
	struct stat s;

	o->log[0] = '\0';
	o->error_device = o->error_inode = 0;
	o->level = TRACER_INFO;
	if (asked)
		o->level = (enum tracer_level)parsed(o, settings, "PROFTOP_LOG", parse_level,
						     "nothing is told");
	if (file && *file && !expand(o->log, file, NULL))
		o->log[0] = '\0';
	if (!asked || (file && *file) || kernel_fstat(STDERR_FILENO, &s) != 0)
		return;
	o->error_device = s.st_dev;
	o->error_inode = s.st_ino;
}

/* What recording leaves out. */
static void read_thinning(struct tracer_options *o, const char *settings)
{
	o->sample_bytes = parsed(o, settings, "PROFTOP_SAMPLE", parse_bytes,
				 "every allocation is recorded");
	o->sample_exact = parsed(o, settings, "PROFTOP_SAMPLE_EXACT", parse_bytes,
				 "no size is recorded in any case");
	o->most_share = (double)parsed(o, settings, "PROFTOP_MAX_OVERHEAD", parse_percent,
				       "recording may take any time") /
			1e6;
	o->cull_ns = parsed(o, settings, "PROFTOP_CULL", parse_duration, "nothing is culled");
	if (o->cull_ns && (o->sample_bytes || o->most_share > 0)) {
		/* What sampling left out is not there to be counted. */
		note_odd(o, "PROFTOP_CULL", setting(settings, "PROFTOP_CULL"),
			 "nothing is culled, as sampling goes before it");
		o->cull_ns = 0;
	}
}

static void read_max_size(struct tracer_options *o, const char *settings)
{
	uint64_t least, keep = parsed(o, settings, "PROFTOP_KEEP", parse_keep,
				      "the oldest events are kept");

	o->keep_newest = keep == KEEP_NEWEST;
	o->keep_unread = keep == KEEP_UNREAD;
	least = o->keep_newest ? HEAP_SIZE_NEWEST : HEAP_SIZE_LEAST;
	o->max_bytes = parsed(o, settings, "PROFTOP_MAX_SIZE", parse_bytes,
			      "the trace may have any size");
	o->size_raised = o->max_bytes && o->max_bytes < least;
	if (o->size_raised)
		o->max_bytes = least;
}

bool tracer_options_read(struct tracer_options *o, const char *settings)
{
	const char *output = setting(settings, "PROFTOP_OUTPUT");

	o->n_odd = 0;
	read_log(o, settings);
	o->check = parsed(o, settings, "PROFTOP_CHECK", parse_count, "no stack is compared");
	read_thinning(o, settings);
	read_max_size(o, settings);
	o->only_pid = (uint32_t)parsed(o, settings, "PROFTOP_ONLY_PID", parse_count,
				       "any process is recorded");
	o->children = is_set(o, settings, "PROFTOP_CHILDREN", false);
	o->free_stacks = is_set(o, settings, "PROFTOP_FREE_STACKS", false);
	o->addresses = is_set(o, settings, "PROFTOP_ADDRESSES", false);
	o->environment = is_set(o, settings, "PROFTOP_ENVIRONMENT", true);
	o->pss = is_set(o, settings, "PROFTOP_PSS", true);
	o->code = is_set(o, settings, "PROFTOP_CODE", true);
	o->toggle_signal = (uint32_t)parsed(o, settings, "PROFTOP_TOGGLE_SIGNAL", parse_signal,
					    "no signal pauses");
	o->paused = is_set(o, settings, "PROFTOP_PAUSED", false);
	o->disabled = is_set(o, settings, "PROFTOP_DISABLED", false);
	o->seconds = (uint32_t)parsed(o, settings, "PROFTOP_SECONDS", parse_count,
				      "recording does not end by itself");
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
