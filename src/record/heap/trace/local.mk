# SPDX-License-Identifier: GPL-3.0-or-later
EXTRA_DIST += src/record/heap/trace/README.md
libproftop_heap_so_SOURCES += \
	src/record/heap/trace/decode_fast.c src/record/heap/trace/decode_fast.h \
	src/record/heap/trace/decode_notes.c src/record/heap/trace/decode_notes.h \
	src/record/heap/trace/kernel_stat.h \
	src/record/heap/trace/live_blocks.h \
	src/record/heap/trace/pass_cost.c src/record/heap/trace/pass_cost.h \
	src/record/heap/trace/pending_state.h \
	src/record/heap/trace/shared_memory.c src/record/heap/trace/shared_memory.h \
	src/record/heap/trace/short_lived.c src/record/heap/trace/short_lived.h \
	src/record/heap/trace/trace_rotate.c src/record/heap/trace/trace_rotate.h \
	src/record/heap/trace/tracer.c src/record/heap/trace/tracer.h \
	src/record/heap/trace/tracer_attach.c src/record/heap/trace/tracer_attach.h \
	src/record/heap/trace/tracer_blocks.c src/record/heap/trace/tracer_blocks.h \
	src/record/heap/trace/tracer_clock.c src/record/heap/trace/tracer_clock.h \
	src/record/heap/trace/tracer_facts.c src/record/heap/trace/tracer_facts.h \
	src/record/heap/trace/tracer_file.c src/record/heap/trace/tracer_file.h \
	src/record/heap/trace/tracer_fork.c src/record/heap/trace/tracer_fork.h \
	src/record/heap/trace/tracer_init.h \
	src/record/heap/trace/tracer_forbidden.c src/record/heap/trace/tracer_forbidden.h \
	src/record/heap/trace/tracer_lock.c src/record/heap/trace/tracer_lock.h \
	src/record/heap/trace/tracer_loop.c src/record/heap/trace/tracer_loop.h \
	src/record/heap/trace/tracer_memory.c src/record/heap/trace/tracer_memory.h \
	src/record/heap/trace/tracer_options.c src/record/heap/trace/tracer_options.h \
	src/record/heap/trace/tracer_record.c src/record/heap/trace/tracer_record.h \
	src/record/heap/trace/tracer_sample.c src/record/heap/trace/tracer_sample.h \
	src/record/heap/trace/tracer_switch.c src/record/heap/trace/tracer_switch.h \
	src/record/heap/trace/tracer_thread.c src/record/heap/trace/tracer_thread.h \
	src/record/heap/trace/tracer_throttle.c src/record/heap/trace/tracer_throttle.h \
	src/record/heap/trace/tracer_writer.c src/record/heap/trace/tracer_writer.h \
	src/record/heap/trace/zstd_left_out.c
