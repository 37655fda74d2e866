# SPDX-License-Identifier: GPL-3.0-or-later
EXTRA_DIST += tui/app/README.md
libtui_a_SOURCES += \
	tui/app/annotator.c tui/app/annotator.h \
	tui/app/app.c tui/app/app.h \
	tui/app/app_act.c tui/app/app_act.h \
	tui/app/app_chrome.c tui/app/app_chrome.h \
	tui/app/app_compare.c tui/app/app_compare.h \
	tui/app/app_complete.c tui/app/app_complete.h \
	tui/app/app_comparison.c tui/app/app_comparison.h \
	tui/app/app_draw.c tui/app/app_draw.h \
	tui/app/app_help.c tui/app/app_help.h \
	tui/app/app_history.c tui/app/app_history.h \
	tui/app/app_lens.c tui/app/app_lens.h \
	tui/app/app_live.c tui/app/app_live.h \
	tui/app/app_menu.c tui/app/app_menu.h \
	tui/app/app_prompt.c tui/app/app_prompt.h \
	tui/app/app_search.c tui/app/app_search.h \
	tui/app/app_state.h \
	tui/app/app_tabs.c tui/app/app_tabs.h \
	tui/app/app_total.c tui/app/app_total.h \
	tui/app/app_views.c tui/app/app_views.h \
	tui/app/app_window.c tui/app/app_window.h \
	tui/app/live_rate.c tui/app/live_rate.h \
	tui/app/settings.c tui/app/settings.h \
	tui/app/tui.c tui/app/tui.h \
	tui/app/worker.c tui/app/worker.h
