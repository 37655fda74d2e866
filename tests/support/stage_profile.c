/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A service under load, as a table of stacks. */
#include "config.h"

#include "tests/support/stage.h"

#include "base/err.h"
#include "base/mem.h"
#include "profile/builder.h"

#include <stdlib.h>
#include <string.h>

#define MS INT64_C(1000000)

static const struct {
	const char *name;
	enum family family;
} modules[] = {
	{ "my_program", FAMILY_PROGRAM }, { "libc.so.6", FAMILY_LIBC },
	{ "libz.so.1", FAMILY_LIBRARY },  { "[kernel]", FAMILY_KERNEL },
	{ "perf-812.map", FAMILY_JIT },
};

/* Name, module, source. A function is called by its number's letter in stacks below. */
static const struct {
	char letter;
	int module;
	const char *name, *file;
	uint32_t line, flags;
} functions[] = {
	/* clang-format off */
	{ 'S', 1, "_start", "", 0, 0 },
	{ 'L', 1, "__libc_start_call_main", "", 0, 0 },
	{ 'm', 0, "main", "main.cc", 40, 0 },
	{ 's', 0, "serve(Listener&)", "server.cc", 77, 0 },
	{ 'h', 0, "handle_request(Conn*)", "server.cc", 118, 0 },
	{ 'P', 0, "Parser::parse_record(Slice)", "parser.cc", 118, 0 },
	{ 'v', 0, "std::vector<Rec, std::allocator<Rec> >::push_back(Rec&&)", "stl_vector.h", 1203, 0 },
	{ 'g', 0, "std::vector<Rec, std::allocator<Rec> >::_M_realloc_insert<Rec>(__gnu_cxx::__normal_iterator<Rec*, std::vector<Rec, std::allocator<Rec> > >, Rec&&)", "vector.tcc", 432, 0 },
	{ 'M', 1, "__memmove_avx_unaligned_erms", "memmove-vec-unaligned-erms.S", 290, 0 },
	{ 'a', 1, "malloc", "malloc.c", 3272, 0 },
	{ 'f', 1, "free", "malloc.c", 3378, 0 },
	{ 'w', 0, "write_reply(Conn*)", "server.cc", 201, 0 },
	{ 'W', 1, "writev", "writev.c", 25, 0 },
	{ 'k', 3, "entry_SYSCALL_64_after_hwframe", "", 0, 0 },
	{ 'K', 3, "do_syscall_64", "", 0, 0 },
	{ 't', 3, "tcp_sendmsg_locked", "", 0, 0 },
	{ 'q', 3, "native_queued_spin_lock_slowpath", "", 0, 0 },
	{ 'r', 0, "replay_log(File&)", "log.cc", 41, 0 },
	{ 'T', 1, "start_thread", "pthread_create.c", 442, 0 },
	{ 'F', 0, "flush_loop(Queue<std::unique_ptr<Block> >&)", "flush.cc", 15, 0 },
	{ 'Z', 2, "deflate", "", 0, 0 },
	{ 'z', 2, "longest_match", "", 0, 0 },
	{ 'c', 2, "crc32_z", "", 0, 0 },
	{ 'j', 4, "LazyCompile:~render /srv/app/view.js:12", "", 0, 0 },
	{ 'u', 0, "[my_program]", "", 0, FUNCTION_UNRESOLVED },
	{ 'x', 0, "[truncated]", "", 0, FUNCTION_MARK },
	{ 'd', 0, "\346\227\245\346\234\254\350\252\236::\343\203\206\343\202\271\343\203\210(int)", "", 0, 0 },
	{ '1', 3, "__alloc_pages", "", 0, 0 }, { '2', 3, "clear_page_erms", "", 0, 0 },
	{ '3', 3, "asm_exc_page_fault", "", 0, 0 }, { '4', 3, "ksys_write", "", 0, 0 },
	{ '5', 0, "log_line(std::string_view)", "log.cc", 88, 0 },
	{ '6', 0, "format_time(char*, long)", "log.cc", 120, 0 },
	/* clang-format on */
};

/* Stacks by thread; a '>' says that the next function is inlined into the one before. */
static const struct {
	int thread;
	const char *stack;
	int n; /* samples */
} stacks[] = {
	{ 0, "SLmshP", 160 },     { 0, "SLmshP>v", 96 },   { 0, "SLmshP>vg", 30 },
	{ 0, "SLmshP>vgM", 52 },  { 0, "SLmshP>vga", 12 }, { 0, "SLmsh", 34 },
	{ 0, "SLmshw", 8 },       { 0, "SLmshwW", 3 },     { 0, "SLmshwWkKt", 24 },
	{ 0, "SLmshwWkKtq", 10 }, { 0, "SLmrP", 22 },      { 0, "SLmrP>v", 9 },
	{ 0, "SLmr", 3 },         { 0, "SLm", 1 },         { 0, "SLms", 1 },
	{ 0, "SLmsh5", 5 },       { 0, "SLmsh56", 4 },     { 0, "SLmsh5W", 2 },
	{ 0, "SLmsh5WkK4", 3 },   { 0, "SLmshd", 2 },      { 0, "SLmshf", 7 },
	{ 0, "SLmsha", 9 },       { 0, "SLmsha3", 2 },     { 0, "SLmsha312", 5 },
	{ 0, "SLmshu", 4 },       { 0, "xP", 6 },          { 1, "TF", 11 },
	{ 1, "TFZ", 40 },         { 1, "TFZz", 71 },       { 1, "TFZc", 12 },
	{ 1, "TFWkKt", 9 },       { 1, "TFf", 2 },         { 2, "j", 20 },
	{ 2, "jM", 6 },           { 2, "ja", 3 },
};

static const struct {
	int pid, tid;
	const char *name;
} threads[] = {
	{ 812, 812, "my_program" },
	{ 812, 815, "flusher" },
	{ 900, 900, "node" },
};

struct makings {
	struct profile *p;
	module_id module[sizeof(modules) / sizeof(modules[0])];
	function_id function[128]; /* by letter */
	thread_id thread[sizeof(threads) / sizeof(threads[0])];
	event_id event;
	uint64_t lot; /* where time goes */
	int64_t from_ns,
		to_ns; /* only what happens from the one until before the other; 0, 0: all */
};

static void make_names(struct makings *m, capture_id c)
{
	for (size_t i = 0; i < sizeof(modules) / sizeof(modules[0]); i++)
		m->module[i] = build_module(m->p, modules[i].name, "", modules[i].family);
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		m->function[(int)functions[i].letter] =
			build_function(m->p, build_cstring(m->p, functions[i].name),
				       m->module[functions[i].module], functions[i].flags,
				       build_cstring(m->p, functions[i].file), functions[i].line);
	for (size_t i = 0; i < sizeof(threads) / sizeof(threads[0]); i++) {
		process_id p = build_process(m->p, c, threads[i].pid);
		string_id name = build_cstring(m->p, threads[i].name);

		if (threads[i].pid == threads[i].tid)
			build_process_name(m->p, p, name);
		m->thread[i] = build_thread(m->p, p, threads[i].tid, name);
	}
}

/* A function with another inlined into it, at an address of their own. */
static location_id make_inlined(struct makings *m, char outer, char inner)
{
	struct frame frames[2] = { { .function = m->function[(int)outer].v },
				   { .function = m->function[(int)inner].v } };
	module_id module = profile_function(m->p, m->function[(int)outer])->module;
	location_id l = build_location(m->p, module, (uint64_t)(outer * 256 + inner));

	build_location_inlines(m->p, l, frames, 2);
	return l;
}

static stack_id make_stack(struct makings *m, int thread, const char *letters)
{
	string_id comm = build_cstring(m->p, threads[thread].name);
	stack_id s = build_stack(m->p, (stack_id){ 0 }, build_comm_location(m->p, comm));

	for (; *letters; letters++) {
		location_id l;

		if (letters[1] == '>') {
			l = make_inlined(m, letters[0], letters[2]);
			letters += 2;
		} else {
			l = build_symbol_location(m->p, m->function[(int)*letters]);
		}
		s = build_stack(m->p, s, l);
	}
	return s;
}

static void make_samples(struct makings *m, size_t i, int n)
{
	struct sample s = { .thread = m->thread[stacks[i].thread], .event = m->event };

	s.stack = make_stack(m, stacks[i].thread, stacks[i].stack);
	s.weight = 47 * MS;
	for (int k = 0; k < n; k++) {
		m->lot = m->lot * 6364136223846793005u + 1442695040888963407u;
		s.time_ns = (int64_t)(m->lot >> 20) % (36000 * MS);
		if (stacks[i].thread == 1)
			s.time_ns = s.time_ns / (6000 * MS) * (6000 * MS) + s.time_ns % (2000 * MS);
		s.cpu = (uint16_t)(m->lot >> 60 & 3);
		if (m->to_ns == 0 || (s.time_ns >= m->from_ns && s.time_ns < m->to_ns))
			build_sample(m->p, &s);
	}
}

static void make_facts(struct profile *p, capture_id c)
{
	build_fact(p, c, "file", "size", FACT_PLAIN, "4.2 MB");
	build_fact(p, c, "file", "command", FACT_PLAIN,
		   "perf record -F 999 -g -e cpu-clock -o perf.data -- ./my_program --listen "
		   "0.0.0.0:8080 --workers 2 --log /var/log/my_program/requests.log");
	build_fact(p, c, "file", "host", FACT_PLAIN, "db-7.example.net");
	build_fact(p, c, "losses", "lost samples", FACT_LOSS, "41 in 3 gaps: raise --mmap-pages");
	build_fact(p, c, "losses", "stacks cut short", FACT_LOSS, "6, marked [truncated]");
	build_fact(p, c, "symbols", "my_program", FACT_GOOD, "symtab, build-id agrees");
	build_fact(p, c, "symbols", "libz.so.1", FACT_PLAIN, "dynamic symbols only");
}

struct profile *stage_profile(void)
{
	struct makings m = { .p = profile_new(), .lot = 1 };
	capture_id c;

	builder_begin(m.p);
	c = build_capture(m.p, "perf.data", "perf.data");
	m.event = build_event(m.p, "cpu-clock", UNIT_NS, true);
	make_names(&m, c);
	for (size_t i = 0; i < sizeof(stacks) / sizeof(stacks[0]); i++)
		make_samples(&m, i, stacks[i].n);
	make_facts(m.p, c);
	builder_end(m.p);
	return m.p;
}

/* How many samples the stack has after the change: parsing got slower, replies are no longer locked, crc32 went. */
static int after_change(const char *stack, int n)
{
	if (strcmp(stack, "SLmshP") == 0)
		return 2 * n;
	if (strcmp(stack, "SLmshWkKtq") == 0 || strcmp(stack, "SLmshwWkKtq") == 0)
		return 0;
	if (strcmp(stack, "TFZc") == 0)
		return 0;
	if (strcmp(stack, "SLmshd") == 0)
		return 25 * n;
	/* The rest differs by chance. */
	return n + (n * 7 % 5) - 2 > 0 ? n + (n * 7 % 5) - 2 : n;
}

struct profile *stage_changed(void)
{
	struct makings m = { .p = profile_new(), .lot = 1 };

	builder_begin(m.p);
	m.event = build_event(m.p, "cpu-clock", UNIT_NS, true);
	for (int side = 0; side < 2; side++) {
		capture_id c = build_capture(m.p, side ? "after.data" : "before.data", "perf.data");

		make_names(&m, c);
		for (size_t i = 0; i < sizeof(stacks) / sizeof(stacks[0]); i++)
			make_samples(&m, i,
				     side ? after_change(stacks[i].stack, stacks[i].n)
					  : stacks[i].n);
		make_facts(m.p, c);
	}
	builder_end(m.p);
	return m.p;
}

void stage_profile_add(struct profile *p, int64_t from_ns, int64_t to_ns, bool changed)
{
	struct makings m = { .p = p, .lot = 1, .from_ns = from_ns, .to_ns = to_ns };
	struct profile_counts counts;
	capture_id c = { 0 };

	profile_counts_read(p, &counts);
	builder_begin(p);
	if (counts.n_captures == 0)
		c = build_capture(p, "perf.data", "perf.data");
	m.event = build_event(p, "cpu-clock", UNIT_NS, true);
	make_names(&m, c);
	for (size_t i = 0; i < sizeof(stacks) / sizeof(stacks[0]); i++)
		make_samples(&m, i,
			     changed ? after_change(stacks[i].stack, stacks[i].n) : stacks[i].n);
	builder_end(p);
}
