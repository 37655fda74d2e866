/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The feature BPF_BTF: names of functions and of files, by the numbers that BPF programs know them by. */
#ifndef PROFTOP_PERF_FILE_BPF_TYPES_H
#define PROFTOP_PERF_FILE_BPF_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bpf_types;

/* Borrows the bytes. Never NULL; *good is false when they are damaged: what can be read is known. */
struct bpf_types *bpf_types_new(const uint8_t *bytes, size_t n, bool swap, bool *good);
void bpf_types_free(struct bpf_types *t);

/* A string of the BTF of that id; NULL: there is none. Borrowed from the bytes. */
const char *bpf_types_string(const struct bpf_types *t, uint32_t id, uint32_t offset);
/* The name of a type of the BTF of that id, if it is a function; NULL. Borrowed likewise. */
const char *bpf_types_function(const struct bpf_types *t, uint32_t id, uint32_t type);

#endif
