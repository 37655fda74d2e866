# SPDX-License-Identifier: GPL-3.0-or-later
t_pty_SOURCES += \
	tests/tui/test_frame_diff.c \
	tests/tui/test_live.c \
	tests/tui/test_live_runs.c \
	tests/tui/test_terminal.c \
	tests/tui/test_terminal_bytes.c \
	tests/tui/test_terminal_exit.c \
	tests/tui/test_tui_run.c
t_tui_SOURCES += \
	tests/tui/test_app.c \
	tests/tui/test_app_code.c \
	tests/tui/test_app_comparison.c \
	tests/tui/test_app_heap.c tests/tui/test_app_heat.c \
	tests/tui/test_app_menu.c \
	tests/tui/test_canvas.c \
	tests/tui/test_flame_layout.c \
	tests/tui/test_keymap.c \
	tests/tui/test_list.c \
	tests/tui/test_live_rate.c \
	tests/tui/test_name_cell.c \
	tests/tui/test_name_set.c \
	tests/tui/test_osc52.c \
	tests/tui/test_path_map.c \
	tests/tui/test_prompt.c \
	tests/tui/test_screens.c \
	tests/tui/test_screens_live.c \
	tests/tui/test_settings.c \
	tests/tui/test_terminal_type.c \
	tests/tui/test_theme.c \
	tests/tui/test_thread_list.c \
	tests/tui/test_time_axis.c \
	tests/tui/test_tree_rows.c \
	tests/tui/test_views.c \
	tests/tui/test_where_cell.c
