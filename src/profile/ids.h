/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The names of things in a profile: dense, from 0, typed so that they cannot be mixed up. An id is
 * given once, never reused, and lives as long as its profile. Where many are kept (columns, answer
 * arrays) they are bare uint32_t.
 */
#ifndef PROFTOP_PROFILE_IDS_H
#define PROFTOP_PROFILE_IDS_H

#include <stdint.h>

/* clang-format off */
typedef struct { uint32_t v; } string_id;	/* 0 is the empty string */
typedef struct { uint32_t v; } capture_id;	/* an input file, pipe or live recording */
typedef struct { uint32_t v; } part_id;		/* a file of a capture; most have one */
typedef struct { uint32_t v; } module_id;	/* 0 is "no module" */
typedef struct { uint32_t v; } function_id;	/* a named function of a module */
typedef struct { uint32_t v; } location_id;	/* an address in a module, or a symbolised frame */
typedef struct { uint32_t v; } stack_id;	/* a node of the stack trie; 0 is its root, no frame */
typedef struct { uint32_t v; } process_id;	/* a process of a capture, not a pid */
typedef struct { uint32_t v; } cgroup_id;	/* a control group of a capture */
typedef struct { uint32_t v; } thread_id;	/* a thread under one name, not a tid */
typedef struct { uint32_t v; } event_id;	/* what was sampled: cpu-clock, page-faults, … */
/* clang-format on */

#define ID_NONE UINT32_MAX

#define TIME_NONE INT64_MIN
#define CPU_NONE  UINT16_MAX

/* Moments from which something is counted, see profile_fences(). */
#define BUILD_FENCES 2

#endif
