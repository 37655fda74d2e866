# SPDX-License-Identifier: GPL-3.0-or-later
EXTRA_DIST += src/symbols/README.md
libformats_a_SOURCES += \
	src/symbols/symbolize_thread.c src/symbols/symbolize_thread.h
libsymbols_a_SOURCES += \
	src/symbols/embedded_symbols.c src/symbols/embedded_symbols.h \
	src/symbols/image.c src/symbols/image.h \
	src/symbols/inline_batch.c src/symbols/inline_batch.h \
	src/symbols/inline_lookup.c src/symbols/inline_lookup.h \
	src/symbols/interpreter.c src/symbols/interpreter.h \
	src/symbols/kallsyms.c src/symbols/kallsyms.h \
	src/symbols/kernel_names.c src/symbols/kernel_names.h \
	src/symbols/pending_lookups.c src/symbols/pending_lookups.h \
	src/symbols/resolver.c src/symbols/resolver.h \
	src/symbols/stack_unwinder.c src/symbols/stack_unwinder.h \
	src/symbols/symbol_cache.c src/symbols/symbol_cache.h \
	src/symbols/symbol_source.c src/symbols/symbol_source.h \
	src/symbols/symbolize.c src/symbols/symbolize.h \
	src/symbols/symbolize_inlines.c src/symbols/symbolize_inlines.h
