# SPDX-License-Identifier: GPL-3.0-or-later
EXTRA_DIST += src/query/findings/README.md
libquery_a_SOURCES += \
	src/query/findings/findings.c src/query/findings/findings.h \
	src/query/findings/findings_heap.c \
	src/query/findings/findings_cpu.c \
	src/query/findings/findings_phases.c \
	src/query/findings/findings_recursion.c \
	src/query/findings/findings_rules.h
