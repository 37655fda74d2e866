/* SPDX-License-Identifier: GPL-3.0-or-later */
/* For machines where the heap tracer is not built. */
#include "config.h"

#include "record/attach/attach.h"

#include <errno.h>

#include "base/err.h"
#include "record/attach/heap_salvage.h"

static int none(pid_t pid, struct err *e)
{
	return err_set(e, -ENOTSUP, "process %d: heaps are not recorded on this kind of machine",
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

int heap_salvage(const char *path, enum heap_stop stop, uint8_t signal, struct err *e)
{
	(void)path;
	(void)stop;
	(void)signal;
	(void)e;
	return 0;
}
