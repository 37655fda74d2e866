/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Another process as its memory says it is: what is mapped, the modules among it with their symbols and unwind
 * rules. Nothing of it is changed but by remote_write().
 */
#ifndef PROFTOP_RECORD_ATTACH_REMOTE_H
#define PROFTOP_RECORD_ATTACH_REMOTE_H

#include "base/mem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct cfi;
struct err;

struct remote_map {
	uint64_t begin, end;
	uint64_t offset; /* in the file */
	bool runs;       /* it holds code */
	char *path;      /* owned; "" for memory without a file */
};

struct remote;        /* a process */
struct remote_module; /* an ELF file in it; lives as long as its process, or until the next look */

/* Reads what is mapped. Returns 0 or -errno with a sentence. */
int remote_open(pid_t pid, struct remote **out, struct err *e);
void remote_free(struct remote *r);

/* Reads anew what is mapped. */
int remote_look(struct remote *r, struct err *e);

pid_t remote_pid(const struct remote *r);

/* All n bytes or false. */
bool remote_read(const struct remote *r, uint64_t address, void *to, size_t n);
bool remote_write(const struct remote *r, uint64_t address, const void *from, size_t n);

/* What is mapped at address, or NULL. Borrowed until the next look. */
const struct remote_map *remote_map_at(const struct remote *r, uint64_t address);

/* The module that holds address, or NULL. */
struct remote_module *remote_module_at(struct remote *r, uint64_t address);

/* The first module whose file has this name (without directories), or this path if it begins with '/'. */
struct remote_module *remote_module_named(struct remote *r, const char *name);

/* Libraries of glibc. Before 2.34 their files have its version in their names, and libc has neither threads nor dlopen(). */
enum glibc_part { GLIBC_NONE, GLIBC_LIBC, GLIBC_PTHREAD, GLIBC_DL };

/* What the file is of glibc, by its name. */
enum glibc_part remote_glibc_part(const char *path);

/* The first module that is this part, or NULL. */
struct remote_module *remote_glibc(struct remote *r, enum glibc_part part);

/* Where dlopen() of glibc is, or what libc has in its place; 0: nowhere. *flags: what it takes beside dlopen()'s. */
uint64_t remote_dlopen(struct remote *r, uint64_t *flags);

/* The executable: what was mapped of /proc/PID/exe. */
struct remote_module *remote_executable(struct remote *r);

/* Borrowed. */
const char *remote_module_path(const struct remote_module *m);

/* Where a function or variable that the module exports is; 0: it does not. */
uint64_t remote_symbol(struct remote *r, struct remote_module *m, const char *name);

/* Name of the exported function whose bytes hold address, or NULL. Of several names any that passes `wanted`. */
const char *remote_symbol_at(struct remote *r, struct remote_module *m, uint64_t address,
			     bool (*wanted)(const char *name));

/* Where the module's code has these bytes; 0: nowhere. */
uint64_t remote_find_bytes(struct remote *r, const struct remote_module *m, const void *bytes,
			   size_t n);

/* Unwind rules, owned by the module, or NULL; *bias is what a pc has more than addresses of the rules. */
struct cfi *remote_cfi(struct remote *r, struct remote_module *m, uint64_t *bias);

#endif
