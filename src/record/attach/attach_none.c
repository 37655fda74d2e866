/* SPDX-License-Identifier: GPL-3.0-or-later */
/* For machines where the heap tracer cannot be brought into a running process. */
#include "config.h"

#include "record/attach/attach.h"

#include <errno.h>

#include "base/err.h"

static int none(pid_t pid, struct err *e)
{
	return err_set(
		e, -ENOTSUP,
		"process %d: the heap of what runs already can be recorded on x86_64 and aarch64 only; here, start the program under the recorder: --heap -- COMMAND",
		(int)pid);
}

int attach_begin(pid_t pid, const char *library, const char *settings, size_t n,
		 struct attach **out, struct err *e)
{
	(void)library;
	(void)settings;
	(void)n;
	(void)out;
	return none(pid, e);
}

int attach_find(pid_t pid, struct attach **out, struct err *e)
{
	(void)out;
	return none(pid, e);
}

enum attach_state attach_beat(struct attach *a)
{
	(void)a;
	return ATTACH_GONE;
}

void attach_detach(struct attach *a)
{
	(void)a;
}

int attach_trial(void)
{
	return none(0, NULL);
}

int attach_end(struct attach *a, struct err *e)
{
	(void)a;
	return none(0, e);
}

const char *attach_path(const struct attach *a)
{
	(void)a;
	return "";
}

const char *attach_why(const struct attach *a)
{
	(void)a;
	return "";
}

const char *attach_unseen(const struct attach *a)
{
	(void)a;
	return "";
}

int attach_say(struct attach *a, enum attach_verb verb, const char *name, struct err *e)
{
	(void)a;
	(void)verb;
	(void)name;
	return none(0, e);
}

void attach_free(struct attach *a)
{
	(void)a;
}
