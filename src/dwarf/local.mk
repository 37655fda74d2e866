# SPDX-License-Identifier: GPL-3.0-or-later
EXTRA_DIST += src/dwarf/README.md
libsymbols_a_SOURCES += \
	src/dwarf/debug_aranges.c src/dwarf/debug_aranges.h \
	src/dwarf/debug_info.c src/dwarf/debug_info.h \
	src/dwarf/debug_parts.c src/dwarf/debug_parts.h \
	src/dwarf/die_abbrev.c src/dwarf/die_abbrev.h \
	src/dwarf/die_calls.c src/dwarf/die_calls.h \
	src/dwarf/die_entry.c src/dwarf/die_entry.h \
	src/dwarf/die_name.c src/dwarf/die_name.h \
	src/dwarf/die_ranges.c src/dwarf/die_ranges.h \
	src/dwarf/die_split.c src/dwarf/die_split.h \
	src/dwarf/die_unit.c src/dwarf/die_unit.h \
	src/dwarf/dwarf_file.c src/dwarf/dwarf_file.h \
	src/dwarf/libdw_units.c src/dwarf/libdw_units.h \
	src/dwarf/line_table.c src/dwarf/line_table.h
