/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What mappings are of: files, the kernel and its modules, the vdso, memory that holds generated
 * code. One table per capture, added to by the thread that locates, read by the one that names.
 */
#ifndef PROFTOP_SYMBOLS_SPACE_DSO_H
#define PROFTOP_SYMBOLS_SPACE_DSO_H

#include "elf/build_id.h"
#include "profile/profile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What an address in it means, and how it is made of one in memory: by subtracting a bias that the
 * mapping fixes.
 */
enum dso_kind {
	DSO_FILE,     /* offset in the file */
	DSO_KERNEL,   /* distance from the kernel's reference symbol, _text or _stext */
	DSO_KSYMBOL,  /* distance from its start: a BPF program or trampoline, which is its name */
	DSO_KMODULE,  /* distance from the start of the module; see module_layout.h */
	DSO_VDSO,     /* offset in its image */
	DSO_JIT,      /* as in memory; named by what the process wrote to perf-PID.map */
	DSO_JIT_DUMP, /* offset in the dump that the process wrote; see jit_dump.h */
	DSO_NOTHING   /* as in memory; nothing to be named by */
};

struct dso {
	const char *path;         /* as the profile has it; owned by the table */
	const char *reference;    /* DSO_KERNEL: "_text", "_stext" or ""; owned by the table */
	uint64_t reference_value; /* DSO_KERNEL: where it was; DSO_KMODULE: where the module was */
	uint64_t text_bytes;      /* DSO_KERNEL: of its code, as recorded; 0: not known */
	uint64_t code_offset;     /* DSO_FILE: in the file, of what was first mapped of its code */
	struct build_id build_id; /* n 0: not recorded */
	enum dso_kind kind;
	enum family family;
	bool is_data;    /* DSO_NOTHING: it was mapped, and not to be executed */
	int32_t pid;     /* DSO_JIT, DSO_JIT_DUMP: whose; else -1 */
	int32_t seen_in; /* a process that had it mapped; -1: none */
	int held; /* a descriptor + 1 of the file that was mapped; 0: none; owned by the table */
};

/* A file, or anything else, mapped by a process; what a resolver is told. */
struct mapping_event {
	int64_t time_ns; /* INT64_MIN: since ever */
	int32_t pid;     /* -1 for the kernel */
	uint64_t start, length, file_offset;
	uint64_t text_bytes; /* of the kernel's code, where its mapping was made longer; else 0 */
	const char *path;    /* as recorded; copied */
	struct build_id build_id;
	bool executable;
};

struct dso_table;

struct dso_table *dso_table_new(void);
/* From now on files are opened when they are first mapped: of what runs now, they may be gone when they are wanted. */
void dso_table_hold(struct dso_table *t);
void dso_table_free(struct dso_table *t);

/* What the recording's header says; also completes a dso that was added without a build-id. */
void dso_table_build_id(struct dso_table *t, const char *path, const struct build_id *id,
			bool kernel);

/* The number of what m maps, added when new, and the bias of the mapping. */
uint32_t dso_table_add(struct dso_table *t, const struct mapping_event *m, uint64_t *bias);
/* The number of something without a mapping event. */
uint32_t dso_table_add_special(struct dso_table *t, const char *path, enum family family);

/* The module of a dso; {ID_NONE} before dso_table_set_module(). For the locating thread. */
module_id dso_table_module(const struct dso_table *t, uint32_t dso);
/* How many there are; for the locating thread. */
size_t dso_table_n(const struct dso_table *t);
/* Makes it known, so that dso_table_of_module() finds it. */
void dso_table_set_module(struct dso_table *t, uint32_t dso, module_id m);

/* A copy of it. For the locating thread. */
struct dso dso_table_get(const struct dso_table *t, uint32_t dso);

/* A copy of the dso of the kernel itself; false while none was told. Any thread. */
bool dso_table_kernel(struct dso_table *t, struct dso *out);

/* A copy of the dso of a module that has one; false for modules of others. Any thread. */
bool dso_table_of_module(struct dso_table *t, module_id m, struct dso *out);

#endif
