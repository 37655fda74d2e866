/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Raw addresses → locations with names, for one capture.
 *
 * The owner (a reader of recordings, a live source) first tells what happened to address spaces, then
 * asks where addresses lie. Both are by time, so that samples and mappings may come in any order as
 * long as the mappings of a time are told before its samples are asked. Naming is separate: it
 * opens files, takes its time, and may run on another thread than the one that locates.
 *
 * resolver_locate() wants the pen of the profile (builder_begin); resolver_name() takes it itself
 * for moments. Everything else touches only the resolver. One thread locates; one thread names.
 */
#ifndef PROFTOP_SYMBOLS_RESOLVER_H
#define PROFTOP_SYMBOLS_RESOLVER_H

#include "profile/builder.h"
#include "symbols/search/resolver_options.h"
#include "symbols/space/dso.h"
#include "unwind/walk.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cfi_rule;
struct progress;
struct resolver;
struct symtab;

/* Where a cpu was when an address was taken; PERF_RECORD_MISC_* and PERF_CONTEXT_* map to it. */
enum cpu_mode { MODE_USER, MODE_KERNEL, MODE_GUEST_USER, MODE_GUEST_KERNEL, MODE_HYPERVISOR };

/* Borrows p and what options point to. */
struct resolver *resolver_new(struct profile *p, capture_id c, const struct resolver_options *o);
void resolver_free(struct resolver *r);

/* What the recording's header says of a file's or the kernel's build-id; before mappings. */
void resolver_build_id(struct resolver *r, const char *path, const struct build_id *id,
		       bool kernel);
/* The kernel's release as recorded ("6.1.0-13-amd64"), for /lib/modules and debug files. */
void resolver_kernel_release(struct resolver *r, const char *release);

/* Symbols of a file that the recording brings itself; see embedded_symbols_add(). Before naming. */
void resolver_symbols(struct resolver *r, const char *path, uint64_t address, uint64_t offset,
		      struct symtab *t);
/* Where code that is in no file begins in its sources, as the recording says. Before naming. */
void resolver_declared(struct resolver *r, const char *path, const char *file, uint32_t line);
/* Before mappings; without it nothing is known of the clock. */
void resolver_clock(struct resolver *r, const struct resolver_clock *c);

void resolver_map(struct resolver *r, const struct mapping_event *m);
/*
 * Maps a file of which addresses are known as they are counted from where it was loaded: m has no length, start and offset of its own.
 * The file is looked for and opened now. False: it is not here, or is another one, and nothing is mapped.
 */
bool resolver_map_image(struct resolver *r, const struct mapping_event *m);
/* The child starts with the parent's mappings of that moment. A thread (same pid) changes nothing. */
void resolver_fork(struct resolver *r, int32_t pid, int32_t parent_pid, int64_t time_ns);
/* The process has another program: what was mapped is gone. */
void resolver_exec(struct resolver *r, int32_t pid, int64_t time_ns);
/* Reads what programs have written of the code that they generate since it was looked for last. */
void resolver_follow(struct resolver *r);
/* Of these processes, which have ended, no address is asked for any more, at any time. */
void resolver_end(struct resolver *r, const int32_t *pids, size_t n);
/* How many processes have something mapped, or had and are needed, with the kernel. */
size_t resolver_n_spaces(const struct resolver *r);
/* How many mappings of them are known, and how many files and other things that were mapped, for good. */
size_t resolver_n_mappings(const struct resolver *r);
size_t resolver_n_mapped(const struct resolver *r);

/*
 * The last moment of the program that the process was before, if the program that it is at time_ns has
 * nothing at that address; else time_ns.
 */
int64_t resolver_before_exec(struct resolver *r, int32_t pid, int64_t time_ns, uint64_t ip);

/*
 * The location of an address; never fails: without a mapping it is one in the module "[unknown]",
 * of that address. return_address: the instruction meant is the one before ip: ip - 1 is looked up
 * and is what the location says. time_ns TIME_NONE: by all that was told so far.
 *
 * A location's address is the offset in the file that was mapped (so that nothing need be opened
 * here; an ELF file's own addresses come from its segments when it is), the distance from _text or
 * _stext for the kernel (which moves from boot to boot), from its start for a kernel module, and the
 * address itself for generated code.
 */
location_id resolver_locate(struct resolver *r, int32_t pid, int64_t time_ns, uint64_t ip,
			    enum cpu_mode mode, bool return_address);

/* How the walk of a stack ended. */
struct resolver_walk {
	enum walk_end end;
	module_id module; /* whose file or tables are missing, when that is why; else {ID_NONE} */
};

/*
 * Walks a copied user stack with the unwind tables of what the process had mapped at the time; see
 * walk.h. All calls name the same architecture. Wants the pen.
 */
size_t resolver_walk_stack(struct resolver *r, int32_t pid, int64_t time_ns, enum unwind_arch arch,
			   const struct unwind_regs *regs, const struct unwind_memory *m,
			   struct walk_frame *out, size_t max, struct resolver_walk *how);

/*
 * The rule by which unwind tables leave the function at a user address; architecture as above. False:
 * there is none.
 */
bool resolver_rule(struct resolver *r, int32_t pid, int64_t time_ns, enum unwind_arch arch,
		   uint64_t ip, struct cfi_rule *out);

/* Is a user address in a 32-bit program or library? Architecture as above. */
bool resolver_is_32(struct resolver *r, int32_t pid, int64_t time_ns, enum unwind_arch arch,
		    uint64_t ip);

/*
 * The kernel's function that an address was in, and how far, at once: for lines that must name it while they
 * are made. Opens files the first time. NULL: unknown. Borrowed from the resolver. For the thread that locates.
 */
const char *resolver_kernel_symbol(struct resolver *r, int64_t time_ns, uint64_t address,
				   uint64_t *offset);

/* Does anything map addresses of that process? Readers look ahead for late mappings when not. */
bool resolver_knows(const struct resolver *r, int32_t pid);

/*
 * Equal numbers of a process mean that it did not generate code between two moments, by what it wrote
 * of it; 0: it wrote nothing. What is cached by address is void when the number changes.
 */
uint32_t resolver_age(const struct resolver *r, int32_t pid, int64_t time_ns);

/* States in facts what was used beside the recording itself. Wants the pen. */
void resolver_facts(const struct resolver *r);

/*
 * Gives a function to every published location that has none, and says in facts (section
 * "symbols") what was missing and why. Returns 0, -ECANCELED, or -EFBIG when the profile is full. Of
 * progress only the wish to stop is read. Call again when there are more.
 */
int resolver_name(struct resolver *r, struct progress *progress);

/*
 * Fetches the debug files that were missing and names what waited for them, with the options' leave;
 * says in facts what came. May take minutes; progress counts files. As resolver_name(), and after it.
 */
int resolver_fetch(struct resolver *r, struct progress *progress);

/*
 * Gives the locations that have names the functions that were inlined there, from debug information;
 * nothing when the options say so. As resolver_name(), and on the same thread.
 */
int resolver_inline(struct resolver *r, struct progress *progress);
/* Some of that, cheaply, while more is being read; few: some wait for more, and want to be asked for again though none comes. */
int resolver_inline_ahead(struct resolver *r, bool *few, struct progress *progress);

#endif
