# SPDX-License-Identifier: GPL-3.0-or-later
t_formats_SOURCES += \
	tests/symbols/test_symbolize_thread.c
t_symbols_SOURCES += \
	tests/symbols/test_address_space.c \
	tests/symbols/test_debug_bad.c \
	tests/symbols/test_debug_files.c \
	tests/symbols/test_debuginfod.c \
	tests/symbols/test_dso.c \
	tests/symbols/test_interpreter.c \
	tests/symbols/test_interval_map.c \
	tests/symbols/test_jit_dump.c \
	tests/symbols/test_kallsyms.c \
	tests/symbols/test_kernel_files.c \
	tests/symbols/test_perf_config.c \
	tests/symbols/test_perf_names.c \
	tests/symbols/test_perf_records.c \
	tests/symbols/test_perf_retire.c \
	tests/symbols/test_perf_weights.c \
	tests/symbols/test_resolver.c \
	tests/symbols/test_symbol_cache.c
