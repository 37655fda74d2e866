# SPDX-License-Identifier: GPL-3.0-or-later
t_base_SOURCES += \
	tests/support/limits_work.h
t_cli_SOURCES += \
	tests/support/made_profile.c tests/support/made_profile.h \
	tests/support/others_rest.c tests/support/others_rest.h \
	tests/support/read_recording.c tests/support/read_recording.h \
	tests/support/stage.c tests/support/stage.h tests/support/stage_code.c
t_formats_SOURCES += \
	tests/support/limits_work.h \
	tests/support/made_everything.c tests/support/made_everything.h \
	tests/support/made_heap.c tests/support/made_heap.h \
	tests/support/made_perf.c tests/support/made_perf.h \
	tests/support/made_profile.c tests/support/made_profile.h \
	tests/support/made_story.c tests/support/made_story.h \
	tests/support/others_rest.c tests/support/others_rest.h \
	tests/support/perf_result.c tests/support/perf_result.h \
	tests/support/read_recording.c tests/support/read_recording.h \
	tests/support/read_rows.c tests/support/read_rows.h \
	tests/support/written.c tests/support/written.h
t_pty_SOURCES += \
	tests/support/made_perf.c tests/support/made_perf.h \
	tests/support/pty.c tests/support/pty.h \
	tests/support/pty_proftop.c tests/support/pty_proftop.h \
	tests/support/stage.h \
	tests/support/stage_heap.c \
	tests/support/stage_profile.c
t_query_SOURCES += \
	tests/support/flat_memory.c tests/support/flat_memory.h \
	tests/support/limits_work.h \
	tests/support/made_profile.c tests/support/made_profile.h \
	tests/support/made_story.c tests/support/made_story.h
t_record_SOURCES += \
	tests/support/forbid.c tests/support/forbid.h \
	tests/support/read_recording.c tests/support/read_recording.h
t_symbols_SOURCES += \
	tests/support/feed_rig.c tests/support/feed_rig.h \
	tests/support/made_dwarf.c tests/support/made_dwarf.h \
	tests/support/made_perf.c tests/support/made_perf.h
t_tui_SOURCES += \
	tests/support/golden.c tests/support/golden.h \
	tests/support/made_profile.c tests/support/made_profile.h \
	tests/support/made_story.c tests/support/made_story.h \
	tests/support/stage.c tests/support/stage.h \
	tests/support/stage_code.c \
	tests/support/stage_app.c tests/support/stage_app.h \
	tests/support/stage_heap.c \
	tests/support/stage_profile.c
t_layout_SOURCES += \
	tests/support/made_perf.c tests/support/made_perf.h
t_code_SOURCES += \
	tests/support/made_profile.c tests/support/made_profile.h
