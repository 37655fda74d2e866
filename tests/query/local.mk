# SPDX-License-Identifier: GPL-3.0-or-later
t_query_SOURCES += \
	tests/query/test_activity.c \
	tests/query/test_aggregate.c \
	tests/query/test_begun.c \
	tests/query/test_calltree.c \
	tests/query/test_code_weights.c \
	tests/query/test_common_factor.c \
	tests/query/test_comparison_lines.c \
	tests/query/test_condition.c \
	tests/query/test_diff.c \
	tests/query/test_diff_moves.c \
	tests/query/test_distributions.c \
	tests/query/test_explain.c \
	tests/query/test_fact_order.c \
	tests/query/test_filter.c \
	tests/query/test_findings.c \
	tests/query/test_footprint.c \
	tests/query/test_growing.c \
	tests/query/test_heap_aggregate.c \
	tests/query/test_lens.c \
	tests/query/test_name_rules.c \
	tests/query/test_noise.c \
	tests/query/test_peak_excess.c \
	tests/query/test_properties.c \
	tests/query/test_recent.c \
	tests/query/test_table_cache.c \
	tests/query/test_transform.c
