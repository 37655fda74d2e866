# SPDX-License-Identifier: GPL-3.0-or-later
EXTRA_DIST += src/query/core/README.md
libquery_a_SOURCES += \
	src/query/core/aggregate.c src/query/core/aggregate.h \
	src/query/core/analysis_cache.h \
	src/query/core/block_filter.c src/query/core/block_filter.h \
	src/query/core/captures.c src/query/core/captures.h \
	src/query/core/compiled_filter.c src/query/core/compiled_filter.h \
	src/query/core/fact_order.c src/query/core/fact_order.h \
	src/query/core/filter.c src/query/core/filter.h \
	src/query/core/filter_term.c src/query/core/filter_term.h \
	src/query/core/frame_class.c src/query/core/frame_class.h \
	src/query/core/frame_ids.c src/query/core/frame_ids.h \
	src/query/core/groups.c src/query/core/groups.h \
	src/query/core/heap_aggregate.c src/query/core/heap_aggregate.h \
	src/query/core/heap_brief.c src/query/core/heap_brief.h \
	src/query/core/heap_kinds.c src/query/core/heap_kinds.h \
	src/query/core/heap_measure.c src/query/core/heap_measure.h \
	src/query/core/heap_pass.c src/query/core/heap_pass.h \
	src/query/core/heap_rules.c src/query/core/heap_rules.h \
	src/query/core/heap_scan.c src/query/core/heap_scan.h \
	src/query/core/heap_slots.c src/query/core/heap_slots.h \
	src/query/core/heap_sums_cache.c src/query/core/heap_sums_cache.h \
	src/query/core/lens.c src/query/core/lens.h \
	src/query/core/name_rules.c src/query/core/name_rules.h \
	src/query/core/order.h \
	src/query/core/ratio.c src/query/core/ratio.h \
	src/query/core/regex.c src/query/core/regex.h \
	src/query/core/sample_scan.c src/query/core/sample_scan.h \
	src/query/core/time_span.h
