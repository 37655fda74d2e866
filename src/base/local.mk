# SPDX-License-Identifier: GPL-3.0-or-later
EXTRA_DIST += src/base/README.md
libbase_a_SOURCES += \
	src/base/arena.c src/base/arena.h \
	src/base/bisect.h \
	src/base/bytes.c src/base/bytes.h \
	src/base/column.c src/base/column.h \
	src/base/compare.h \
	src/base/consulted_files.c src/base/consulted_files.h \
	src/base/err.c src/base/err.h \
	src/base/fmt.c src/base/fmt.h \
	src/base/hash.c src/base/hash.h \
	src/base/huge_alloc.c src/base/huge_alloc.h \
	src/base/map.c src/base/map.h \
	src/base/mem.c src/base/mem.h \
	src/base/pack_numbers.c src/base/pack_numbers.h \
	src/base/path.c src/base/path.h \
	src/base/process.c src/base/process.h \
	src/base/sum.h \
	src/base/system_limits.c src/base/system_limits.h \
	src/base/task.c src/base/task.h \
	src/base/text.c src/base/text.h \
	src/base/tmpfile.c src/base/tmpfile.h \
	src/base/transliterate.c src/base/transliterate.h \
	src/base/try_in_child.c src/base/try_in_child.h
