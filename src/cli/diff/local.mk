# SPDX-License-Identifier: GPL-3.0-or-later
EXTRA_DIST += src/cli/diff/README.md
libcli_a_SOURCES += \
	src/cli/diff/diff_json.c src/cli/diff/diff_json.h \
	src/cli/diff/diff_judge.c src/cli/diff/diff_judge.h \
	src/cli/diff/diff_markdown.c src/cli/diff/diff_markdown.h \
	src/cli/diff/diff_rows.c src/cli/diff/diff_rows.h \
	src/cli/diff/diff_text.c src/cli/diff/diff_text.h \
	src/cli/diff/history_dir.c src/cli/diff/history_dir.h
