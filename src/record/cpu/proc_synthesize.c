/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Layouts: proc(5). */
#include "config.h"

#include "record/cpu/proc_synthesize.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/process.h"
#include "elf/build_id.h"
#include "perf/abi/perf_put.h"
#include "record/cpu/build_id_cache.h"

#define NOTES_MAX     4096
#define LINES_TO_TEXT 4096
#define KERNEL_MAX    (UINT64_C(1) << 30)

struct proc_synthesize {
	const struct perf_attr *attr;
	bool data;                  /* mappings without code, too */
	struct build_id_cache *ids; /* borrowed */
};

struct proc_synthesize *proc_synthesize_new(const struct perf_attr *a, bool data,
					    struct build_id_cache *ids)
{
	struct proc_synthesize *p = xcalloc(1, sizeof(*p));

	p->attr = a;
	p->data = data;
	p->ids = ids;
	return p;
}

void proc_synthesize_free(struct proc_synthesize *p)
{
	free(p);
}

/* A line of /proc/TID/maps. */
static void put_mapping(struct proc_synthesize *p, int pid, int tid, char *line,
			struct perf_put *to)
{
	const struct perf_trailer none = { 0 };
	struct perf_mmap m = { .pid = pid, .tid = pid };
	struct build_id id;
	uint64_t end;
	char prot[8];
	int n = 0;

	line[strcspn(line, "\n")] = '\0';
	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %x:%x %" SCNu64 " %n", &m.start,
		   &end, prot, &m.file_offset, &m.file.major, &m.file.minor, &m.file.inode,
		   &n) < 7 ||
	    end <= m.start)
		return;
	m.executable = strchr(prot, 'x') != NULL;
	if (!m.executable && (!p->data || !m.file.inode))
		return;
	m.length = end - m.start;
	m.path = n > 0 && line[n] ? line + n : "//anon";
	m.path_len = strlen(m.path);
	if (m.file.inode && m.path[0] == '/') {
		m.tid = tid;
		id = build_id_cache_of(p->ids, &m);
		m.tid = pid;
		memcpy(m.build_id, id.bytes, id.n);
		m.n_build_id = id.n;
	}
	perf_put_mmap(to, PERF_CPU_USER, p->attr, &m, &none);
}

/* As one of its threads sees them; a thread that has ended sees none. */
static bool put_mappings(struct proc_synthesize *p, int pid, int tid, struct perf_put *to)
{
	char path[64], *line = NULL;
	bool any = false;
	size_t room = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", tid);
	f = fopen(path, "re");
	for (; f && getline(&line, &room, f) > 0; any = true)
		put_mapping(p, pid, tid, line, to);
	free(line);
	if (f)
		fclose(f);
	return any;
}

static void put_name(struct proc_synthesize *p, int pid, int tid, struct perf_put *to)
{
	const struct perf_trailer none = { 0 };
	struct perf_comm c = { .pid = pid, .tid = tid };
	char path[64], name[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", pid, tid);
	f = fopen(path, "re");
	if (f && fgets(name, sizeof(name), f)) {
		c.name = name;
		c.name_len = strcspn(name, "\n");
		perf_put_comm(to, p->attr, &c, &none);
	}
	if (f)
		fclose(f);
}

void proc_synthesize_process(struct proc_synthesize *p, int pid, struct perf_put *to)
{
	struct thread_list threads = { 0 };
	bool mapped = false;

	process_threads(pid, &threads);
	for (size_t i = 0; i < threads.n; i++)
		put_name(p, pid, threads.at[i], to);
	for (size_t i = 0; i < threads.n && !mapped; i++)
		mapped = put_mappings(p, pid, threads.at[i], to);
	vec_done(&threads);
}

void proc_synthesize_all(struct proc_synthesize *p, struct perf_put *to)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (atoi(entry->d_name) > 0)
			proc_synthesize_process(p, atoi(entry->d_name), to);
	if (dir)
		closedir(dir);
}

uint64_t proc_synthesize_text(const char *kallsyms, const char **name)
{
	FILE *f = fopen(kallsyms, "re");
	char line[512], its[256];
	uint64_t address, text = 0, stext = 0;

	for (int i = 0; f && !text && i < LINES_TO_TEXT && fgets(line, sizeof(line), f); i++) {
		if (sscanf(line, "%" SCNx64 " %*c %255s", &address, its) != 2)
			continue;
		if (strcmp(its, "_text") == 0)
			text = address;
		else if (strcmp(its, "_stext") == 0)
			stext = address;
	}
	if (f)
		fclose(f);
	*name = text ? "_text" : "_stext";
	return text ? text : stext;
}

static void put_modules(struct proc_synthesize *p, struct perf_put *to)
{
	const struct perf_trailer none = { 0 };
	FILE *f = fopen("/proc/modules", "re");
	char line[4096], name[256], path[258];
	struct perf_mmap m = { .pid = -1, .executable = true, .path = path };

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%255s %" SCNu64 " %*s %*s %*s %" SCNx64, name, &m.length,
			   &m.start) != 3 ||
		    m.start == 0)
			continue;
		m.path_len = (size_t)snprintf(path, sizeof(path), "[%s]", name);
		perf_put_mmap(to, PERF_CPU_KERNEL, p->attr, &m, &none);
	}
	if (f)
		fclose(f);
}

bool proc_synthesize_kernel(struct proc_synthesize *p, struct perf_put *to)
{
	const struct perf_trailer none = { 0 };
	struct perf_mmap m = { .pid = -1, .executable = true };
	struct build_id id;
	const char *name;
	char path[32];

	m.start = proc_synthesize_text("/proc/kallsyms", &name);
	if (!m.start)
		return false;
	m.path_len = (size_t)snprintf(path, sizeof(path), "[kernel.kallsyms]%s", name);
	m.path = path;
	/* Here, too: the list of build-ids is at the end of a file, which one that is killed does not have. */
	if (proc_synthesize_kernel_id(&id)) {
		memcpy(m.build_id, id.bytes, id.n);
		m.n_build_id = id.n;
	}
	/* To where modules begin, at most. */
	m.length = UINT64_MAX - m.start < KERNEL_MAX ? UINT64_MAX - m.start : KERNEL_MAX;
	m.file_offset = m.start;
	perf_put_mmap(to, PERF_CPU_KERNEL, p->attr, &m, &none);
	put_modules(p, to);
	return true;
}

bool proc_synthesize_kernel_id(struct build_id *out)
{
	FILE *f = fopen("/sys/kernel/notes", "re");
	uint8_t notes[NOTES_MAX];
	size_t n = f ? fread(notes, 1, sizeof(notes), f) : 0;

	if (f)
		fclose(f);
	return build_id_from_notes(notes, n, false, out);
}

int proc_synthesize_process_of(int tid)
{
	char path[64], line[256];
	int pid = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	f = fopen(path, "re");
	while (f && pid == 0 && fgets(line, sizeof(line), f))
		if (strncmp(line, "Tgid:", 5) == 0)
			pid = atoi(line + 5);
	if (f)
		fclose(f);
	return pid;
}
