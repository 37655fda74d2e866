# SPDX-License-Identifier: GPL-3.0-or-later
t_cli_SOURCES += \
	tests/cli/test_json_out.c \
	tests/cli/test_keys_doc.c \
	tests/cli/test_live_output.c \
	tests/cli/test_live_save.c \
	tests/cli/test_live_target.c \
	tests/cli/test_options.c \
	tests/cli/test_output.c \
	tests/cli/test_ratio.c \
	tests/cli/test_report.c \
	tests/cli/test_report_annotate.c \
	tests/cli/test_rows.c
