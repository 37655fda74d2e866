/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * EXIT changes nothing yet: a leader may end before its threads, and samples of a task's last moments
 * come after it. A number that is used again comes with a FORK. An exec gives a new name but leaves the
 * mappings, which the new ones replace: while the kernel still works on the exec, samples show the
 * address in the old program from which it was called.
 */
#include "config.h"

#include "perf/records/apply.h"

#include "base/mem.h"
#include "perf/abi/perf_abi.h"
#include "perf/records/perf_cgroups.h"
#include "perf/records/perf_tasks.h"
#include "symbols/resolver.h"

#include <stdlib.h>
#include <string.h>

/* How perf calls the kernel's own mapping, with _text or _stext behind. */
#define KERNEL_PATH     "[kernel.kallsyms]"
#define KERNEL_PATH_LEN (sizeof(KERNEL_PATH) - 1)

struct apply {
	struct resolver *resolver;
	struct perf_tasks *tasks;
	struct perf_cgroups *cgroups;
	VEC(char) path; /* scratch: a path with its NUL */
};

static void tell_mapping(struct apply *t, int64_t time_ns, const struct perf_mmap *m, bool kernel,
			 uint64_t text_bytes)
{
	struct mapping_event e = { .time_ns = time_ns,
				   .pid = kernel ? -1 : m->pid,
				   .start = m->start,
				   .length = m->length,
				   .file_offset = m->file_offset,
				   .text_bytes = text_bytes,
				   .executable = m->executable };

	vec_reserve(&t->path, m->path_len + 1);
	memcpy(t->path.at, m->path, m->path_len);
	t->path.at[m->path_len] = '\0';
	e.path = t->path.at;
	memcpy(e.build_id.bytes, m->build_id, m->n_build_id);
	e.build_id.n = m->n_build_id;
	resolver_map(t->resolver, &e);
	perf_tasks_remapped(t->tasks, e.pid, time_ns);
}

/*
 * simpleperf copies what Android's runtime compiles into files of its own, perf.data_jit_app_cache:FROM-TO, and gives their symbols by
 * address in the process, whatever the mappings say of the file (jit_debug_reader.h of Android's system/extras).
 */
static bool is_jit_cache(const struct perf_mmap *m)
{
	static const char *const parts[] = { "_jit_app_cache:", "_jit_zygote_cache:" };

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (memmem(m->path, m->path_len, parts[i], strlen(parts[i])))
			return true;
	return false;
}

static bool tell_mmap(struct apply *t, const struct perf_record *r, int64_t time_ns, size_t trailer)
{
	uint32_t cpumode = r->misc & PERF_MISC_CPUMODE;
	uint64_t text_bytes = 0;
	struct perf_mmap m;

	if (!perf_mmap_decode(r, trailer, &m))
		return false;
	/* What a guest maps is in another machine's memory. */
	if (cpumode == PERF_CPU_GUEST_KERNEL || cpumode == PERF_CPU_GUEST_USER)
		return true;
	/* perf ends the kernel at _etext; .init.text, where the idle task began, lies beyond. */
	if (m.pid == -1 && m.path_len >= KERNEL_PATH_LEN &&
	    memcmp(m.path, KERNEL_PATH, KERNEL_PATH_LEN) == 0) {
		text_bytes = m.length;
		m.length = UINT64_MAX - m.start;
	}
	if (is_jit_cache(&m))
		m.file_offset = m.start;
	tell_mapping(t, time_ns, &m, cpumode == PERF_CPU_KERNEL || m.pid == -1, text_bytes);
	return true;
}

static bool tell_comm(struct apply *t, const struct perf_record *r, int64_t time_ns, size_t trailer,
		      bool own_time)
{
	struct perf_comm c;

	if (!perf_comm_decode(r, trailer, &c))
		return false;
	perf_tasks_name(t->tasks, c.pid, c.tid, time_ns, c.name, c.name_len);
	/*
	 * What the process had mapped went with its old program; the new one's mappings come after. Where
	 * nothing but the order of the file says when, samples of before may come after it, too.
	 */
	if (r->misc & PERF_MISC_COMM_EXEC && own_time) {
		resolver_exec(t->resolver, c.pid, time_ns);
		perf_tasks_remapped(t->tasks, c.pid, time_ns);
	}
	return true;
}

static bool tell_fork(struct apply *t, const struct perf_record *r, int64_t time_ns)
{
	struct perf_task k;

	if (!perf_task_decode(r, &k))
		return false;
	perf_tasks_fork(t->tasks, k.pid, k.tid, k.ptid, time_ns);
	/* perf also makes up forks, for threads that it finds; they tell nothing of mappings. */
	if (k.pid != k.ppid && !(r->misc & PERF_MISC_FORK_EXEC)) {
		resolver_fork(t->resolver, k.pid, k.ppid, time_ns);
		perf_tasks_remapped(t->tasks, k.pid, time_ns);
	}
	return true;
}

static bool tell_exit(struct apply *t, const struct perf_record *r, int64_t time_ns)
{
	struct perf_task k;

	if (!perf_task_decode(r, &k))
		return false;
	perf_tasks_exit(t->tasks, k.tid, time_ns);
	return true;
}

/*
 * Kernel code that is in no file: BPF programs and trampolines, each its own module. BPF_EVENT says no
 * more of them than their number; what else there is to know is told before (resolver_declared()).
 */
static bool tell_ksymbol(struct apply *t, const struct perf_record *r, int64_t time_ns,
			 size_t trailer)
{
	struct perf_mmap m = { .executable = true };
	struct perf_ksymbol k;

	if (!perf_ksymbol_decode(r, trailer, &k))
		return false;
	if (k.unregister || k.length == 0)
		return true;
	m.start = k.start;
	m.length = k.length;
	m.path = k.name;
	m.path_len = k.name_len;
	tell_mapping(t, time_ns, &m, true, 0);
	return true;
}

static bool tell_cgroup(struct apply *t, const struct perf_record *r, size_t trailer)
{
	struct perf_cgroup g;

	if (!perf_cgroup_decode(r, trailer, &g))
		return false;
	perf_cgroups_name(t->cgroups, g.number, g.path, g.path_len);
	return true;
}

struct apply *apply_new(struct resolver *r, struct perf_tasks *tasks, struct perf_cgroups *cgroups)
{
	struct apply *t = xcalloc(1, sizeof(*t));

	t->resolver = r;
	t->tasks = tasks;
	t->cgroups = cgroups;
	return t;
}

void apply_free(struct apply *t)
{
	if (!t)
		return;
	vec_done(&t->path);
	free(t);
}

bool perf_apply(struct apply *t, const struct perf_record *r, int64_t time_ns, size_t trailer,
		bool own_time)
{
	switch (r->type) {
	case PERF_REC_MMAP:
	case PERF_REC_MMAP2:
		return tell_mmap(t, r, time_ns, trailer);
	case PERF_REC_COMM:
		return tell_comm(t, r, time_ns, trailer, own_time);
	case PERF_REC_FORK:
		return tell_fork(t, r, time_ns);
	case PERF_REC_EXIT:
		return tell_exit(t, r, time_ns);
	case PERF_REC_KSYMBOL:
		return tell_ksymbol(t, r, time_ns, trailer);
	case PERF_REC_CGROUP:
		return tell_cgroup(t, r, trailer);
	default:
		return true;
	}
}
