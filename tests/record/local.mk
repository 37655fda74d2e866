# SPDX-License-Identifier: GPL-3.0-or-later
t_record_SOURCES += \
	tests/record/test_build_id_cache.c \
	tests/record/test_callchain_unwinder.c \
	tests/record/test_event_fds.c \
	tests/record/test_event_spec.c \
	tests/record/test_known_threads.c \
	tests/record/test_perf_rights.c \
	tests/record/test_perf_writer.c \
	tests/record/test_proc_synthesize.c \
	tests/record/test_ring.c
t_tracer_SOURCES += \
	src/record/heap/patch/allocators.c \
	src/record/heap/patch/elf_symbols.c \
	src/record/heap/patch/trampoline.c \
	src/record/heap/patch/x86_code.c \
	src/record/heap/stack/stack_cache.c \
	src/record/heap/stack/stack_trie.c \
	src/record/heap/trace/decode_fast.c \
	src/record/heap/trace/pass_cost.c \
	src/record/heap/trace/shared_memory.c \
	src/record/heap/trace/short_lived.c \
	src/record/heap/trace/tracer_clock.c \
	src/record/heap/trace/tracer_lock.c \
	src/record/heap/trace/tracer_memory.c \
	src/record/heap/trace/tracer_sample.c \
	src/record/heap/trace/tracer_throttle.c \
	tests/record/test_decode_fast.c \
	tests/record/test_live_blocks.c \
	tests/record/test_pass_cost.c \
	tests/record/test_short_lived.c \
	tests/record/test_stack_cache.c \
	tests/record/test_stack_trie.c \
	tests/record/test_tracer_clock.c \
	tests/record/test_tracer_throttle.c \
	tests/record/test_trampoline.c
if HAVE_ATTACH
t_record_SOURCES += \
	tests/record/test_tracee.c
if !ON_AARCH64
t_record_SOURCES += \
	tests/record/test_safe_point.c
endif
endif
