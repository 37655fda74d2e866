/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is fuzzed: each takes any bytes and aborts when something that must hold does not. `make fuzz`
 * drives them by libFuzzer (with FUZZ_TARGET as the one to drive), the tests by a few mutations.
 */
#ifndef PROFTOP_TESTS_FUZZ_H
#define PROFTOP_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

typedef void fuzz_fn(const uint8_t *bytes, size_t n);

/* Reads callgrind.out and asks for its table. */
fuzz_fn fuzz_callgrind;
/* Asks unwind tables for rules and walks stacks with them. */
fuzz_fn fuzz_cfi;
/* Moves the beginnings of functions, and reads tables of symbols. */
fuzz_fn fuzz_code;
/* Reads a legacy CPU profile of pprof and asks for its table. */
fuzz_fn fuzz_cpuprofile;
/* Asks debug information for frames. */
fuzz_fn fuzz_debug_info;
/* Reads folded text (packed or not) and writes it again. */
fuzz_fn fuzz_folded;
/* Reads a heap trace, and asks for all that can be asked. */
fuzz_fn fuzz_heap_trace;
/* Reads a profile of DHAT's, and asks for its table. */
fuzz_fn fuzz_dhat;
/* Reads a massif.out, and asks for its table. */
fuzz_fn fuzz_massif;
/* Reads a bytehound file, and asks for its table. */
fuzz_fn fuzz_bytehound;
/* Reads a table of memray's, and asks for its table. */
fuzz_fn fuzz_memray;
/* Reads the text of a heap profile, and asks for its table. */
fuzz_fn fuzz_heap_profile;
/* Reads a trace of heaptrack's, and asks for all that can be asked. */
fuzz_fn fuzz_heaptrack;
/* Reads a jitdump and asks for names and unwind rules of its code. */
fuzz_fn fuzz_jit_dump;
/* Reads a perf.data. */
fuzz_fn fuzz_perf_data;
/* Reads JSON as each format that is JSON. */
fuzz_fn fuzz_json;
/* Reads OpenTelemetry profiles, protobuf or JSON. */
fuzz_fn fuzz_otlp;
/* Reads an index, and one of sections with such bodies, and asks for its table. */
fuzz_fn fuzz_index;
/* Reads a pack, and one of sections with such bodies, and asks for its table and its memory. */
fuzz_fn fuzz_pack;
/* Reads a pprof profile and asks for its table. */
fuzz_fn fuzz_pprof;
/* Reads a run of a history and writes it again. */
fuzz_fn fuzz_run_history;
/* Reads the text of perf script and writes it as folded stacks. */
fuzz_fn fuzz_perf_script;

/*
 * Calls fn with `rounds` variations of the seed: bytes changed, cut out, repeated; the same ones
 * each time.
 */
void fuzz_vary(fuzz_fn *fn, const void *seed, size_t n, unsigned rounds);

#endif
