/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The BPF programs that perf found in the kernel: where their functions were, what they are called and
 * where they begin in their sources. From the features BPF_PROG_INFO (struct bpf_prog_info of
 * linux/bpf.h with its arrays behind it, linux tools/perf/util/bpf-utils.h) and BPF_BTF (types and
 * strings, Documentation/bpf/btf.rst).
 */
#ifndef PROFTOP_PERF_FILE_BPF_PROGRAMS_H
#define PROFTOP_PERF_FILE_BPF_PROGRAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct resolver;

/* The bytes of a feature. */
struct bpf_feature {
	const uint8_t *at;
	size_t n;
};

/*
 * Tells the resolver of all functions, before mappings: they lie below whatever those say. False when
 * a feature is damaged: what came before counts.
 */
bool bpf_programs(struct resolver *r, struct bpf_feature programs, struct bpf_feature types,
		  bool swap);

#endif
