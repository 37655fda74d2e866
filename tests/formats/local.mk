# SPDX-License-Identifier: GPL-3.0-or-later
t_formats_SOURCES += \
	tests/formats/test_bytehound.c \
	tests/formats/test_callgrind.c \
	tests/formats/test_cpuprofile.c \
	tests/formats/test_folded.c \
	tests/formats/test_folded_captures.c \
	tests/formats/test_follow.c \
	tests/formats/test_formats.c \
	tests/formats/test_heap_grow.c \
	tests/formats/test_heap_ids.c \
	tests/formats/test_heap_stop.c \
	tests/formats/test_heap_profile.c \
	tests/formats/test_heap_trace.c \
	tests/formats/test_heaptrack.c \
	tests/formats/test_hostile.c \
	tests/formats/test_index.c \
	tests/formats/test_json_formats.c \
	tests/formats/test_json_stream.c \
	tests/formats/test_otlp.c \
	tests/formats/test_memray.c \
	tests/formats/test_pack.c \
	tests/formats/test_perf_corpus.c \
	tests/formats/test_perf_data.c \
	tests/formats/test_perf_gaps.c \
	tests/formats/test_perf_losses.c \
	tests/formats/test_perf_script.c \
	tests/formats/test_perf_script_heap.c \
	tests/formats/test_perf_script_saved.c \
	tests/formats/test_pprof.c \
	tests/formats/test_round_trips.c \
	tests/formats/test_samples.c \
	tests/formats/test_svg.c \
	tests/formats/test_text_signs.c \
	tests/formats/test_valgrind.c
