# SPDX-License-Identifier: GPL-3.0-or-later
EXTRA_DIST += src/notebook/README.md
libbase_a_SOURCES += \
	src/notebook/notebook.c src/notebook/notebook.h \
	src/notebook/page.c src/notebook/page.h
