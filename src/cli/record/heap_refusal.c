/* SPDX-License-Identifier: GPL-3.0-or-later */
/* By the file of the command, after the command has ended: what the loader made of it nobody says. */
#include "config.h"

#include "cli/record/heap_refusal.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/mem.h"
#include "record/attach/program_file.h"

/* Interpreters that are scripts themselves; the kernel takes no more. */
#define MOST_SCRIPTS 5u

/* As execvp(3) finds it; the caller frees. */
static char *find_program(const char *name)
{
	const char *path = getenv("PATH");

	if (strchr(name, '/'))
		return xstrdup(name);
	for (path = path ? path : "/bin:/usr/bin"; *path;) {
		size_t n = strcspn(path, ":");
		char *found = n ? xasprintf("%.*s/%s", (int)n, path, name) : xstrdup(name);

		if (access(found, X_OK) == 0)
			return found;
		free(found);
		path += n + (path[n] == ':');
	}
	return xstrdup(name);
}

/* Does it run with rights that are not those of who runs it? The loader takes no libraries then. */
static bool has_rights(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return false;
	return ((st.st_mode & S_ISUID) && st.st_uid != getuid()) ||
	       ((st.st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) &&
		st.st_gid != getgid()) ||
	       (getuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0);
}

/* What is the matter with this file? NULL: nothing that is known. */
static const char *why_not(const char *path, const struct program_file *f)
{
	if (f->kind != PROGRAM_ELF)
		return NULL;
	if (!f->is_wide)
		return "is a program of 32 bits, and the heap tracer is for those of 64: build it for 64 bits";
	if (f->is_foreign)
		return "is a program for another kind of processor: record it on a machine of that kind";
	if (!*f->loader && f->is_go)
		return "is a Go program, whose heap is Go's own: its net/http/pprof tells of it, and proftop opens that";
	if (!*f->loader)
		return "is statically linked, and no library can be loaded into it: link it dynamically";
	if (has_rights(path))
		return "runs with the rights of others (setuid, or file capabilities), and the loader lets no library in: record a copy of it, which has none, or as the user whose rights it has";
	if (f->has_asan)
		return "is built with the address sanitizer, which wants to be the first library: ASAN_OPTIONS=verify_asan_link_order=0 lets it be the second";
	return NULL;
}

/* The program that runs in the end: of a script, its interpreter, or what env(1) runs. *script: it is another one. */
static char *program_of(const char *command, struct program_file *f, bool *script)
{
	char *path = find_program(command);

	*script = false;
	for (unsigned i = 0;
	     i < MOST_SCRIPTS && program_file_read(path, f) && f->kind == PROGRAM_SCRIPT; i++) {
		const char *slash = strrchr(f->loader, '/');
		bool is_env = strcmp(slash ? slash + 1 : f->loader, "env") == 0 && *f->argument;

		free(path);
		path = find_program(is_env ? f->argument : f->loader);
		*script = true;
	}
	return path;
}

char *heap_refusal(const char *command, int status)
{
	struct program_file f = { .kind = PROGRAM_OTHER };
	bool script;
	char *path = program_of(command, &f, &script), *out;
	const char *why = why_not(path, &f);

	if (why && script)
		out = xasprintf("%s, which runs the script %s, %s", path, command, why);
	else if (why)
		out = xasprintf("%s %s", path, why);
	else if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		out = xasprintf(
			"%s ended before it began (status 127): its loader says above what it lacks",
			path);
	else if (WIFSIGNALED(status))
		out = xasprintf("%s was killed by signal %d before the heap tracer began", path,
				WTERMSIG(status));
	else
		out = xasprintf(
			"the loader did not take the heap tracer into %s: LD_DEBUG=files before the command tells more",
			path);
	free(path);
	return out;
}
