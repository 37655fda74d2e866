# SPDX-License-Identifier: GPL-3.0-or-later
EXTRA_DIST += src/cli/options/README.md
libcli_a_SOURCES += \
	src/cli/options/command.h \
	src/cli/options/comparison_options.c src/cli/options/comparison_options.h \
	src/cli/options/gzip_output.c src/cli/options/gzip_output.h \
	src/cli/options/message.c src/cli/options/message.h \
	src/cli/options/options.c src/cli/options/options.h \
	src/cli/options/output.c src/cli/options/output.h \
	src/cli/options/query_options.c src/cli/options/query_options.h \
	src/cli/options/saved_options.c src/cli/options/saved_options.h \
	src/cli/options/scratch.c src/cli/options/scratch.h
