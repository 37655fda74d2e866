# SPDX-License-Identifier: GPL-3.0-or-later
t_code_SOURCES += \
	tests/code/test_annotate.c \
	tests/code/test_annotate_bad.c \
	tests/code/test_annotate_sides.c \
	tests/code/test_source_join.c \
	tests/code/test_disassembler.c tests/code/test_module_links.c \
	tests/code/test_source_file.c \
	tests/fuzz/fuzz_vary.c
