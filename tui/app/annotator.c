/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "tui/app/annotator.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/task.h"
#include "code/annotation.h"
#include "query/analysis.h"
#include "query/code_weights.h"
#include "tui/app/tui.h"

struct annotator {
	const struct tui_source *source; /* borrowed */
	int wake_fd;                     /* borrowed */
	struct task *task;               /* or NULL */
	struct progress progress;        /* of it */
	const struct analysis *reading;  /* what it looks at; borrowed */
	struct analysis *left; /* the same, when it has been replaced: to be given back; or NULL */
	struct code_wish wish; /* what it makes, or made last */
	struct annotation *made;        /* by it; the task's until it is joined */
	const struct analysis *made_of; /* what was taken last is of this one; NULL: of none */
	bool unwanted;                  /* something else is wanted by now */
};

struct annotator *annotator_new(const struct tui_source *source, int wake_fd)
{
	struct annotator *a = xcalloc(1, sizeof(*a));

	a->source = source;
	a->wake_fd = wake_fd;
	return a;
}

void annotator_free(struct annotator *a)
{
	if (!a)
		return;
	progress_cancel(&a->progress);
	task_join(a->task);
	annotation_free(a->made);
	analysis_free(a->left);
	free(a);
}

static int make(void *arg)
{
	struct annotator *a = arg;
	int rc = a->source->annotate(a->source->annotate_arg, a->reading, &a->wish, &a->progress,
				     &a->made);

	if (rc != -ENOENT)
		return rc;
	a->made = annotation_new();
	a->made->wish = a->wish;
	a->made->nothing = "no sample here has this function";
	return 0;
}

static bool same_wish(const struct code_wish *a, const struct code_wish *b)
{
	return a->key_id == b->key_id && a->path == b->path;
}

void annotator_request(struct annotator *a, const struct analysis *an, const struct code_wish *wish)
{
	bool same = same_wish(&a->wish, wish);

	if (a->task) {
		a->unwanted = !same;
		if (!same)
			progress_cancel(&a->progress);
		return;
	}
	if (same && a->made_of == an)
		return;
	a->wish = *wish;
	a->reading = an;
	a->unwanted = false;
	atomic_store(&a->progress.cancel, false);
	a->task = task_start(make, a, a->wake_fd);
	if (!a->task)
		make(a);
}

bool annotator_keeps(struct annotator *a, struct analysis *an)
{
	if (a->made_of == an)
		a->made_of = NULL;
	if (!a->task || a->reading != an)
		return false;
	a->left = an;
	return true;
}

struct annotation *annotator_take(struct annotator *a, struct analysis **left)
{
	struct annotation *made;

	if (a->task && !task_finished(a->task))
		return NULL;
	if (a->task)
		task_join(a->task);
	made = a->made;
	if (made)
		a->made_of = a->left ? NULL : a->reading;
	if (a->left)
		*left = a->left;
	a->task = NULL;
	a->made = NULL;
	a->left = NULL;
	if (!made || !a->unwanted)
		return made;
	annotation_free(made);
	a->made_of = NULL;
	return NULL;
}

bool annotator_busy(const struct annotator *a)
{
	return a->task || a->made;
}
