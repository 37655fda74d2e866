# SPDX-License-Identifier: GPL-3.0-or-later
EXTRA_DIST += src/cli/report/README.md
libcli_a_SOURCES += \
	src/cli/report/find_function.c src/cli/report/find_function.h \
	src/cli/report/json_out.c src/cli/report/json_out.h \
	src/cli/report/report_annotate.c src/cli/report/report_annotate.h \
	src/cli/report/report.c src/cli/report/report.h \
	src/cli/report/report_findings.c src/cli/report/report_findings.h \
	src/cli/report/report_heap.c src/cli/report/report_heap.h \
	src/cli/report/report_info.c src/cli/report/report_info.h \
	src/cli/report/report_json.c src/cli/report/report_json.h \
	src/cli/report/report_memory.c src/cli/report/report_memory.h \
	src/cli/report/report_notes.c src/cli/report/report_notes.h \
	src/cli/report/report_text.c src/cli/report/report_text.h
