/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What was so before a recording began, as records of time 0: names of threads, code that is mapped, the kernel
 * and its modules. From /proc, as far as we may look.
 */
#ifndef PROFTOP_RECORD_CPU_PROC_SYNTHESIZE_H
#define PROFTOP_RECORD_CPU_PROC_SYNTHESIZE_H

#include <stdbool.h>
#include <stdint.h>

struct build_id;
struct build_id_cache;
struct perf_attr;
struct perf_put;
struct proc_synthesize;

/* a: of the event whose trailer the records get. data: mappings without code are told, too. a and ids are borrowed. */
struct proc_synthesize *proc_synthesize_new(const struct perf_attr *a, bool data,
					    struct build_id_cache *ids);
void proc_synthesize_free(struct proc_synthesize *p);

/* A process with its threads; nothing when it is gone. */
void proc_synthesize_process(struct proc_synthesize *p, int pid, struct perf_put *to);
/* All that run. */
void proc_synthesize_all(struct proc_synthesize *p, struct perf_put *to);
/* False: the kernel does not say where its code is (kernel.kptr_restrict). */
bool proc_synthesize_kernel(struct proc_synthesize *p, struct perf_put *to);

/*
 * Where the kernel's code begins, by the first lines of that file: all of kallsyms takes long to make. 0: it does not say. *name: of
 * the symbol there; as perf, _text, and _stext where there is none, as on arm64.
 */
uint64_t proc_synthesize_text(const char *kallsyms, const char **name);

/* The running kernel's; false when it does not say. */
bool proc_synthesize_kernel_id(struct build_id *out);

/* The process that a thread belongs to; 0: it is gone. */
int proc_synthesize_process_of(int tid);

#endif
