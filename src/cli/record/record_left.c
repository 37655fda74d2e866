/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tracer's log has a line "proftop: PID: PROGRAM is left alone", or "… forked and is left alone", for each such process. */
#include "config.h"

#include "cli/record/record_left.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/fmt.h"
#include "base/mem.h"
#include "cli/options/message.h"

#define BEGINS     "proftop: "
#define LEFT_ALONE " is left alone"
#define FORKED     " forked and"
#define LOG_NAME   "PROFTOP_LOGFILE="
#define MOST_NAMES 3u

static void add(struct record_left *l, pid_t pid, const char *program, size_t n, bool forked)
{
	if (l->n == l->room) {
		l->room = l->room ? 2 * l->room : 8;
		l->at = xreallocarray(l->at, l->room, sizeof(*l->at));
	}
	l->at[l->n] = (struct record_left_one){ xstrndup(program, n), l->n, pid, forked };
	l->n++;
}

static bool ends_with(const char *s, size_t n, const char *end)
{
	size_t n_end = strlen(end);

	return n >= n_end && strncmp(s + n - n_end, end, n_end) == 0;
}

bool record_left_take(struct record_left *l, const char *line)
{
	size_t n = strlen(line);
	bool forked;
	char *program;
	pid_t pid;

	if (strncmp(line, BEGINS, strlen(BEGINS)) != 0 || !ends_with(line, n, LEFT_ALONE))
		return false;
	pid = (pid_t)strtol(line + strlen(BEGINS), &program, 10);
	if (strncmp(program, ": ", 2) != 0)
		return false;
	program += 2;
	n = strlen(program) - strlen(LEFT_ALONE);
	forked = ends_with(program, n, FORKED);
	add(l, pid, program, forked ? n - strlen(FORKED) : n, forked);
	return true;
}

/* What is in /proc/PID/NAME; the caller frees. NULL: it cannot be read. */
static char *read_proc(pid_t pid, const char *name, size_t *n)
{
	char path[64], *text = NULL;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%ld/%s", (long)pid, name);
	f = fopen(path, "re");
	if (!f)
		return NULL;
	*n = 0;
	for (size_t room = 4096;; room *= 2) {
		size_t got;

		text = xreallocarray(text, room + 1, 1);
		got = fread(text + *n, 1, room - *n, f);
		*n += got;
		if (got == 0 || *n < room)
			break;
	}
	text[*n] = '\0';
	fclose(f);
	return text;
}

/* Does the process have that log? */
static bool has_log(pid_t pid, const char *log)
{
	size_t n = 0;
	char *environment = read_proc(pid, "environ", &n);
	bool found = false;

	for (const char *at = environment; at && at < environment + n; at += strlen(at) + 1)
		found |= strncmp(at, LOG_NAME, strlen(LOG_NAME)) == 0 &&
			 strcmp(at + strlen(LOG_NAME), log) == 0;
	free(environment);
	return found;
}

static bool is_known(const struct record_left *l, pid_t pid)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->at[i].pid == pid)
			return true;
	return false;
}

void record_left_find(struct record_left *l, const char *log, pid_t pid)
{
	DIR *dir = opendir("/proc");
	struct dirent *d;

	while (dir && (d = readdir(dir))) {
		pid_t other = (pid_t)strtol(d->d_name, NULL, 10);
		size_t n = 0;
		char *name;

		if (other <= 0 || other == pid || !has_log(other, log) || is_known(l, other))
			continue;
		name = read_proc(other, "comm", &n);
		if (name && n > 1)
			add(l, other, name, n - 1, true);
		free(name);
	}
	if (dir)
		closedir(dir);
}

static int by_pid(const void *a, const void *b)
{
	const struct record_left_one *x = a, *y = b;

	return COMPARE(x->pid, y->pid) ?: COMPARE(x->order, y->order);
}

static int by_order(const void *a, const void *b)
{
	const struct record_left_one *x = a, *y = b;

	return COMPARE(x->order, y->order);
}

/* Forked children that became other programs are told of as those. */
static void drop_became(struct record_left *l)
{
	size_t n = 0;

	qsort(l->at, l->n, sizeof(*l->at), by_pid);
	for (size_t i = 0; i < l->n; i++) {
		bool became = l->at[i].forked && i + 1 < l->n && l->at[i + 1].pid == l->at[i].pid &&
			      !l->at[i + 1].forked;

		if (became)
			free(l->at[i].program);
		else
			l->at[n++] = l->at[i];
	}
	l->n = n;
	qsort(l->at, l->n, sizeof(*l->at), by_order);
}

/* Is the program of the i-th one that of an earlier one of its kind? */
static bool is_named(const struct record_left *l, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (l->at[k].forked == l->at[i].forked &&
		    strcmp(l->at[k].program, l->at[i].program) == 0)
			return true;
	return false;
}

/* "2 programs that it ran (cc1, as)", or "1 process that it forked (sh)"; NULL: none. The caller frees. */
static char *kind_text(const struct record_left *l, bool forked)
{
	char count[FMT_SIZE], *names = xstrdup(""), *out = NULL;
	size_t n = 0, n_named = 0;

	for (size_t i = 0; i < l->n; i++) {
		char *longer;

		n += l->at[i].forked == forked;
		if (l->at[i].forked != forked || n_named > MOST_NAMES || is_named(l, i))
			continue;
		longer = xasprintf("%s%s%s", names, n_named ? ", " : "",
				   n_named < MOST_NAMES ? l->at[i].program : "…");
		free(names);
		names = longer;
		n_named++;
	}
	if (n > 0)
		out = xasprintf("%s %s%s that it %s (%s)", fmt_count(count, (int64_t)n),
				forked ? "process" : "program",
				n == 1   ? ""
				: forked ? "es"
					 : "s",
				forked ? "forked" : "ran", names);
	free(names);
	return out;
}

void record_left_say(struct record_left *l)
{
	char *ran, *forked;

	if (l->n == 0)
		return;
	drop_became(l);
	ran = kind_text(l, false);
	forked = kind_text(l, true);
	message("not recorded: %s%s%s; --children records %s, too", ran ? ran : "",
		ran && forked ? " and " : "", forked ? forked : "", l->n > 1 ? "them" : "it");
	free(ran);
	free(forked);
}

void record_left_say_going_on(struct record_left *l, const char *output)
{
	char *processes = kind_text(l, true);

	if (processes)
		message("still recorded: %s; traces of %s and of what %s start%s later are written beside %s",
			processes, l->n > 1 ? "them" : "it", l->n > 1 ? "they" : "it",
			l->n > 1 ? "" : "s", output ? output : "these");
	free(processes);
}

void record_left_done(struct record_left *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->at[i].program);
	free(l->at);
	*l = (struct record_left){ 0 };
}
