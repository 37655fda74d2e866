/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Labels are pairs of a key and a text or number. A set of them becomes one text, "kind=sort, worker=1", in the order of
 * keys: the thread's labels in the model. Samples of one set mostly follow each other, and all of one set are one thread.
 */
#include "config.h"

#include "formats/pprof/pprof_labels.h"

#include "base/mem.h"
#include "formats/pprof/pprof_head.h"
#include "formats/pprof/pprof_tables.h"
#include <profile.pb-c.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Sets that are kept; samples of more have none. */
#define MOST_SETS    100000
/* Keys of numbers that are told. */
#define MOST_NUMBERS 32
/* Bytes of a set's text. */
#define MOST_TEXT    4096

/* What a label says of the thread. */
enum about {
	ABOUT_UNKNOWN,
	ABOUT_TID,
	ABOUT_PID,
	ABOUT_THREAD,
	ABOUT_PROCESS,
	ABOUT_HOST,
	ABOUT_OTHER
};

/* What a sample's labels say of its thread; texts are the file's. */
struct who {
	int64_t pid, tid; /* -1: nothing */
	struct pprof_string thread, process;
};

/* A key whose values are numbers, and the unit of the first; strings of the file. */
struct number_label {
	int64_t key, unit;
};

struct pprof_labels {
	struct profile *p;
	capture_id capture;
	const struct pprof_tables *t;
	VEC(const Pprof__Label *) sorted; /* of one sample: what is not its thread's */
	VEC(char) text;                   /* of its set */
	uint8_t *about;                   /* [t->strings.n] enum about of each as a key; owned */
	struct who last_who;              /* of last_thread */
	thread_id last_thread;            /* without its set; ID_NONE: none came yet */
	uint32_t last;                    /* string_id of the last set */
	uint64_t n_sets;                  /* that were new, at least */
	uint64_t n_left_out;              /* samples of sets beyond these */
	thread_id same;                   /* of the last sample */
	bool same_left_out;               /* it is one of n_left_out */
	struct pprof_string host;         /* of the first label that names one */
	VEC(struct number_label) numbers;
	bool several_hosts; /* labels name others, too */
};

static const struct {
	const char *key;
	enum about about;
} thread_keys[] = {
	{ "tid", ABOUT_TID },
	{ "thread_id", ABOUT_TID },
	{ "thread id", ABOUT_TID },
	{ "pid", ABOUT_PID },
	{ "process_id", ABOUT_PID },
	{ "process id", ABOUT_PID },
	{ "thread", ABOUT_THREAD },
	{ "thread_name", ABOUT_THREAD },
	{ "thread name", ABOUT_THREAD },
	{ "comm", ABOUT_THREAD },
	{ "thread_comm", ABOUT_THREAD },
	{ "process_name", ABOUT_PROCESS },
	{ "process", ABOUT_PROCESS },
	{ "host", ABOUT_HOST },
	{ "hostname", ABOUT_HOST },
	{ "host.name", ABOUT_HOST },
	{ "host_name", ABOUT_HOST },
	{ "node", ABOUT_HOST },
};

static enum about about_key(struct pprof_string key)
{
	for (size_t i = 0; i < sizeof(thread_keys) / sizeof(*thread_keys); i++)
		if (key.n == strlen(thread_keys[i].key) &&
		    memcmp(key.s, thread_keys[i].key, key.n) == 0)
			return thread_keys[i].about;
	return ABOUT_OTHER;
}

/* As about_key(), which is asked once a key. */
static enum about about_of(const struct pprof_labels *l, int64_t key)
{
	if (key < 0 || (uint64_t)key >= l->t->strings.n)
		return ABOUT_OTHER;
	if (l->about[key] == ABOUT_UNKNOWN)
		l->about[key] = (uint8_t)about_key(pprof_string(l->t, key));
	return (enum about)l->about[key];
}

/* A number, or a text that is one; -1: neither. */
static int64_t number_of(const struct pprof_labels *l, const Pprof__Label *m)
{
	struct pprof_string s = pprof_string(l->t, m->str);
	int64_t v = 0;

	if (s.n == 0)
		return m->num >= 0 && m->num <= INT32_MAX ? m->num : -1;
	for (size_t i = 0; i < s.n; i++) {
		if (s.s[i] < '0' || s.s[i] > '9' || v > INT32_MAX / 10)
			return -1;
		v = 10 * v + (s.s[i] - '0');
	}
	return v <= INT32_MAX ? v : -1;
}

static int compare_text(struct pprof_string a, struct pprof_string b)
{
	size_t n = a.n < b.n ? a.n : b.n;
	int c = n ? memcmp(a.s, b.s, n) : 0;

	return c ? c : (a.n > b.n) - (a.n < b.n);
}

/* The host is a label of its samples, and of the whole file where no other one is named. */
static void note_host(struct pprof_labels *l, struct pprof_string s)
{
	if (l->host.n == 0)
		l->host = s;
	else if (s.n > 0 && compare_text(s, l->host) != 0)
		l->several_hosts = true;
}

/* Takes what is about the thread; false when it is not. */
static bool take_thread(struct pprof_labels *l, const Pprof__Label *m, struct who *w)
{
	struct pprof_string s = pprof_string(l->t, m->str);

	switch (about_of(l, m->key)) {
	case ABOUT_TID:
		return w->tid < 0 && (w->tid = number_of(l, m)) >= 0;
	case ABOUT_PID:
		return w->pid < 0 && (w->pid = number_of(l, m)) >= 0;
	case ABOUT_THREAD:
		if (s.n == 0 || w->thread.n > 0)
			return false;
		w->thread = s;
		return true;
	case ABOUT_PROCESS:
		if (s.n == 0 || w->process.n > 0)
			return false;
		w->process = s;
		return true;
	case ABOUT_HOST:
		note_host(l, s);
		break;
	case ABOUT_UNKNOWN:
	case ABOUT_OTHER:
		break;
	}
	return false;
}

/* Labels of numbers. */

/* Each key and unit once, while they are few. */
static void note_number(struct pprof_labels *l, int64_t key, int64_t unit)
{
	for (size_t i = 0; i < l->numbers.n; i++)
		if (l->numbers.at[i].key == key)
			return;
	if (l->numbers.n < MOST_NUMBERS)
		vec_push(&l->numbers, ((struct number_label){ key, unit }));
}

/* The text of a set. */

/* Sets are small: by insertion. */
static void insert(struct pprof_labels *l, const Pprof__Label *m)
{
	struct pprof_string key = pprof_string(l->t, m->key);
	size_t i = l->sorted.n;

	vec_push(&l->sorted, m);
	for (; i > 0 && compare_text(pprof_string(l->t, l->sorted.at[i - 1]->key), key) > 0; i--)
		l->sorted.at[i] = l->sorted.at[i - 1];
	l->sorted.at[i] = m;
}

static void add_text(struct pprof_labels *l, const char *s, size_t n)
{
	if (n > MOST_TEXT - l->text.n)
		n = MOST_TEXT - l->text.n;
	if (n == 0)
		return;
	vec_reserve(&l->text, l->text.n + n);
	memcpy(l->text.at + l->text.n, s, n);
	l->text.n += n;
}

static void add_label(struct pprof_labels *l, const Pprof__Label *m)
{
	struct pprof_string key = pprof_string(l->t, m->key), s = pprof_string(l->t, m->str);
	struct pprof_string unit = pprof_string(l->t, m->num_unit);
	char number[32];
	int n;

	if (l->text.n > 0)
		add_text(l, ", ", 2);
	add_text(l, key.s, key.n);
	add_text(l, "=", 1);
	if (m->str != 0) {
		add_text(l, s.s, s.n);
		return;
	}
	note_number(l, m->key, m->num_unit);
	n = snprintf(number, sizeof(number), "%" PRId64, m->num);
	add_text(l, number, (size_t)n);
	if (unit.n > 0) {
		add_text(l, " ", 1);
		add_text(l, unit.s, unit.n);
	}
}

/* The set of the labels in `sorted`. */
static string_id set_of(struct pprof_labels *l)
{
	string_id id;
	size_t n;
	const char *last = profile_string(l->p, (string_id){ l->last }, &n);

	vec_clear(&l->text);
	for (size_t i = 0; i < l->sorted.n; i++)
		add_label(l, l->sorted.at[i]);
	if (l->text.n == 0 || (n == l->text.n && memcmp(last, l->text.at, n) == 0))
		return (string_id){ l->text.n ? l->last : 0 };
	if (l->n_sets >= MOST_SETS) {
		l->n_left_out++;
		return (string_id){ 0 };
	}
	id = build_string(l->p, l->text.at, l->text.n);
	l->n_sets += id.v > l->last;
	l->last = id.v;
	return id;
}

/* Threads. */

static string_id string_of(struct pprof_labels *l, struct pprof_string s)
{
	return build_string(l->p, s.s, s.n);
}

static bool same_text(struct pprof_string a, struct pprof_string b)
{
	return a.n == b.n && (a.n == 0 || a.s == b.s);
}

static bool same_who(const struct who *a, const struct who *b)
{
	return a->pid == b->pid && a->tid == b->tid && same_text(a->thread, b->thread) &&
	       same_text(a->process, b->process);
}

static thread_id new_thread(struct pprof_labels *l, const struct who *w)
{
	string_id name = string_of(l, w->thread);
	string_id process_name = w->process.n ? string_of(l, w->process) : name;
	process_id process = w->pid >= 0 ? build_process(l->p, l->capture, (int32_t)w->pid)
					 : build_process_of_name(l->p, l->capture, process_name);

	if (w->pid >= 0 && profile_process(l->p, process)->name.v == 0)
		build_process_name(l->p, process, process_name);
	return build_thread(l->p, process, (int32_t)w->tid, name);
}

/* Samples without any of it have a thread only for their labels. Samples of a thread mostly follow each other. */
static thread_id thread_of(struct pprof_labels *l, const struct who *w)
{
	if (l->last_thread.v == ID_NONE || !same_who(w, &l->last_who)) {
		l->last_thread = new_thread(l, w);
		l->last_who = *w;
	}
	return l->last_thread;
}

thread_id pprof_labels_thread(struct pprof_labels *l, const Pprof__Sample *s)
{
	struct who w = { .pid = -1, .tid = -1, .thread = { "", 0 }, .process = { "", 0 } };
	thread_id thread = { ID_NONE };
	uint64_t n_left_out;
	bool told = false;
	string_id set;

	vec_clear(&l->sorted);
	for (size_t i = 0; i < s->n_label; i++) {
		if (take_thread(l, s->label[i], &w))
			told = true;
		else
			insert(l, s->label[i]);
	}
	n_left_out = l->n_left_out;
	set = set_of(l);
	if (told || set.v != 0)
		thread = thread_of(l, &w);
	l->same = set.v != 0 ? build_thread_labelled(l->p, thread, set) : thread;
	l->same_left_out = l->n_left_out > n_left_out;
	return l->same;
}

thread_id pprof_labels_same(struct pprof_labels *l)
{
	l->n_left_out += l->same_left_out;
	return l->same;
}

void pprof_labels_tell(const struct pprof_labels *l)
{
	if (l->host.n > 0 && l->host.n <= MOST_TEXT && !l->several_hosts)
		build_fact(l->p, l->capture, "file", "host", FACT_PLAIN, "%.*s", (int)l->host.n,
			   l->host.s);
	for (size_t i = 0; i < l->numbers.n; i++) {
		struct pprof_string key = pprof_string(l->t, l->numbers.at[i].key);
		struct pprof_string unit = pprof_string(l->t, l->numbers.at[i].unit);

		pprof_head_tell_label(l->p, l->capture, (struct pprof_text){ key.s, key.n },
				      (struct pprof_text){ unit.s, unit.n });
	}
	if (l->n_left_out > 0)
		build_fact(l->p, l->capture, "losses", "labels", FACT_LOSS,
			   "of %" PRIu64
			   " samples are left out, as there are more than %d sets of labels",
			   l->n_left_out, MOST_SETS);
}

struct pprof_labels *pprof_labels_new(struct profile *p, capture_id c, const struct pprof_tables *t)
{
	struct pprof_labels *l = xcalloc(1, sizeof(*l));

	l->p = p;
	l->capture = c;
	l->t = t;
	l->last_thread = (thread_id){ ID_NONE };
	l->about = xcalloc(t->strings.n + 1, sizeof(*l->about));
	return l;
}

void pprof_labels_free(struct pprof_labels *l)
{
	if (!l)
		return;
	vec_done(&l->sorted);
	vec_done(&l->text);
	vec_done(&l->numbers);
	free(l->about);
	free(l);
}
