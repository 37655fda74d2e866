# SPDX-License-Identifier: GPL-3.0-or-later
EXTRA_DIST += src/code/README.md
libcode_a_SOURCES += \
	src/code/annotate.c src/code/annotate.h \
	src/code/annotate_inlines.c src/code/annotate_maker.h \
	src/code/annotation.c src/code/annotation.h \
	src/code/code_archive.c src/code/code_archive.h \
	src/code/code_image.c src/code/code_image.h \
	src/code/disassembler.c src/code/disassembler.h \
	src/code/listing.c src/code/listing.h \
	src/code/md5.c src/code/md5.h \
	src/code/module_links.c src/code/module_links.h \
	src/code/packed_code.c src/code/packed_code.h \
	src/code/source_file.c src/code/source_file.h \
	src/code/source_join.c src/code/source_join.h \
	src/code/source_programs.c src/code/source_programs.h
