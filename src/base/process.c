/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Layouts: proc_pid_stat(5). */
#include "config.h"

#include "base/process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

bool process_any_shown(void)
{
	return access("/proc/self", F_OK) == 0;
}

static bool is_there(int pid)
{
	return kill(pid, 0) == 0 || errno == EPERM;
}

void process_read(int pid, struct process_state *out)
{
	char path[64], text[512], *open_at, *close_at;
	ssize_t n = -1;
	int fd;

	*out = (struct process_state){ .letter = 'X' };
	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, text, sizeof(text) - 1);
		close(fd);
	}
	text[n > 0 ? n : 0] = '\0';
	/* The name may have brackets and blanks of its own. */
	open_at = strchr(text, '(');
	close_at = strrchr(text, ')');
	if (!open_at || !close_at || close_at < open_at || close_at[1] != ' ')
		return;
	snprintf(out->name, sizeof(out->name), "%.*s", (int)(close_at - open_at - 1), open_at + 1);
	out->letter = close_at[2];
	/* Behind the letter 16 other numbers come first. */
	sscanf(close_at + 3, "%*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %ld",
	       &out->n_threads);
}

static bool is_status(const struct process_state *s)
{
	return strchr("ZX", s->letter) != NULL;
}

bool process_has_ended(int pid)
{
	struct process_state s;

	if (!process_any_shown())
		return !is_there(pid);
	process_read(pid, &s);
	return is_status(&s) && s.n_threads < 2;
}

bool thread_has_ended(int tid)
{
	struct process_state s;

	if (!process_any_shown())
		return !is_there(tid);
	process_read(tid, &s);
	return is_status(&s);
}

void process_threads(int pid, struct thread_list *out)
{
	struct dirent *entry;
	char path[64];
	DIR *dir;

	vec_clear(out);
	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	while (dir && (entry = readdir(dir)))
		if (atoi(entry->d_name) > 0)
			vec_push(out, atoi(entry->d_name));
	if (dir)
		closedir(dir);
	else if (!process_any_shown() && is_there(pid))
		vec_push(out, pid);
}
