# SPDX-License-Identifier: GPL-3.0-or-later
EXTRA_DIST += formats/firefox/README.md
libformats_a_SOURCES += \
	formats/firefox/firefox.c formats/firefox/firefox.h \
	formats/firefox/firefox_native.c formats/firefox/firefox_native.h \
	formats/firefox/firefox_series.c formats/firefox/firefox_series.h \
	formats/firefox/firefox_stacks.c formats/firefox/firefox_stacks.h \
	formats/firefox/firefox_text.c formats/firefox/firefox_text.h \
	formats/firefox/firefox_write.c formats/firefox/firefox_write.h
