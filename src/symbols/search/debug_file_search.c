/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where files that name things may lie; see debug_file_search.h. The places are those of perf(1), gdb(1) and
 * debuginfod caches laid out by build-id.
 */
#include "config.h"

#include "symbols/search/debug_file_search.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/consulted_files.h"
#include "base/mem.h"
#include "base/path.h"
#include "elf/build_id.h"
#include "symbols/search/file_archive.h"
#include "symbols/search/perf_config.h"
#include "symbols/space/dso.h"

#define DEBUG_ROOT "/usr/lib/debug"

/* One search, so that candidates are one line each. */
struct hunt {
	const struct debug_file_search *f;
	const struct dso *d;
	debug_file_search_try *try;
	void *arg;
	char id[BUILD_ID_HEX_BYTES]; /* "" when not recorded */
	bool done;                   /* somebody returned true */
};

static struct hunt hunt_for(const struct debug_file_search *f, const struct dso *d,
			    debug_file_search_try *try, void *arg)
{
	struct hunt h = { .f = f, .d = d, .try = try, .arg = arg };

	build_id_hex(h.id, &d->build_id);
	return h;
}

static void look(struct hunt *h, bool trusted, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static void look(struct hunt *h, bool trusted, const char *fmt, ...)
{
	va_list args;
	char *path;
	int n;

	if (h->done)
		return;
	va_start(args, fmt);
	n = vasprintf(&path, fmt, args);
	va_end(args);
	if (n < 0)
		return;
	consulted_files_note(h->f->options->consulted, path);
	h->done = h->try(h->arg, path, trusted);
	free(path);
}

/* The path without " (deleted)"; the caller frees. */
static char *path_of(const struct dso *d)
{
	static const char deleted[] = " (deleted)";
	size_t n = strlen(d->path), m = sizeof(deleted) - 1;

	if (n > m && strcmp(d->path + n - m, deleted) == 0)
		n -= m;
	return xstrndup(d->path, n);
}

static const char *environment(const char *name)
{
	const char *v = getenv(name);

	return v && *v ? v : NULL;
}

/* See debuginfod_find_debuginfo(3), "CACHE". */
static char *debuginfod_dir(const char *home, struct consulted_files *c)
{
	const char *given = environment("DEBUGINFOD_CACHE_PATH");
	const char *caches = environment("XDG_CACHE_HOME");
	char *old = home ? xasprintf("%s/.debuginfod_client_cache", home) : NULL;

	if (old)
		consulted_files_note(c, old);
	if (!given && old && access(old, F_OK) == 0)
		return old;
	free(old);
	if (given)
		return xstrdup(given);
	if (caches)
		return xasprintf("%s/debuginfod_client", caches);
	return home ? xasprintf("%s/.cache/debuginfod_client", home) : NULL;
}

void debug_file_search_init(struct debug_file_search *f, const struct resolver_options *o)
{
	const char *home = environment("HOME");

	*f = (struct debug_file_search){ .options = o };
	f->cache = perf_config_buildid_dir(home, o->consulted);
	f->came = debuginfod_dir(home, o->consulted);
}

void debug_file_search_done(struct debug_file_search *f)
{
	free(f->cache);
	free(f->came);
	free(f->release);
}

/* A directory laid out like ~/.debug: links by build-id to directories with the file itself. */
static void look_in_cache(struct hunt *h, const char *dir, const char *path, const char *file)
{
	if (h->id[0] == '\0')
		return;
	look(h, true, "%s/.build-id/%.2s/%s/%s", dir, h->id, h->id + 2, file);
	look(h, true, "%s/%s%s/%s/%s", dir, path[0] == '/' ? "" : "/", path, h->id, file);
}

/* Packed files, by build-id only. */
static void look_in_archives(struct hunt *h, const char *file)
{
	const struct resolver_options *o = h->f->options;

	for (size_t i = 0; i < o->n_archives && h->id[0] != '\0' && !h->done; i++) {
		char *name = xasprintf("%s/%s", h->id, file);
		const char *path = file_archive_find(o->archives[i], name);

		if (path)
			look(h, true, "%s", path);
		free(name);
	}
}

static void look_by_id(struct hunt *h, const char *dir)
{
	if (h->id[0] != '\0')
		look(h, true, "%s/.build-id/%.2s/%s.debug", dir, h->id, h->id + 2);
}

static void find_elf_in(struct hunt *h, const char *dir, const char *path)
{
	look_by_id(h, dir);
	if (h->id[0] != '\0')
		look(h, true, "%s/.build-id/%.2s/%s", dir, h->id, h->id + 2);
	look_in_cache(h, dir, path, "elf");
	look(h, true, "%s/%s.debug", dir, path);
	look(h, true, "%s/%s", dir, path);
	look(h, true, "%s/%s.debug", dir, path_last_part(path));
	look(h, true, "%s/%s", dir, path_last_part(path));
}

/* May processes that run now be those that were recorded? */
static bool is_running(const struct resolver_options *o)
{
	return o->same_machine && !o->other_kernel;
}

void debug_file_search_elf(const struct debug_file_search *f, const struct dso *d,
			   debug_file_search_try *try, void *arg)
{
	struct hunt h = hunt_for(f, d, try, arg);
	const struct resolver_options *o = f->options;
	char *path = path_of(d);
	bool gone = strcmp(path, d->path) != 0;

	for (size_t i = 0; i < o->n_symbol_dirs; i++)
		find_elf_in(&h, o->symbol_dirs[i], path);
	look_in_archives(&h, "elf");
	look_in_archives(&h, "debug");
	if (f->fetched)
		look(&h, true, "%s", f->fetched);
	if (d->held)
		look(&h, true, "/proc/self/fd/%d", d->held - 1);
	if (f->cache) {
		look_in_cache(&h, f->cache, path, "elf");
		look_in_cache(&h, f->cache, path, "debug");
	}
	look_by_id(&h, DEBUG_ROOT);
	look(&h, o->same_machine && !gone, DEBUG_ROOT "%s.debug", path);
	look(&h, o->same_machine && !gone, DEBUG_ROOT "%s", path);
	if (path[0] == '/')
		look(&h, (o->same_machine || o->sysroot) && !gone, "%s%s",
		     o->sysroot ? o->sysroot : "", path);
	if (f->came && h.id[0] != '\0') {
		look(&h, true, "%s/%s/executable", f->came, h.id);
		look(&h, true, "%s/%s/debuginfo", f->came, h.id);
	}
	/* Containers see other files by that path, and a program's file outlives its name. */
	if (is_running(o) && d->seen_in > 0 && path[0] == '/') {
		look(&h, false, "/proc/%ld/root%s", (long)d->seen_in, path);
		look(&h, false, "/proc/%ld/exe", (long)d->seen_in);
	}
	free(path);
}

void debug_file_search_debuglink(const struct debug_file_search *f, const struct dso *d,
				 const char *beside, const char *name, debug_file_search_try *try,
				 void *arg)
{
	struct hunt h = hunt_for(f, d, try, arg);
	int n = (int)(path_last_part(beside) - beside),
	    m = (int)(path_last_part(d->path) - d->path);
	const char *root = f->options->sysroot ? f->options->sysroot : "";

	look(&h, true, "%.*s%s", n, beside, name);
	look(&h, true, "%.*s.debug/%s", n, beside, name);
	look(&h, true, "%s%.*s%s", root, m, d->path, name);
	look(&h, true, "%s%.*s.debug/%s", root, m, d->path, name);
	look(&h, true, DEBUG_ROOT "%.*s%s", m, d->path, name);
	for (size_t i = 0; i < f->options->n_symbol_dirs; i++)
		look(&h, true, "%s/%s", f->options->symbol_dirs[i], name);
}

void debug_file_search_split(const struct debug_file_search *f, const struct dso *d,
			     const char *described, debug_file_search_try *try, void *arg)
{
	struct hunt h = hunt_for(f, d, try, arg);
	const struct resolver_options *o = f->options;
	char *path = path_of(d);

	look(&h, true, "%s", described);
	for (size_t i = 0; i < o->n_symbol_dirs; i++) {
		look(&h, true, "%s/%s", o->symbol_dirs[i], path);
		look(&h, true, "%s/%s", o->symbol_dirs[i], path_last_part(path));
	}
	/* Units are known by their ids, so that those of another program are not taken for them. */
	if (path[0] == '/')
		look(&h, true, "%s%s", o->sysroot ? o->sysroot : "", path);
	if (is_running(o) && d->seen_in > 0 && path[0] == '/')
		look(&h, true, "/proc/%ld/root%s", (long)d->seen_in, path);
	free(path);
}

void debug_file_search_vmlinux(const struct debug_file_search *f, const struct dso *d,
			       debug_file_search_try *try, void *arg)
{
	static const char *const by_release[] = { DEBUG_ROOT "/boot/vmlinux-", "/boot/vmlinux-" };
	struct hunt h = hunt_for(f, d, try, arg);
	const struct resolver_options *o = f->options;

	for (size_t i = 0; i < o->n_symbol_dirs; i++) {
		look_by_id(&h, o->symbol_dirs[i]);
		look(&h, true, "%s/vmlinux", o->symbol_dirs[i]);
		if (f->release)
			look(&h, true, "%s/vmlinux-%s", o->symbol_dirs[i], f->release);
	}
	look_by_id(&h, DEBUG_ROOT);
	if (!f->release || strchr(f->release, '/'))
		return;
	for (size_t i = 0; i < sizeof(by_release) / sizeof(by_release[0]); i++)
		look(&h, false, "%s%s", by_release[i], f->release);
	look(&h, false, DEBUG_ROOT "/lib/modules/%s/vmlinux", f->release);
	look(&h, false, "/lib/modules/%s/build/vmlinux", f->release);
}

void debug_file_search_kallsyms(const struct debug_file_search *f, const struct dso *d,
				debug_file_search_try *try, void *arg)
{
	struct hunt h = hunt_for(f, d, try, arg);
	const struct resolver_options *o = f->options;

	for (size_t i = 0; i < o->n_symbol_dirs; i++) {
		look_in_cache(&h, o->symbol_dirs[i], "[kernel.kallsyms]", "kallsyms");
		look(&h, true, "%s/kallsyms", o->symbol_dirs[i]);
	}
	look_in_archives(&h, "kallsyms");
	if (f->cache && h.id[0] != '\0')
		look(&h, true, "%s/[kernel.kallsyms]/%s/kallsyms", f->cache, h.id);
}

void debug_file_search_vdso(const struct debug_file_search *f, const struct dso *d,
			    debug_file_search_try *try, void *arg)
{
	struct hunt h = hunt_for(f, d, try, arg);
	const struct resolver_options *o = f->options;

	for (size_t i = 0; i < o->n_symbol_dirs; i++)
		look_in_cache(&h, o->symbol_dirs[i], d->path, "vdso");
	look_in_archives(&h, "vdso");
	if (f->cache && h.id[0] != '\0')
		look(&h, true, "%s/%s/%s/vdso", f->cache, d->path, h.id);
}

/* A file that the process itself wrote, as it saw the file system. */
static void look_in_process(struct hunt *h, const char *path)
{
	const struct resolver_options *o = h->f->options;

	for (size_t i = 0; i < o->n_symbol_dirs; i++) {
		look(h, true, "%s/%s", o->symbol_dirs[i], path_last_part(path));
		look(h, true, "%s%s", o->symbol_dirs[i], path);
	}
	if (o->sysroot)
		look(h, true, "%s%s", o->sysroot, path);
	/* Another file may have that name outside of the container. */
	if (is_running(o) && h->d->pid > 0)
		look(h, true, "/proc/%ld/root%s", (long)h->d->pid, path);
	if (o->same_machine)
		look(h, true, "%s", path);
}

void debug_file_search_jit_dump(const struct debug_file_search *f, const struct dso *d,
				debug_file_search_try *try, void *arg)
{
	struct hunt h = hunt_for(f, d, try, arg);

	look_in_process(&h, d->path);
}

/* The pid by which a process knows itself, if it still runs in a namespace of its own; else -1. */
static long inner_pid(int32_t pid)
{
	char line[256], path[64], *last;
	long inner = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%ld/status", (long)pid);
	f = fopen(path, "re");
	while (f && inner < 0 && fgets(line, sizeof(line), f)) {
		if (strncmp(line, "NSpid:", 6) != 0)
			continue;
		last = strrchr(line, '\t');
		inner = last ? strtol(last, NULL, 10) : -1;
	}
	if (f)
		fclose(f);
	return inner > 0 && inner != pid ? inner : -1;
}

void debug_file_search_jit_map(const struct debug_file_search *f, const struct dso *d,
			       debug_file_search_try *try, void *arg)
{
	struct hunt h = hunt_for(f, d, try, arg);
	long inner = is_running(f->options) ? inner_pid(d->pid) : -1;

	if (inner > 0)
		look(&h, true, "/proc/%ld/root/tmp/perf-%ld.map", (long)d->pid, inner);
	look_in_process(&h, d->path);
}
