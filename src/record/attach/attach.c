/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A thread that is fit to call the loader is looked for; if none is, again a little later. */
#include "config.h"

#include "record/attach/attach.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "heaptrace/heap_mailbox.h"
#include "record/attach/attach_check.h"
#include "record/attach/remote.h"
#include "record/attach/safe_point.h"
#include "record/attach/thread_state.h"
#include "record/attach/tracee.h"

#define ROOM_BYTES     (UINT64_C(512) << 10)
#define ARGUMENT_BYTES (UINT64_C(32) << 10)
#define TRY_MS         10000u /* to find a thread that is fit */
#define ANSWER_MS      5000u
#define END_MS         15000u

struct attach {
	struct remote *r;
	uint64_t box;             /* address of its mailbox */
	uint32_t beats;           /* of ours */
	struct heap_mailbox seen; /* what was in it when last looked at */
};

static void sleep_ms(unsigned ms)
{
	const struct timespec t = { ms / 1000, (long)(ms % 1000) * 1000000 };

	nanosleep(&t, NULL);
}

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* --- threads --------------------------------------------------------------------------------- */

/* How willingly a thread is stopped: 0 best, 2 not at all. */
static unsigned reluctance(pid_t pid, pid_t tid)
{
	char path[96], text[256] = "";
	const char *state;
	long number = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", (int)pid, (int)tid);
	f = fopen(path, "re");
	if (f && !fgets(text, sizeof(text), f))
		*text = '\0';
	if (f)
		fclose(f);
	state = strrchr(text, ')');
	/* Not those that the kernel does not interrupt: in a vfork, or waiting for a disk. */
	if (!state || strlen(state) < 3 || !strchr("RS", state[2]))
		return 2;
	snprintf(path, sizeof(path), "/proc/%d/task/%d/syscall", (int)pid, (int)tid);
	f = fopen(path, "re");
	if (f && fscanf(f, "%ld", &number) != 1)
		number = -1;
	if (f)
		fclose(f);
	return thread_would_notice(number);
}

typedef VEC(pid_t) tid_list;

static void list_threads(pid_t pid, unsigned how_reluctant, tid_list *out)
{
	char path[64];
	struct dirent *d;
	DIR *dir;

	vec_clear(out);
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	while (dir && (d = readdir(dir))) {
		pid_t tid = (pid_t)atoi(d->d_name);

		if (tid > 0 && reluctance(pid, tid) == how_reluctant)
			vec_push(out, tid);
	}
	if (dir)
		closedir(dir);
}

/* --- bringing the library in ----------------------------------------------------------------- */

/* What is to be called in the process. */
struct entry {
	const char *library;
	const char *settings;
	size_t n_settings;
};

/*
 * The library in the process: ours, or one that another recorder brought. Each run of the one file writes the library to a
 * directory of its own; two of them in a process would both record.
 */
static struct remote_module *library_in(struct remote *r, const char *library)
{
	struct remote_module *m = remote_module_named(r, library);
	const char *slash = strrchr(library, '/');

	return m || !slash ? m : remote_module_named(r, slash + 1);
}

static int load(struct remote *r, struct tracee *t, uint64_t room, const struct entry *w,
		struct err *e)
{
	uint64_t flags, dlopen_at = remote_dlopen(r, &flags);
	size_t n = strlen(w->library) + 1;
	int ret;

	if (!dlopen_at || n > ARGUMENT_BYTES || !remote_write(r, room, w->library, n))
		return err_set(e, -EFAULT, "memory of the process cannot be written");
	ret = tracee_call(t, dlopen_at, room, RTLD_NOW | RTLD_NODELETE | flags, e);
	if (ret)
		return ret;
	ret = remote_look(r, e);
	if (ret)
		return ret;
	if (!library_in(r, w->library))
		return err_set(
			e, -ELIBACC,
			"its loader does not take %s: it may not read the file, or has no static TLS left (GLIBC_TUNABLES=glibc.rtld.optional_static_tls=2000 helps at its start)",
			w->library);
	return 0;
}

/* With a thread that is fit. */
static int enter(struct remote *r, struct tracee *t, const struct entry *w, struct err *e)
{
	uint64_t room, at;
	int ret = tracee_make_room(t, ROOM_BYTES, &room, e);

	if (ret)
		return ret;
	if (!library_in(r, w->library)) {
		ret = load(r, t, room, w, e);
		if (ret)
			return ret;
	}
	at = remote_symbol(r, library_in(r, w->library), HEAP_ATTACH_NAME);
	if (!at || w->n_settings > ARGUMENT_BYTES ||
	    !remote_write(r, room, w->settings, w->n_settings))
		return err_set(e, -ENOEXEC,
			       "%s in the process is of another version: restart the process",
			       w->library);
	return tracee_call(t, at, room, 0, e);
}

/* One thread. -EAGAIN: it is not fit now. */
static int try_thread(struct remote *r, pid_t tid, const struct entry *w, struct err *e)
{
	struct tracee *t = NULL;
	int ret = tracee_stop(r, tid, &t, e);

	if (ret)
		return ret;
	ret = !tracee_in_sequence(t) && safe_point(r, tracee_regs(t)) ? enter(r, t, w, e) : -EAGAIN;
	tracee_release(t);
	return ret;
}

static int try_threads(struct remote *r, const struct entry *w, struct err *e)
{
	uint64_t end = now_ms() + TRY_MS;
	tid_list tids = { 0 };
	int ret = -EAGAIN, looked = 0;

	for (unsigned round = 0; ret == -EAGAIN && now_ms() < end; round++) {
		/* What is mapped may have changed. */
		if (round % 8 == 0)
			looked = remote_look(r, e);
		if (looked)
			break;
		/* Those that would notice only when no other was fit for a while. */
		list_threads(remote_pid(r), round % 8 == 7, &tids);
		for (size_t i = 0; i < tids.n && ret == -EAGAIN; i++)
			ret = try_thread(r, tids.at[i], w, e);
		if (ret == -EAGAIN)
			sleep_ms(1 + round % 7);
	}
	vec_done(&tids);
	if (looked)
		return looked;
	return ret != -EAGAIN
		       ? ret
		       : err_set(e, -EBUSY,
				 "no thread of it came to a place where it may load a library, within %u s; try again, or start it under proftop record",
				 TRY_MS / 1000);
}

/* --- the mailbox ----------------------------------------------------------------------------- */

static bool look(struct attach *a)
{
	return remote_read(a->r, a->box, &a->seen, sizeof(a->seen)) &&
	       a->seen.magic == HEAP_MAILBOX_MAGIC && a->seen.bytes == sizeof(a->seen);
}

static void write_word(struct attach *a, size_t offset, uint32_t v)
{
	remote_write(a->r, a->box + offset, &v, sizeof(v));
}

#define SET(a, field, v) write_word(a, offsetof(struct heap_mailbox, field), v)

/* A sentence about the process. */
static int say_of(pid_t pid, const struct err *why, int ret, struct err *e)
{
	return err_set(e, ret, "process %d: %s", (int)pid, err_text(why));
}

static int find_box(struct attach *a, const char *library, struct err *e)
{
	struct remote_module *m = library_in(a->r, library);

	a->box = m ? remote_symbol(a->r, m, HEAP_MAILBOX_NAME) : 0;
	if (!m)
		return err_set(
			e, -ENOENT,
			"its heap is not being recorded (begin with: proftop record --heap -p %d)",
			(int)remote_pid(a->r));
	if (!a->box || !look(a))
		return err_set(e, -ENOEXEC,
			       "the heap tracer in it is of another version: restart the process");
	return 0;
}

int attach_trial(void)
{
	return tracee_trial();
}

int attach_begin(pid_t pid, const char *library, const char *settings, size_t n,
		 struct attach **out, struct err *e)
{
	const struct entry w = { .library = library, .settings = settings, .n_settings = n };
	struct attach *a = xcalloc(1, sizeof(*a));
	struct err why = ERR_INIT;
	int ret = attach_check(pid, e);

	if (!ret)
		ret = remote_open(pid, &a->r, e);
	if (ret)
		goto out;
	/* Its answer is the one that we get, and nobody is recording: or another one is. */
	if (library_in(a->r, library))
		ret = find_box(a, library, &why);
	if (!ret && a->box && a->seen.state == HEAP_BOX_RECORDS)
		ret = err_set(&why, -EBUSY, "its heap is being recorded already, to %s",
			      a->seen.path);
	if (!ret)
		ret = try_threads(a->r, &w, &why);
	if (!ret)
		ret = find_box(a, library, &why);
	if (!ret && a->seen.state != HEAP_BOX_RECORDS)
		ret = err_set(&why, -EIO, "%s",
			      *a->seen.why ? a->seen.why : "recording did not begin");
	if (ret)
		say_of(pid, &why, ret, e);
out:
	err_clear(&why);
	if (ret)
		attach_free(a);
	else
		*out = a;
	return ret;
}

int attach_find(pid_t pid, struct attach **out, struct err *e)
{
	struct attach *a = xcalloc(1, sizeof(*a));
	struct err why = ERR_INIT;
	int ret = remote_open(pid, &a->r, &why);

	if (!ret)
		ret = find_box(a, "libproftop-heap.so", &why);
	if (!ret && a->seen.state != HEAP_BOX_RECORDS)
		ret = err_set(
			&why, -ENOENT,
			"its heap is not being recorded now (begin with: proftop record --heap -p %d)",
			(int)pid);
	if (ret) {
		say_of(pid, &why, ret, e);
		attach_free(a);
	} else {
		*out = a;
	}
	err_clear(&why);
	return ret;
}

enum attach_state attach_beat(struct attach *a)
{
	SET(a, beat, ++a->beats);
	if (!look(a))
		return ATTACH_GONE;
	return a->seen.state == HEAP_BOX_RECORDS ? ATTACH_RECORDS : ATTACH_ENDED;
}

void attach_detach(struct attach *a)
{
	SET(a, detach, 1);
}

int attach_end(struct attach *a, struct err *e)
{
	attach_detach(a);
	for (unsigned ms = 0; ms < END_MS; ms += 20) {
		if (attach_beat(a) != ATTACH_RECORDS)
			return 0;
		sleep_ms(20);
	}
	return err_set(e, -ETIMEDOUT, "process %d: its recorder does not answer",
		       (int)remote_pid(a->r));
}

const char *attach_path(const struct attach *a)
{
	return a->seen.path;
}

const char *attach_why(const struct attach *a)
{
	return a->seen.why;
}

const char *attach_unseen(const struct attach *a)
{
	return a->seen.unseen;
}

static uint32_t word_of(enum attach_verb verb)
{
	switch (verb) {
	case ATTACH_MARK:
		return HEAP_SAY_MARK;
	case ATTACH_PAUSE:
		return HEAP_SAY_PAUSE;
	case ATTACH_RESUME:
		return HEAP_SAY_RESUME;
	}
	return 0;
}

static bool wait_until(struct attach *a, uint32_t asked)
{
	for (unsigned ms = 0; ms < ANSWER_MS; ms += 10) {
		if (!look(a) || a->seen.state != HEAP_BOX_RECORDS)
			return false;
		if (a->seen.done == asked)
			return true;
		sleep_ms(10);
	}
	return false;
}

/* With the mailbox to ourselves. */
static bool say_it(struct attach *a, enum attach_verb verb, const char *name)
{
	struct timespec t;
	uint64_t ns;
	size_t n = name ? strlen(name) : 0;
	char text[sizeof(a->seen.name)] = "";

	clock_gettime(CLOCK_MONOTONIC, &t);
	ns = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
	n = n < sizeof(text) ? n : sizeof(text) - 1;
	if (n)
		memcpy(text, name, n);
	if (!look(a) || !wait_until(a, a->seen.asked))
		return false;
	remote_write(a->r, a->box + offsetof(struct heap_mailbox, name), text, sizeof(text));
	remote_write(a->r, a->box + offsetof(struct heap_mailbox, time_ns), &ns, sizeof(ns));
	SET(a, verb, word_of(verb));
	SET(a, asked, a->seen.asked + 1);
	return wait_until(a, a->seen.asked + 1);
}

int attach_say(struct attach *a, enum attach_verb verb, const char *name, struct err *e)
{
	char path[64];
	bool done;
	int fd;

	/* One at a time: others that speak to it lock the same. */
	snprintf(path, sizeof(path), "/proc/%d/exe", (int)remote_pid(a->r));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		flock(fd, LOCK_EX);
	done = say_it(a, verb, name);
	if (fd >= 0)
		close(fd);
	return done ? 0
		    : err_set(e, -ETIMEDOUT, "process %d: its recorder does not answer",
			      (int)remote_pid(a->r));
}

void attach_free(struct attach *a)
{
	if (!a)
		return;
	remote_free(a->r);
	free(a);
}
