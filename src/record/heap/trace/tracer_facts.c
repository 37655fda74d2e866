/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Small files of /proc are read in one piece; what does not fit is cut. */
#include "config.h"

#include "record/heap/trace/tracer_facts.h"

#include "record/heap/hooks/real_calls.h"
#include "record/heap/trace/kernel_stat.h"
#include "record/heap/trace/tracer_file.h"
#include "record/heap/trace/tracer_memory.h"
#include "record/heap/trace/shared_memory.h"
#include "record/heap/trace/tracer_writer.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#define COMMAND_BYTES (64u << 10)

/* Of a module's path, and links from one to the next. */
#define LINK_BYTES 1024
#define LINKS_MOST 8

extern char **environ;

/*
 * A module is noticed at its first event, which is older than what is told of it by then: its maps are told since something was
 * last unloaded, as nothing else can have been there meanwhile; at first since the beginning.
 */
static uint64_t mapped_since_us = 1;

static size_t read_file(const char *path, void *out, size_t room)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t n = 0;
	ssize_t got = 1;

	if (fd < 0)
		return 0;
	while (n < room && got > 0) {
		got = read(fd, (char *)out + n, room - n);
		n += got > 0 ? (size_t)got : 0;
	}
	close(fd);
	return n;
}

static struct heap_text text_of(const char *s)
{
	return (struct heap_text){ (const uint8_t *)s, strlen(s) };
}

/* The environment as it is now, each variable with its NUL. */
static void tell_environment(char *memory, size_t room)
{
	struct heap_record r = { .type = HEAP_REC_ENVIRONMENT };
	size_t n = 0;

	for (char **e = environ; e && *e; e++) {
		size_t len = strlen(*e) + 1;

		if (len > room - n)
			break;
		memcpy(memory + n, *e, len);
		n += len;
	}
	r.text[0] = (struct heap_text){ (const uint8_t *)memory, n };
	tracer_writer_record(&r);
}

void tracer_facts_odd(void)
{
	static const char why[] = " does not count: ";

	for (uint32_t i = 0; i < recorder.options.n_odd; i++) {
		const struct tracer_odd *odd = &recorder.options.odd[i];
		char text[256];
		const char *part[] = { odd->name, "=", odd->value, why, odd->instead };
		size_t n = 0;

		for (size_t k = 0; k < sizeof(part) / sizeof(part[0]); k++) {
			size_t len = strlen(part[k]);

			if (len >= sizeof(text) - n)
				break;
			memcpy(text + n, part[k], len + 1);
			n += len;
		}
		tracer_writer_record(
			&(struct heap_record){ .type = HEAP_REC_NOTE, .text = { text_of(text) } });
		tracer_log(&recorder.options, text, NULL);
	}
}

void tracer_facts_crowded(void)
{
	static const char text[] =
		"memory of 16 killed programs waits for their traces to be opened: if this program is "
		"killed, its last events are lost; the next proftop record --heap frees that memory";

	if (!shared_memory_is_crowded())
		return;
	tracer_writer_record(
		&(struct heap_record){ .type = HEAP_REC_NOTE, .text = { text_of(text) } });
	tracer_log(&recorder.options, text, NULL);
}

void tracer_facts_process(void)
{
	struct heap_record r = { .type = HEAP_REC_PROCESS };
	char exe[TRACER_MAX_PATH], directory[TRACER_MAX_PATH];
	char *memory = tracer_map(COMMAND_BYTES);
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe));
	struct utsname u = { 0 };

	if (!memory)
		return;
	mapped_since_us = 1;
	uname(&u);
	r.number[HEAP_PROCESS_PID] = (uint64_t)recorder.pid;
	r.number[HEAP_PROCESS_PARENT] = (uint64_t)getppid();
	r.number[HEAP_PROCESS_UID] = getuid();
	r.number[HEAP_PROCESS_PAGE_BYTES] = (uint64_t)sysconf(_SC_PAGESIZE);
	r.number[HEAP_PROCESS_CPUS] = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);
	r.text[HEAP_PROCESS_EXE] = (struct heap_text){ (uint8_t *)exe, n > 0 ? (size_t)n : 0 };
	r.text[HEAP_PROCESS_COMMAND] = (struct heap_text){
		(uint8_t *)memory, read_file("/proc/self/cmdline", memory, COMMAND_BYTES)
	};
	if (getcwd(directory, sizeof(directory)))
		r.text[HEAP_PROCESS_DIRECTORY] = text_of(directory);
	r.text[HEAP_PROCESS_HOST] = text_of(u.nodename);
	tracer_writer_record(&r);
	if (recorder.options.environment)
		tell_environment(memory, COMMAND_BYTES);
	tracer_writer_record(&(struct heap_record){
		.type = HEAP_REC_OPTIONS,
		.number = { 0, real.attached, recorder.options.free_stacks, 1 } });
	if (recorder.options.most_share > 0)
		tracer_writer_record(&(struct heap_record){
			.type = HEAP_REC_OVERHEAD,
			.number = { 0, (uint64_t)(recorder.options.most_share * 1e6 + 0.5) } });
	if (recorder.options.sample_bytes || recorder.options.most_share > 0)
		tracer_writer_record(
			&(struct heap_record){ .type = HEAP_REC_SAMPLING,
					       .number = { 0, atomic_load(&recorder.rate.mean),
							   recorder.options.sample_exact } });
	if (recorder.options.cull_ns)
		tracer_writer_record(
			&(struct heap_record){ .type = HEAP_REC_CULLING,
					       .number = { 0, recorder.options.cull_ns / 1000 } });
	tracer_unmap(memory, COMMAND_BYTES);
}

/* /proc/self/task/TID/comm */
static void comm_path(char out[64], pid_t tid)
{
	static const char head[] = "/proc/self/task/", tail[] = "/comm";
	char digits[16];
	size_t i = sizeof(digits), n = sizeof(head) - 1;

	for (unsigned v = (unsigned)tid; v; v /= 10)
		digits[--i] = (char)('0' + v % 10);
	memcpy(out, head, n);
	memcpy(out + n, digits + i, sizeof(digits) - i);
	memcpy(out + n + sizeof(digits) - i, tail, sizeof(tail));
}

/* Tells the thread's name when it is not what was told last. */
static void tell_name(struct tracer_thread *t)
{
	char path[64], name[16] = { 0 };
	struct heap_record r = { .type = HEAP_REC_THREAD };
	size_t n;

	comm_path(path, t->tid);
	n = read_file(path, name, sizeof(name) - 1);
	if (n && name[n - 1] == '\n')
		name[n - 1] = '\0';
	if (t->announced && (n == 0 || strcmp(name, t->name) == 0))
		return;
	if (n == 0)
		memcpy(name, t->first_name, sizeof(name));
	memcpy(t->name, name, sizeof(name));
	t->announced = true;
	r.number[HEAP_THREAD_INDEX] = t->index;
	r.number[HEAP_THREAD_TID] = (uint64_t)t->tid;
	r.text[0] = text_of(t->name);
	tracer_writer_record(&r);
}

void tracer_facts_thread(struct tracer_thread *t)
{
	tell_name(t);
}

void tracer_facts_names(void)
{
	for (struct tracer_thread *t = atomic_load(&recorder.threads); t; t = t->next)
		if (t->announced && atomic_load(&t->state) == THREAD_LIVE)
			tell_name(t);
}

/* The next number in decimal digits at *s. */
static uint64_t take_digits(const char **s)
{
	uint64_t v = 0;

	while (**s == ' ')
		++*s;
	for (; **s >= '0' && **s <= '9'; ++*s)
		v = v * 10 + (uint64_t)(**s - '0');
	return v;
}

/* "Name:  123 kB" in text: in bytes, 0 when it is not there. */
static uint64_t kilobytes(const char *text, const char *name)
{
	const char *at = strstr(text, name);

	if (!at || (at != text && at[-1] != '\n'))
		return 0;
	at += strlen(name);
	return take_digits(&at) * 1024;
}

/*
 * What only a walk through all page tables tells. Meanwhile the program can map nothing, and for many gigabytes
 * that takes a while: not more of it than a hundredth of the time.
 */
static void add_rollup(struct heap_record *r)
{
	static _Atomic uint64_t next_ns;
	uint64_t begin = tracer_monotonic_ns();
	char text[2048];

	if (!recorder.options.pss || begin < atomic_load(&next_ns))
		return;
	text[read_file("/proc/self/smaps_rollup", text, sizeof(text) - 1)] = '\0';
	atomic_store(&next_ns, begin + (tracer_monotonic_ns() - begin) * 100);
	r->number[HEAP_USAGE_PSS] = kilobytes(text, "Pss:");
	r->number[HEAP_USAGE_SWAP] = kilobytes(text, "Swap:");
	if (kilobytes(text, "Anonymous:"))
		r->number[HEAP_USAGE_ANON] = kilobytes(text, "Anonymous:");
}

void tracer_facts_usage(bool all)
{
	char text[256];
	size_t n = read_file("/proc/self/statm", text, sizeof(text) - 1);
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), resident, shared;
	struct heap_record r = { .type = HEAP_REC_USAGE };
	struct rusage usage;
	const char *at = text;

	text[n] = '\0';
	take_digits(&at);
	resident = take_digits(&at);
	shared = take_digits(&at);
	if (n == 0 || getrusage(RUSAGE_SELF, &usage))
		return;
	r.number[HEAP_USAGE_RSS] = resident * page;
	r.number[HEAP_USAGE_ANON] = (resident - shared) * page;
	r.number[HEAP_USAGE_MINOR] = (uint64_t)usage.ru_minflt;
	r.number[HEAP_USAGE_MAJOR] = (uint64_t)usage.ru_majflt;
	if (all)
		add_rollup(&r);
	tracer_writer_record(&r);
}

bool tracer_facts_alone(int *status)
{
	char text[512];
	const char *state, *code;
	struct stat st;

	/* Two links of a directory's own, the main thread, and ours. */
	if (kernel_stat("/proc/self/task", &st) || st.st_nlink != 4)
		return false;
	/* "pid (name) state …"; the state of a process is that of its main thread. */
	text[read_file("/proc/self/stat", text, sizeof(text) - 1)] = '\0';
	state = strrchr(text, ')');
	if (!state || state[1] != ' ' || state[2] != 'Z')
		return false;
	code = strrchr(text, ' '); /* the last field: exit_code */
	*status = atoi(code);
	return true;
}

static void tell_maps(const struct live_module *m)
{
	for (uint32_t i = 0; i < m->n_segments; i++) {
		const struct live_segment *s = &m->segment[i];
		struct heap_record r = { .type = HEAP_REC_MAP, .number = { mapped_since_us } };

		r.number[HEAP_MAP_START] = s->start;
		r.number[HEAP_MAP_BYTES] = s->end - s->start;
		r.number[HEAP_MAP_OFFSET] = s->offset;
		r.number[HEAP_MAP_MODULE] = m->index;
		r.number[HEAP_MAP_PROT] = s->prot;
		tracer_writer_record(&r);
	}
}

/*
 * The file that a path's last part links to, as the kernel's mappings name it: libstdc++.so.6.0.30, not libstdc++.so.6. So a
 * module has one name where samples of the cpu are recorded beside. The path itself where it is no link, or too long.
 */
static const char *linked_file(const char *path, char out[LINK_BYTES])
{
	char target[LINK_BYTES / 2];
	size_t n = strlen(path), dir;
	ssize_t got;

	if (n >= LINK_BYTES / 2)
		return path;
	memcpy(out, path, n + 1);
	for (int i = 0; i < LINKS_MOST; i++) {
		got = readlink(out, target, sizeof(target) - 1);
		if (got <= 0 || got == (ssize_t)sizeof(target) - 1)
			break;
		target[got] = '\0';
		dir = *target == '/' || !strrchr(out, '/') ? 0
							   : (size_t)(strrchr(out, '/') - out) + 1;
		if (dir + (size_t)got >= LINK_BYTES)
			return path;
		memcpy(out + dir, target, (size_t)got + 1);
	}
	return out;
}

void tracer_facts_module(void *arg, const struct live_module *m)
{
	struct heap_record r = { .type = HEAP_REC_UNMAP };
	char file[LINK_BYTES];

	(void)arg;
	if (!m->loaded) {
		r.number[HEAP_MAP_START] = m->begin;
		r.number[HEAP_MAP_BYTES] = m->end - m->begin;
		tracer_writer_record(&r);
		mapped_since_us = r.number[HEAP_TIME];
		return;
	}
	r.type = HEAP_REC_MODULE;
	r.number[HEAP_MODULE_INDEX] = m->index;
	r.text[HEAP_MODULE_PATH] = text_of(m->path ? linked_file(m->path, file) : "");
	r.text[HEAP_MODULE_BUILD_ID] = (struct heap_text){ m->build_id, m->n_build_id };
	tracer_writer_record(&r);
	tell_maps(m);
}

void tracer_facts_all_modules(void)
{
	for (uint32_t i = 0; i < recorder.modules.n; i++)
		if (recorder.modules.at[i].loaded)
			tracer_facts_module(NULL, &recorder.modules.at[i]);
}

static void check_modules(void *arg)
{
	(void)arg;
	if (live_modules_check(&recorder.modules))
		atomic_fetch_add_explicit(&recorder.rules_epoch, 1, memory_order_relaxed);
}

void tracer_facts_modules(void)
{
	tracer_run_slow(check_modules, NULL);
}

/* "N stacks were compared with full walks, M were wrong". */
void tracer_facts_checked(void)
{
	uint64_t counts[2] = { atomic_load(&recorder.n_checked), atomic_load(&recorder.n_wrong) };
	static const char *const after[] = { " stacks were compared with full walks, ",
					     " were wrong" };
	char text[128];
	size_t n = 0;

	if (recorder.options.check == 0)
		return;
	for (unsigned i = 0; i < 2; i++) {
		char digits[20];
		size_t at = sizeof(digits);

		do
			digits[--at] = (char)('0' + counts[i] % 10);
		while (counts[i] /= 10);
		memcpy(text + n, digits + at, sizeof(digits) - at);
		n += sizeof(digits) - at;
		memcpy(text + n, after[i], strlen(after[i]) + 1);
		n += strlen(after[i]);
	}
	tracer_writer_record(
		&(struct heap_record){ .type = HEAP_REC_NOTE, .text = { text_of(text) } });
	tracer_log_info(&recorder.options, text, NULL);
}
