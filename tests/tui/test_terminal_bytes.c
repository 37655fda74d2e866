/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the program sends: the budgets of bytes per key, and nothing that a name could smuggle in. */
#include "config.h"

#include "tests/support/pty.h"
#include "tests/support/pty_proftop.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N(cases) (sizeof(cases) / sizeof(*(cases)))

/* Bytes that each of n presses of a key costs, each undone by another; the median. */
static size_t cost(struct pty *p, const char *key, const char *undo, int n, size_t *most)
{
	size_t all[64];

	cr_assert(n <= 64);
	*most = 0;
	for (int i = 0; i < n; i++) {
		size_t before = p->n_bytes, at;
		int k = i;

		pty_type(p, key);
		pty_wait_idle(p);
		at = p->n_bytes - before;
		*most = at > *most ? at : *most;
		for (; k > 0 && all[k - 1] > at; k--)
			all[k] = all[k - 1];
		all[k] = at;
		if (*undo) {
			pty_type(p, undo);
			pty_wait_idle(p);
		}
	}
	return all[n / 2];
}

/* Frames of the profile below, with where they are from; longest first, as C++ has them. */
static const struct {
	const char *name, *module;
} frames[] = {
	{ "std::vector<std::pair<std::__cxx11::basic_string<char, std::char_traits<char> >, Rec>, "
	  "std::allocator<Rec> >::_M_realloc_insert<Rec const&>(Rec*, Rec const&)",
	  "/usr/bin/dense_server" },
	{ "std::_Rb_tree<int, std::pair<int const, Node>, std::less<int> >::_M_erase(Node*)",
	  "/usr/lib/libstdc++.so.6.0.30" },
	{ "std::__cxx11::basic_string<char, std::char_traits<char> >::compare(char const*) const",
	  "/usr/lib/libstdc++.so.6.0.30" },
	{ "ins(std::unique_ptr<Node, std::default_delete<Node> >, int)", "/usr/bin/dense_server" },
	{ "asm_sysvec_apic_timer_interrupt", "[kernel.kallsyms]" },
	{ "operator new(unsigned long)", "/usr/lib/libstdc++.so.6.0.30" },
	{ "native_queued_spin_lock_slowpath", "[kernel.kallsyms]" },
	{ "__memmove_avx_unaligned_erms", "/usr/lib/libc.so.6" },
	{ "Parser::parse_record(Slice)", "/usr/bin/dense_server" },
	{ "_dl_relocate_object", "/usr/lib/ld-linux-x86-64.so.2" },
	{ "cfree@GLIBC_2.2.5", "/usr/lib/libc.so.6" },
	{ "LApp;::render", "/tmp/perf-812.map" },
	{ "finish_task_switch", "[kernel.kallsyms]" },
	{ "_int_malloc", "/usr/lib/libc.so.6" },
	{ "visit_edge", "/usr/bin/dense_server" },
	{ "hash_join", "/usr/bin/dense_server" },
	{ "vfs_read", "[kernel.kallsyms]" },
	{ "inflate", "/usr/lib/libz.so.1.2.13" },
	{ "memchr", "/usr/lib/libc.so.6" },
	{ "[unknown]", "[unknown]" },
	{ "go_on", "/usr/bin/dense_server" },
};

#define GO_ON    (N(frames) - 1)
#define N_TOWERS 14 /* of the flame graph: enough that none of their levels leaves a row alone */
#define LEVELS   36
#define N_RANDOM 700

static void put_frame(FILE *f, size_t i, unsigned variant)
{
	const char *name = frames[i].name, *cut = strcspn(name, "(<@") < strlen(name)
							  ? name + strcspn(name, "(<@")
							  : name + strlen(name);

	fprintf(f, "\t%8zx %.*s_%u%s (%s)\n", 0x1000 + i * 256 + variant, (int)(cut - name), name,
		variant, cut, frames[i].module);
}

static void put_header(FILE *f, unsigned i, int period)
{
	fprintf(f, "worker %u/%u %u.%06u: %d cpu-clock: \n", 812 + i % 5, 900 + i % 30, i / 100,
		i % 100 * 9973, period);
}

/*
 * A profile as dense as the densest of recordings that were tried: a program of two functions that call each
 * other under many names, as a flame graph of narrow towers that taper, and a C++ program of which no two
 * rows of the tree are alike.
 */
static void make_dense(void)
{
	FILE *f;
	unsigned seed = 1, n = 0;

	make_profile();
	f = fopen(profile_path(), "w");
	cr_assert_not_null(f);
	for (unsigned tower = 0; tower < N_TOWERS; tower++)
		for (unsigned level = 1; level <= LEVELS; level++) {
			put_header(f, n++, 100000);
			for (unsigned i = level; i-- > 0;)
				put_frame(f, i % 2 ? (i / 2 + tower) % GO_ON : GO_ON,
					  i % 2 ? tower : 0);
			fprintf(f, "\n");
		}
	for (unsigned i = 0; i < N_RANDOM; i++) {
		unsigned depth = 6 + i % 9;

		put_header(f, n++, 3000);
		for (unsigned k = 0; k < depth; k++) {
			seed = seed * 1664525u + 1013904223u;
			/* the callers of a few choose among a few themselves */
			if (k < 3)
				put_frame(f, (seed >> 8) % GO_ON, (seed >> 24) % 3);
			else
				put_frame(f, ((depth - k) * 2 + (seed >> 24) % 2) % GO_ON, 0);
		}
		put_frame(f, GO_ON, 1);
		fprintf(f, "\n");
	}
	fclose(f);
}

#define WITH_DENSE .init = make_dense, .fini = drop_profile, .timeout = 600

#define FORTY_DOWN "jjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjj"

/*
 * Keys that are typed first, then the one that counts; the last to undo it. A key that moves all of a deep tree to
 * the left may send as much as one for the next page.
 */
static const struct {
	const char *what, *before, *key, *undo;
	int n;
	size_t least, median, most; /* bytes; least: it does do something */
} budgets[] = {
	{ "Down in top", "1g", "j", "", 60, 60, 360, 450 },
	{ "PageDown in top", "1g", " ", "", 7, 100, 2500, 3000 },
	{ "Down in tree", "2*g", "j", "", 60, 60, 340, 3000 },
	{ "PageDown in tree", "g", " ", "", 9, 500, 2500, 3000 },
	{ "Down that scrolls the tree", "g" FORTY_DOWN, "j", "", 60, 60, 260, 3000 },
	{ "Down in callers", "3g", "j", "", 40, 60, 400, 900 },
	{ "PageDown in callers", "g-", " ", "", 7, 500, 2500, 3000 },
	{ "Down in butterfly", "1gjb", "j", "", 5, 60, 360, 400 },
	{ "Down in flame", "5", "j", "", 8, 60, 250, 400 },
	{ "Right in flame", "kkkkk", "l", "", 9, 20, 250, 400 },
	{ "zoom into flame", "hhhhhhhhhhhk", "\r", "\033", 4, 100, 8000, 8000 },
	{ "zoom deeper into flame", "jj", "\r", "\033", 4, 100, 8000, 8000 },
	{ "zoom out of flame", "\r", "\033", "\r", 4, 100, 8000, 8000 },
	{ "turn flame round", "\033", "i", "", 4, 100, 8000, 8000 },
	/* the graph of the row is marked, too */
	{ "Down in threads", "6g", "j", "", 20, 60, 480, 600 },
	{ "PageDown in threads", "g", " ", "g", 3, 100, 2500, 3000 },
	/* the timeline of many threads has a colour a cell */
	{ "another view", "1", "\t", "", 8, 100, 8000, 9500 },
};

static void keep_to_budgets(const char *term, const char *const *env)
{
	struct pty p;

	start_proftop_with(&p, 120, 40, term, env, NULL);
	pty_wait(&p, "? help");
	pty_wait_gone(&p, "loading");
	for (size_t i = 0; i < N(budgets); i++) {
		size_t median, most;

		pty_type(&p, budgets[i].before);
		pty_wait_idle(&p);
		median = cost(&p, budgets[i].key, budgets[i].undo, budgets[i].n, &most);
		fprintf(stderr, "%s, %s: median %zu, most %zu bytes\n", term, budgets[i].what,
			median, most);
		cr_expect(median >= budgets[i].least && median <= budgets[i].median,
			  "%s, %s: median %zu", term, budgets[i].what, median);
		cr_expect(most <= budgets[i].most, "%s, %s: most %zu", term, budgets[i].what, most);
	}
	quit_proftop(&p);
}

Test(terminal_bytes, budgets_at_120x40, WITH_DENSE)
{
	/* curses loads libgpm for the console, which loses ten bytes */
	static const char *const no_leak_check[] = { "ASAN_OPTIONS=detect_leaks=0", NULL };
	static const char *const terms[] = { "xterm-256color", "screen-256color", "tmux-256color",
					     "linux", "xterm" };

	for (size_t i = 0; i < N(terms); i++)
		keep_to_budgets(terms[i], no_leak_check);
}

Test(terminal_bytes, idle_is_silent, WITH_PROFILE)
{
	struct pty p;

	start_proftop(&p);
	cr_assert_eq(pty_bytes_within(&p, 400), (size_t)0);
	quit_proftop(&p);
}

Test(terminal_bytes, first_paint, WITH_PROFILE)
{
	struct pty p;

	start_proftop(&p);
	fprintf(stderr, "first paint: %zu bytes\n", p.n_bytes);
	cr_assert(p.n_bytes <= 10000, "%zu", p.n_bytes);
	quit_proftop(&p);
}

/* Large frames are bracketed, markers where they belong; small ones are not worth it. */
Test(terminal_bytes, synchronized_output, WITH_PROFILE)
{
	struct pty p;
	size_t before;
	const char *begin, *end;

	start_proftop(&p);
	before = p.n_bytes;
	pty_type(&p, "j");
	pty_wait_idle(&p);
	cr_assert_null(memmem(p.raw + before, p.n_bytes - before, "\033[?2026", 7));
	before = p.n_bytes;
	pty_type(&p, "2");
	pty_wait_idle(&p);
	begin = memmem(p.raw + before, p.n_bytes - before, "\033[?2026h", 8);
	end = memmem(p.raw + before, p.n_bytes - before, "\033[?2026l", 8);
	cr_assert(begin && end && end - begin > 500, "the frame is not between its markers");
	cr_assert_eq(end + 8, p.raw + p.n_bytes, "something follows the end marker");
	quit_proftop(&p);
	start_proftop_with(&p, 120, 40, "vt100", NULL, NULL);
	pty_wait(&p, "flush_loop");
	cr_assert(!pty_sent(&p, "2026"));
	quit_proftop(&p);
}

Test(terminal_bytes, names_cannot_speak_to_the_terminal, WITH_PROFILE)
{
	static const char evil[] = "main;a\033]52;c;ZXZpbA==\ab;x\xc2\x9b?1049ly 5\n"
				   "main;\xe2\x80\xae"
				   "bidi;\033c\017 3\n";
	struct pty p;

	write_profile(evil);
	start_proftop_with(&p, 120, 40, "xterm-256color", NULL, NULL);
	pty_wait(&p, "bidi");
	pty_type(&p, "2*jjj5jjy?q/bidi\r");
	pty_wait_idle(&p);
	cr_assert(!pty_sent(&p, "\033]52;c;ZXZpbA"));
	cr_assert(!pty_sent(&p, "\xc2\x9b"));
	cr_assert(!pty_sent(&p, "\xe2\x80\xae"));
	cr_assert(!pty_sent(&p, "\033c"));
	cr_assert(p.altscreen);
	quit_proftop(&p);
}

Test(terminal_bytes, copies_by_osc_52, WITH_PROFILE)
{
	static const char *const in_tmux[] = { "TMUX=/tmp/x,1,0", NULL };
	struct pty p;

	start_proftop(&p);
	pty_type(&p, "y");
	pty_wait(&p, "copied 10 bytes (OSC 52)");
	cr_assert(pty_sent(&p, "\033]52;c;Zmx1c2hfbG9vcA==\a"), "no flush_loop in base64");
	cr_assert(!pty_sent(&p, "\033Ptmux"));
	quit_proftop(&p);
	start_proftop_with(&p, 120, 40, "tmux-256color", in_tmux, NULL);
	pty_wait(&p, "flush_loop");
	pty_wait_idle(&p);
	pty_type(&p, "y");
	pty_wait(&p, "copied 10 bytes");
	cr_assert(pty_sent(&p, "\033Ptmux;\033\033]52;c;Zmx1c2hfbG9vcA==\a\033\\"));
	quit_proftop(&p);
}
