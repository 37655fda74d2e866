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
	X(ENTER,        "enter",         "<Enter>",              IN_FRAMES | IN_TASKS | IN_FINDINGS | IN_HEAT, "drill",   "go into the row: open it, zoom in, make it the centre, show only it; the centre of a butterfly: its source; the range or cell of a heat map: its flame graph") \
	X(BACK,         "back",          "<Esc> <Backspace>",    IN_ALL,    "",        "step back: clear the search, zoom out, undo a drill, go to where you came from") \
	X(OPEN,         "open",          "+",                    IN_TREE,   "",        "open the row by one level") \
	X(CLOSE,        "close",         "-",                    IN_TREE,   "",        "close the row") \
	X(OPEN_ALL,     "open-all",      "*",                    IN_TREE,   "",        "open everything below the row") \
	X(HOT_PATH,     "hot-path",      "e",                    IN_TREE,   "hot path", "open the hottest path below the row, to where it splits; again to go on") \
	X(FAR_LEFT,     "far-left",      "H",                    IN_TIME,   "",        "ten columns earlier") \
	X(FAR_RIGHT,    "far-right",     "L",                    IN_TIME,   "",        "ten columns later") \
	X(ZOOM_IN,      "zoom-in",       "+",                    IN_TIME,   "zoom",    "half as much time around the cursor; in a heat map columns of less time") \
	X(ZOOM_OUT,     "zoom-out",      "-",                    IN_TIME,   "",        "twice as much time; in a heat map columns of more time") \
	X(PEAK,         "peak",          "p",                    IN_TIME,   "peak",    "go to the busiest moment in sight") \
	X(MARK_A,       "mark-a",        "A",                    IN_TIME,   "range start", "the range of time that all views show begins here; in a heat map again: this column alone") \
	X(MARK_B,       "mark-b",        "B",                    IN_TIME,   "range end", "the range of time ends here") \
	X(SIDE_A,       "side-a",        "a",                    IN_TASKS | IN_TIME | IN_TOP, "compare", "compare within the recording: choose the first side, which is the range from A to B, or the thread, process, command, event, cpu or cgroup of the row; b chooses the other") \
	X(SIDE_B,       "side-b",        "b",                    IN_HALF,   "with this", "compare the side that a chose with this one") \
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
	X(HOTTEST_LINE, "hottest-line",  "U",                    IN_ALL,    "hottest line",        "go to the hottest line of all code, with what is filtered: the line with the largest share of its own") \
	X(MENU,         "menu",          ". <F2>",               IN_FRAMES, "reshape", "list what can be done with the row: focus, drop, merge, collapse; Esc undoes it") \
	X(NOTE,         "note",          ";",                    IN_FRAMES, "note",      "write a note on the row, which ¶ marks; Tab: on this node or site alone") \
	X(SEARCH,       "search",        "/ <F3>",               IN_NAMES | IN_CODE, "search",  "search names by regular expression, as you type") \
	X(SEARCH_HERE,  "search-here",   "#",                    IN_FRAMES, "",        "search the selected name") \
	X(NEXT,         "next",          "n",                    IN_NAMES, "",        "next match") \
	X(PREVIOUS,     "previous",      "N",                    IN_NAMES, "",        "previous match") \
	X(FILTER,       "filter",        "& <F4> \\",            IN_ALL,    "filter",  "add filter terms: module:libc !fn:^std:: time:2,5; Backspace first takes the last away") \
	X(SORT,         "sort",          "s <F6>",               IN_TOP | IN_TREE | IN_MEMORY | IN_HEAP, "sort",    "sort by the next column") \
	X(REVERSE,      "reverse",       "S",                    IN_TOP | IN_TREE | IN_MEMORY | IN_HEAP, "",  "turn the order round") \
	X(GROUP,        "group",         "o",                    IN_TOP | IN_MEMORY | IN_HEAP, "group",   "group rows by function, module, file, line, thread, process, command, event, cpu, cgroup, label, capture, host; of a heap also by stack and size") \
	X(LANES,        "lanes",         "o",                    IN_LANES,  "",        "over time a letter for the function that a thread ran, or how busy it was") \
	X(METRIC,       "metric",        "m",                    IN_ALL,    "event",   "next event that was recorded, or next measure of it") \
	X(EQUALISE,     "equalise",      "=",                    IN_ALL,    "scale",    "of a comparison: make both sides equal by total, time, samples, or not at all") \
	X(SIZE,         "size",          "d",                    IN_ALL,    "which side",  "of a comparison: widths and shares are of both sides, of one, or of the change") \
	X(UNITS,        "units",         "%",                    IN_ALL,    "",        "shares in %, or numbers in their unit") \
	X(INVERT,       "invert",        "i",                    IN_FLAME,  "invert",  "turn the flame graph: roots on top, at the bottom, or leaves first") \
	X(INLINES,      "inlines",       "I",                    IN_ALL,    "",        "inlined functions as frames of their own, or not") \
	X(WIDE,         "wide",          "W",                    IN_ROWS | IN_TASKS,   "",        "names in full, or folded to what tells them apart") \
	X(COPY,         "copy",          "y",                    IN_FRAMES | IN_TASKS | IN_CODE, "",     "copy the selected name, the row of a thread, or the line of code to the clipboard (OSC 52)") \
	X(COPY_STACK,   "copy-stack",    "Y",                    IN_FRAMES, "",        "copy the frames from the root to the selection, as a;b;c") \
	X(EDIT,         "edit",          "E",                    IN_FRAMES | IN_CODE, "",        "open $EDITOR where the function is declared, at the selected line of code, or at a file's hottest line") \
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
	X(HEAT_MAP,     "heat-map",      "T",                    IN_ALL,    "heat map", "a heat map of time: columns of a second, or less in a short recording, and down each the parts of its time; again: the timeline") \
	X(SAVED,        "saved",         "V",                    IN_ALL,    "saved",   "saved views: filter, order and grouping by name; Enter shows one, s saves what is shown, d deletes one") \
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

/* What a key does in some views, in their words: X(enum, where, hint, help). The first row that fits counts, else the table above. */
#define ACTIONS_HERE(X) \
	X(ENTER,       IN_HEAT,     "flame graph", "show the flame graph of the range from A to B, or of the cell alone") \
	X(ENTER,       IN_FLAME,    "zoom",        "zoom into the frame; Esc zooms out again") \
	X(ENTER,       IN_TREE,     "open",        "open the row; of an open one: show what is below it alone, until Esc") \
	X(ENTER,       IN_BFLY,     "go to it",    "go to this caller or callee; of the one in the middle: its source lines") \
	X(ENTER,       IN_FINDINGS, "evidence",    "show the view that proves the sentence") \
	X(ENTER,       IN_TASKS,    "tree",    "show the call tree of this thread or process alone") \
	X(ENTER,       IN_MEMORY,   "callers",     "show which calls lead to the allocations of this row") \
	X(ENTER,       IN_HEAP,     "open",        "show who calls this function; of a row of sizes or lifetimes: these blocks alone, over time") \
	X(ENTER,       IN_TOP,      "open",   "show the function between its callers and callees; of a line its source; of a module, a thread, …: it alone") \
	X(DOWN,        IN_FLAME,    "", "one frame further down the screen") \
	X(DOWN,        IN_HEAT,     "", "one cell down, a little later") \
	X(UP,          IN_FLAME,    "", "one frame further up the screen") \
	X(UP,          IN_HEAT,     "", "one cell up, a little earlier") \
	X(LEFT,        IN_FLAME,    "", "the frame on the left") \
	X(LEFT,        IN_TIME,     "", "one column earlier") \
	X(LEFT,        IN_TREE,     "", "close the row, or go to its caller's row; scroll sideways") \
	X(LEFT,        IN_ALL,      "", "scroll sideways, to the left") \
	X(RIGHT,       IN_FLAME,    "", "the frame on the right") \
	X(RIGHT,       IN_TIME,     "", "one column later") \
	X(RIGHT,       IN_TREE,     "", "open the row; scroll sideways") \
	X(RIGHT,       IN_ALL,      "", "scroll sideways, to the right") \
	X(ZOOM_IN,     IN_HEAT,     "zoom", "columns of less time") \
	X(ZOOM_IN,     IN_TIME,     "zoom", "half as much time around the cursor") \
	X(ZOOM_OUT,    IN_HEAT,     "", "columns of more time") \
	X(ZOOM_OUT,    IN_TIME,     "", "twice as much time around the cursor") \
	X(MARK_A,      IN_HEAT,     "range start", "a range of time begins in this cell; pressed twice: the range is this column") \
	X(MARK_A,      IN_TIME,     "range start", "a range of time begins at the cursor; B ends it, and all views show that time alone") \
	X(MARK_B,      IN_TIME,     "range end",   "the range of time that A began ends at the cursor") \
	X(SIDE_A,      IN_TIME,     "compare", "compare two ranges of time, or two rows: a chooses the first, b the second") \
	X(SIDE_A,      IN_ALL,      "compare", "compare two rows: a chooses the first, b the second") \
	X(TO_ANNOTATE, IN_TREE | IN_FLAME, "source", "show the function's source lines and instructions, with what they cost below this node") \
	X(TO_ANNOTATE, IN_ALL,      "source",  "show the function's source lines and instructions, with what they cost") \
	X(TO_TREE,     IN_TASKS,    "tree",    "show it in the call tree") \
	X(TO_TREE,     IN_HEAT,     "tree",    "show the call tree of the range or cell") \
	X(TO_TREE,     IN_ALL,      "tree",    "show the function in the call tree, from the roots down") \
	X(TO_CALLERS,  IN_TASKS,    "callers", "show it by what cost most and who called that") \
	X(TO_CALLERS,  IN_HEAT,     "callers", "show what cost most in the range or cell, and who called that") \
	X(TO_CALLERS,  IN_ALL,      "callers", "show who calls the function, and how much of it") \
	X(TO_BUTTERFLY, IN_ALL,     "butterfly", "show the function between its callers and callees") \
	X(TO_FLAME,    IN_TASKS,    "flame",   "show it as a flame graph") \
	X(TO_FLAME,    IN_HEAT,     "flame",   "show the flame graph of the range or cell") \
	X(TO_FLAME,    IN_ALL,      "flame",   "show the function in the flame graph") \
	X(SEARCH,      IN_CODE,     "search",  "search lines and instructions by regular expression, as you type") \
	X(COPY,        IN_TASKS,    "", "copy the row to the clipboard (OSC 52)") \
	X(COPY,        IN_CODE,     "", "copy the line to the clipboard (OSC 52)") \
	X(COPY,        IN_ALL,      "", "copy the name to the clipboard (OSC 52)") \
	X(EDIT,        IN_CODE,     "", "open $EDITOR at the selected line") \
	X(EDIT,        IN_ALL,      "", "open $EDITOR where the function is declared") \
	X(MENU,        IN_ALL,      "reshape", "a menu of what can be done with the row: focus on it, drop, merge or collapse it; Esc undoes that")
/* clang-format on */

enum action {
	ACTION_NONE,
#define X(name, text, keys, where, hint, help) ACTION_##name,
	ACTIONS(X)
#undef X
		N_ACTIONS
	};

#endif
