# SPDX-License-Identifier: GPL-3.0-or-later
EXTRA_DIST += src/record/attach/README.md
librecord_a_SOURCES += \
	src/record/attach/program_file.c src/record/attach/program_file.h
if HAVE_TRACER
librecord_a_SOURCES += \
	src/record/attach/heap_salvage.c src/record/attach/heap_salvage.h \
	src/record/attach/salvage_left.c \
	src/record/heap/trace/decode_fast.c \
	src/record/heap/trace/decode_notes.c \
	src/record/heap/trace/tracer_clock.c
else
librecord_a_SOURCES += \
	src/record/attach/heap_salvage.h \
	src/record/attach/salvage_none.c
endif
if !HAVE_ATTACH
librecord_a_SOURCES += \
	src/record/attach/attach.h \
	src/record/attach/attach_none.c
endif
if HAVE_ATTACH
librecord_a_SOURCES += \
	src/record/attach/attach.c src/record/attach/attach.h \
	src/record/attach/attach_check.c src/record/attach/attach_check.h \
	src/record/attach/remote.c src/record/attach/remote.h \
	src/record/attach/safe_point.c src/record/attach/safe_point.h \
	src/record/attach/thread_state.c src/record/attach/thread_state.h \
	src/record/attach/tracee.c src/record/attach/tracee.h
if ON_AARCH64
librecord_a_SOURCES += \
	src/record/attach/thread_state_aarch64.c
else
librecord_a_SOURCES += \
	src/record/attach/thread_state_x86_64.c
endif
endif
