/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Why the recording of a heap trace stopped, as its head says it */
#include "config.h"

#include "profile/profile.h"
#include "tests/support/made_heap.h"

#include <criterion/criterion.h>
#include <string.h>

/* The head says why a recording stopped, END or not; where it says nothing, END says that it did in order. */
Test(heap_trace, why_it_stopped)
{
	static const struct {
		uint8_t stop, signal;
		bool ends;
		const char *name, *text;
		enum fact_kind kind;
	} cases[] = {
		{ HEAP_STOP_EXIT, 0, true, "stopped", "because the program ended", FACT_PLAIN },
		{ HEAP_STOP_LEFT, 0, true, "stopped",
		  "because nobody was there any more who had begun it", FACT_PLAIN },
		{ HEAP_STOP_SIZE, 0, true, "stopped",
		  "the trace is as large as it may be: what came after is not recorded",
		  FACT_LOSS },
		{ HEAP_STOP_DISK_FULL, 0, false, "stopped",
		  "the disk is full: what came after is not recorded", FACT_LOSS },
		{ HEAP_STOP_KILLED, 9, false, "stopped",
		  "the program was killed by SIGKILL: its last moments may be missing", FACT_LOSS },
		{ HEAP_STOP_KILLED, 200, false, "stopped",
		  "the program was killed: its last moments may be missing", FACT_LOSS },
		{ HEAP_STOP_GONE, 0, false, "stopped",
		  "the program was gone without a word: its last moments may be missing",
		  FACT_LOSS },
		{ HEAP_STOP_KILLED, 9, true, "stopped",
		  "because the program was killed by SIGKILL: all that it did until then is here",
		  FACT_PLAIN },
		{ HEAP_STOP_OOM, 9, true, "stopped",
		  "because the kernel killed the program, as memory was short: all that it did until then is here",
		  FACT_PLAIN },
		{ 250, 0, true, "stopped",
		  "of a reason that a newer proftop knows: what came after is not recorded",
		  FACT_LOSS },
		{ HEAP_GOES_ON, 0, false, "not finished",
		  "the recording was cut short, and nobody could say why: all whole blocks were read",
		  FACT_LOSS },
		{ HEAP_GOES_ON, 0, true, "stopped", NULL, FACT_PLAIN },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct heap_file_header head;
		struct profile_counts n;
		struct made_heap h;
		struct profile *p;
		const char *text;

		made_heap_init(&h);
		cr_assert_eq(heap_take_file_header(h.bytes.at, h.bytes.n, &head), HEAP_OK);
		head.stop = cases[i].stop;
		head.signal = cases[i].signal;
		heap_put_file_header(h.bytes.at, &head);
		made_heap_begin(&h);
		if (cases[i].ends)
			made_heap_end(&h);
		p = made_heap_read(&h);
		text = made_heap_fact(p, cases[i].name);
		cr_expect_eq(text == NULL, cases[i].text == NULL, "case %zu", i);
		if (text && cases[i].text)
			cr_expect_str_eq(text, cases[i].text);
		profile_counts_read(p, &n);
		for (uint32_t k = 0; k < n.n_facts; k++) {
			struct fact f = profile_fact(p, k);

			if (strcmp(profile_string(p, f.name, NULL), cases[i].name) == 0)
				cr_expect_eq(f.kind, cases[i].kind, "case %zu", i);
		}
		profile_free(p);
		made_heap_done(&h);
	}
}
