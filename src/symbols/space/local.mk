# SPDX-License-Identifier: GPL-3.0-or-later
EXTRA_DIST += src/symbols/space/README.md
libsymbols_a_SOURCES += \
	src/symbols/space/address_space.c src/symbols/space/address_space.h \
	src/symbols/space/dso.c src/symbols/space/dso.h \
	src/symbols/space/interval_map.c src/symbols/space/interval_map.h
