/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Everything a key can do: the one table from which the keymap, the help overlay, the config's
 * names and doc/keys.md are made.
 *
 * X(enum, name, default keys, where it works, hint for the last line or "", help)
 */
#ifndef PROFTOP_TUI_CONTRACT_ACTIONS_H
#define PROFTOP_TUI_CONTRACT_ACTIONS_H

/* Where: a set of contexts; the keymap asks the view which it is. */
#define IN_ALL      0x3ffffu
#define IN_LIST     0x0001u /* views of rows */
#define IN_TREE     0x0002u /* rows that open */
#define IN_FLAME    0x0004u
#define IN_TOP      0x0008u
#define IN_BFLY     0x0010u
#define IN_TEXT     0x0020u  /* info, help: scrolling text */
#define IN_TASKS    0x0040u  /* rows of threads and processes */
#define IN_TIME     0x0080u  /* along a time axis */
#define IN_MEMORY   0x0100u  /* who allocates */
#define IN_ALIGN    0x0200u  /* two sides along a time axis */
#define IN_FINDINGS 0x0400u  /* sentences about the profile */
#define IN_CODE     0x0800u  /* lines and instructions of a function */
#define IN_HEAP     0x8000u  /* tables about allocations */
#define IN_HEAT     0x10000u /* a heat map of time */
#define IN_LANES    0x20000u /* threads over time */
#define IN_LIVE     0x1000u  /* of what is being recorded */
#define IN_HALF     0x2000u  /* what can be a side is selected, and the other side is chosen */
#define IN_SIDES    0x4000u  /* a side is chosen, or two that were are compared */
#define IN_ROWS     (IN_LIST | IN_TREE | IN_TOP | IN_BFLY)
#define IN_FRAMES   (IN_ROWS | IN_FLAME | IN_MEMORY) /* something with frames is selected */
#define IN_NAMES    (IN_FRAMES | IN_TASKS | IN_TEXT | IN_FINDINGS) /* something to search */

/* clang-format off */
#define ACTIONS(X) \
	X(DOWN,         "down",          "j <Down> ^N",          IN_ALL,    "",        "one row down; in a flame graph along the screen") \
	X(UP,           "up",            "k <Up> ^P",            IN_ALL,    "",        "one row up") \
	X(LEFT,         "left",          "h <Left>",             IN_ALL,    "",        "close the row, or go to its parent; sibling in a flame graph; earlier; scroll sideways") \
	X(RIGHT,        "right",         "l <Right>",            IN_ALL,    "",        "open the row; sibling in a flame graph; later; scroll sideways") \
	X(PAGE_DOWN,    "page-down",     "<PageDown> <Space> ^F", IN_ALL,   "",        "one page down") \
	X(PAGE_UP,      "page-up",       "<PageUp> ^B",          IN_ALL,    "",        "one page up") \
	X(HALF_DOWN,    "half-down",     "^D",                   IN_ALL,    "",        "half a page down") \
	X(HALF_UP,      "half-up",       "^U",                   IN_ALL,    "",        "half a page up") \
	X(FIRST,        "first",         "g <Home>",             IN_ALL,    "",        "first row") \
	X(LAST,         "last",          "G <End>",              IN_ALL,    "",        "last row") \
	X(ENTER,        "enter",         "<Enter>",              IN_FRAMES | IN_TASKS | IN_FINDINGS | IN_HEAT, "drill",   "drill into the row: open it, zoom in, make it the centre, show only it; the centre of a butterfly: its source; the range or cell of a heat map: its flame graph") \
	X(BACK,         "back",          "<Esc> <Backspace>",    IN_ALL,    "",        "step back: clear the search, zoom out, undo a drill, go to where you came from") \
	X(OPEN,         "open",          "+",                    IN_TREE,   "",        "open the row by one level") \
	X(CLOSE,        "close",         "-",                    IN_TREE,   "",        "close the row") \
	X(OPEN_ALL,     "open-all",      "*",                    IN_TREE,   "",        "open everything below the row") \
	X(HOT_PATH,     "hot-path",      "e",                    IN_TREE,   "hot path", "open the hottest path below the row, to where it splits; again to go on") \
	X(FAR_LEFT,     "far-left",      "H",                    IN_TIME,   "",        "ten columns earlier") \
	X(FAR_RIGHT,    "far-right",     "L",                    IN_TIME,   "",        "ten columns later") \
	X(ZOOM_IN,      "zoom-in",       "+",                    IN_TIME,   "zoom",    "half as much time around the cursor; shorter columns in a heat map") \
	X(ZOOM_OUT,     "zoom-out",      "-",                    IN_TIME,   "",        "twice as much time; longer columns in a heat map") \
	X(PEAK,         "peak",          "p",                    IN_TIME,   "peak",    "go to the busiest moment in sight") \
	X(MARK_A,       "mark-a",        "A",                    IN_TIME,   "range start", "the range that all views show begins here; in a heat map again: the column alone, as one second") \
	X(MARK_B,       "mark-b",        "B",                    IN_TIME,   "range end", "the range ends here") \
	X(SIDE_A,       "side-a",        "a",                    IN_TASKS | IN_TIME | IN_TOP, "", "one side of a comparison within the recording: the range from A to B, a thread, process, command, event, cpu or cgroup") \
	X(SIDE_B,       "side-b",        "b",                    IN_HALF,   "compare", "the other side: opens the comparison") \
	X(LEAVE_SIDES,  "leave-sides",   "x",                    IN_SIDES,  "leave",   "leave the comparison that a and b opened, or forget what a chose") \
	X(ALIGN,        "align",         "v",                    IN_ALIGN,  "align",   "lay both sides on the time axis by their start, by progress, or by a mark that both set") \
	X(ASSEMBLY,     "assembly",      "a",                    IN_CODE,   "assembly", "source lines, lines with their instructions, or instructions in order") \
	X(HOT_NEXT,     "hot-next",      "n",                    IN_CODE,   "next hot", "the next hottest line or instruction; the next match while something is searched") \
	X(HOT_PREVIOUS, "hot-previous",  "N",                    IN_CODE,   "",        "the one before it") \
	X(FOLLOW,       "follow",        "<Enter>",              IN_CODE,   "",        "follow the jump of the instruction") \
	X(TO_TREE,      "to-tree",       "t",                    IN_FRAMES | IN_TASKS | IN_CODE | IN_HEAT, "tree",    "show the selection in the call tree") \
	X(TO_CALLERS,   "to-callers",    "c",                    IN_FRAMES | IN_TASKS | IN_CODE | IN_HEAT, "callers", "show the selection's callers") \
	X(TO_BUTTERFLY, "to-butterfly",  "b",                    IN_FRAMES | IN_CODE, "butterfly", "show the selection between its callers and callees") \
	X(TO_FLAME,     "to-flame",      "f",                    IN_FRAMES | IN_TASKS | IN_CODE | IN_HEAT, "flame",   "show the selection in the flame graph") \
	X(TO_ANNOTATE,  "to-annotate",   "u",                    IN_FRAMES, "source",  "show the source lines and instructions of the selection: below the selected node of a tree, else everywhere") \
	X(MENU,         "menu",          ". <F2>",               IN_FRAMES, "reshape", "list what can be done with the row: focus, drop, merge, collapse; Esc undoes it") \
	X(NOTE,         "note",          ";",                    IN_FRAMES, "note",      "note something on the row, which ¶ marks; Tab: on this node or site alone") \
	X(SEARCH,       "search",        "/ <F3>",               IN_NAMES | IN_CODE, "search",  "search names by regular expression, as you type") \
	X(SEARCH_HERE,  "search-here",   "#",                    IN_FRAMES, "",        "search the selected name") \
	X(NEXT,         "next",          "n",                    IN_NAMES, "",        "next match") \
	X(PREVIOUS,     "previous",      "N",                    IN_NAMES, "",        "previous match") \
	X(FILTER,       "filter",        "& <F4> \\",            IN_ALL,    "filter",  "add filter terms: module:libc !fn:^std:: time:2,5; Backspace first takes the last away") \
	X(SORT,         "sort",          "s <F6>",               IN_TOP | IN_TREE | IN_MEMORY | IN_HEAP, "sort",    "sort by the next column") \
	X(REVERSE,      "reverse",       "S",                    IN_TOP | IN_TREE | IN_MEMORY | IN_HEAP, "",  "turn the order round") \
	X(GROUP,        "group",         "o",                    IN_TOP,    "group",   "group rows by function, module, file, line, thread, process, command, event, cpu, cgroup, label, capture, host") \
	X(LANES,        "lanes",         "o",                    IN_LANES,  "",        "over time a letter for the function that a thread ran, or how busy it was") \
	X(METRIC,       "metric",        "m",                    IN_ALL,    "event",   "next event or metric") \
	X(EQUALISE,     "equalise",      "=",                    IN_ALL,    "scale",        "of a comparison: make both sides equal by total, time, samples, or not at all") \
	X(SIZE,         "size",          "d",                    IN_ALL,    "which side",  "of a comparison: widths and shares are of both sides, of one, or of the change") \
	X(UNITS,        "units",         "%",                    IN_ALL,    "",        "percentages, or numbers in their unit") \
	X(INVERT,       "invert",        "i",                    IN_FLAME,  "invert",  "turn the flame graph: roots on top, at the bottom, or leaves first") \
	X(INLINES,      "inlines",       "I",                    IN_ALL,    "",        "inlined functions as frames of their own, or not") \
	X(WIDE,         "wide",          "W",                    IN_ROWS | IN_TASKS,   "",        "names in full, or folded to what tells them apart") \
	X(COPY,         "copy",          "y",                    IN_FRAMES | IN_TASKS | IN_CODE, "",     "copy the selected name, the row of a thread, or the line of code (OSC 52)") \
	X(COPY_STACK,   "copy-stack",    "Y",                    IN_FRAMES, "",        "copy the frames from the root to the selection: a;b;c") \
	X(EDIT,         "edit",          "E",                    IN_FRAMES | IN_CODE, "",        "open $EDITOR where the function is declared, or at the selected line of code") \
	X(NEXT_VIEW,    "next-view",     "<Tab>",                IN_ALL,    "",        "next view") \
	X(PREV_VIEW,    "previous-view", "<S-Tab>",              IN_ALL,    "",        "previous view") \
	X(VIEW_1,       "view-1",        "1",                    IN_ALL,    "",        "the first view, and so on to 9, and 0 for the tenth, which are the same in every profile") \
	X(VIEW_2,       "view-2",        "2",                    IN_ALL,    "",        "") \
	X(VIEW_3,       "view-3",        "3",                    IN_ALL,    "",        "") \
	X(VIEW_4,       "view-4",        "4",                    IN_ALL,    "",        "") \
	X(VIEW_5,       "view-5",        "5",                    IN_ALL,    "",        "") \
	X(VIEW_6,       "view-6",        "6",                    IN_ALL,    "",        "") \
	X(VIEW_7,       "view-7",        "7",                    IN_ALL,    "",        "") \
	X(VIEW_8,       "view-8",        "8",                    IN_ALL,    "",        "") \
	X(VIEW_9,       "view-9",        "9",                    IN_ALL,    "",        "") \
	X(VIEW_10,      "view-10",       "0",                    IN_ALL,    "",        "") \
	X(HEAP_VIEW,    "heap-view",     "M",                    IN_ALL,    "",        "of a heap: leaks; again: lifetimes, sizes, temporaries, handoffs, reallocs, waste, blocks, allocators") \
	X(HEAT_MAP,     "heat-map",      "T",                    IN_ALL,    "heat map", "a heat map of time: a column a second, down it the parts of that second; again: the timeline") \
	X(SAVED,        "saved",         "V",                    IN_ALL,    "saved views",      "saved views: filter, order and grouping by name; Enter shows one, s saves what is shown, d deletes one") \
	X(REPAINT,      "repaint",       "^L",                   IN_ALL,    "",        "repaint the screen") \
	X(FREEZE,       "freeze",        "z",                    IN_LIVE,   "pause",   "pause the screen, and continue; data is still collected") \
	X(WINDOW,       "window",        "r",                    IN_LIVE,   "window",  "which time is shown: since the start, the last 10 s, the last 60 s, or all with what is older counting less") \
	X(BASELINE,     "baseline",      "B",                    IN_LIVE,   "baseline", "compare new data with earlier data, and stop comparing") \
	X(SAVE,         "save",          "w",                    IN_LIVE,   "save",    "save what is shown as a file that opens like any other") \
	X(RESET,        "reset",         "Z",                    IN_LIVE,   "reset",   "hide earlier data") \
	X(EXPORT,       "export",        "w",                    IN_ALL,    "",        "write what is shown, with its filter, to a file: its ending chooses the format (.svg .pb.gz .json .speedscope.json .folded .csv .jsonl .cpuprofile .callgrind, of heaps .heaptrack.zst)") \
	X(STOP,         "stop",          "z",                    IN_ALL,    "",        "stop loading and keep what is there") \
	X(HELP,         "help",          "? <F1>",               IN_ALL,    "help",    "the keys that work here") \
	X(QUIT,         "quit",          "q",                    IN_ALL,    "",        "close the view; quit on the last one") \
	X(QUIT_ALL,     "quit-all",      "Q ^C <F10>",           IN_ALL,    "",        "quit at once")
/* clang-format on */

enum action {
	ACTION_NONE,
#define X(name, text, keys, where, hint, help) ACTION_##name,
	ACTIONS(X)
#undef X
		N_ACTIONS
	};

#endif
