/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Profiles in which something was planted have a finding that names it, and no other; profiles in which nothing was have
 * none. Each is also made by lot, so that what chance does is seen.
 */
#include "config.h"

#include "query/findings/findings.h"

#include "base/mem.h"
#include "query/analysis.h"
#include "query/core/filter.h"
#include "tests/support/made_profile.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A growing text of samples. */
struct text {
	char *at;
	size_t n, cap;
};

static void put(struct text *t, const char *line)
{
	for (; *line; line++)
		vec_push(t, *line);
}

/* n samples of a stack from a time on, one a millisecond. */
static void put_samples(struct text *t, const char *stack, int n, int64_t *ms)
{
	for (int i = 0; i < n; i++) {
		char *line = xasprintf("%s 1000000 event=ns:cpu-clock tid=1 pid=1 t=%lld\n", stack,
				       (long long)(*ms)++ * 1000000);

		put(t, line);
		free(line);
	}
}

/* 40 functions by lot, none of which stands out. */
static void put_noise(struct text *t, unsigned seed, int n, int64_t *ms)
{
	for (int i = 0; i < n; i++) {
		char *stack = xasprintf("=p;main@p;step%u@p;f%02u@p", made_number(&seed, 8),
					made_number(&seed, 40));

		put_samples(t, stack, 1, ms);
		free(stack);
	}
}

/* The rules that found something, in order: "kernel hotspot". The caller frees. */
static char *rules_of(const struct profile *p, const char *filter, char **sentences)
{
	struct findings *f;
	struct text rules = { 0 }, all = { 0 };
	struct analysis *a;
	struct lens l;

	made_lens(&l, p, filter);
	a = made_analysis(p, &l);
	cr_assert_eq(findings_new(a, NULL, NULL, &f), 0);
	for (size_t i = 0; i < f->list.n; i++) {
		put(&rules, i ? " " : "");
		put(&rules, f->list.at[i].rule);
		put(&all, f->list.at[i].sentence);
		put(&all, "\n");
	}
	vec_push(&rules, '\0');
	vec_push(&all, '\0');
	findings_free(f);
	analysis_free(a);
	lens_done(&l);
	if (sentences)
		*sentences = all.at;
	else
		vec_done(&all);
	return rules.at;
}

/* What was planted beside 2,000 samples of noise: so many samples of a stack. */
static const struct {
	const char *what, *stack;
	int n;
	const char *rules, *says;
} planted[] = {
	{ "nothing", "=p;main@p;f00@p", 0, "flat", "No function stands out" },
	{ "a hot function", "=p;main@p;burn@p", 1000, "hotspot",
	  "One function takes 33.3 % of the CPU time by itself: burn." },
	{ "a hot function that is not hot enough", "=p;main@p;burn@p", 160, "", "" },
	{ "locks",
	  "=p;main@p;Queue::pop()@p;pthread_mutex_lock@libc.so.6;__lll_lock_wait@libc.so.6;do_syscall_64@[kernel];__x64_sys_futex@[kernel];futex_wait@[kernel]",
	  150, "locks",
	  "7.0 % of the CPU time is spent on locks (7.0 % in futex calls); 100.0 % of that is called by Queue::pop()." },
	{ "a function that is called as a lock is", "=p;main@p;my_pthread_mutex_lock_count@p", 95,
	  "flat", "" },
	{ "the allocator",
	  "=p;main@p;parse@p;_Znwm@libstdc++.so.6;malloc@libc.so.6;_int_malloc@libc.so.6", 150,
	  "allocator",
	  "7.0 % of the CPU time is spent in the allocator; 100.0 % of that is called by parse." },
	{ "copying", "=p;main@p;grow@p;__memmove_avx_unaligned_erms@libc.so.6", 150, "copying",
	  "7.0 % of the CPU time copies or sets memory; 100.0 % of that is called by grow." },
	{ "page faults",
	  "=p;main@p;fill@p;asm_exc_page_fault@[kernel];handle_mm_fault@[kernel];clear_page_erms@[kernel]",
	  90, "flat page-faults",
	  "4.3 % of the CPU time is spent on page faults; 100.0 % of that is called by fill." },
	{ "a program's function of that name", "=p;main@p;page_fault@p", 90, "flat", "" },
	{ "the kernel",
	  "=p;main@p;copy_files@p;read@libc.so.6;vfs_read@[kernel];filemap_read@[kernel]", 600,
	  "kernel",
	  "23.1 % of the CPU time is spent in the kernel (23.1 % in filemap_read); 100.0 % of that is called by copy_files." },
	{ "what the kernel copies",
	  "=p;main@p;copy_files@p;read@libc.so.6;vfs_read@[kernel];_copy_to_iter@[kernel]", 1000,
	  "kernel",
	  "33.3 % of the CPU time is spent in the kernel (33.3 % copies or sets memory); 100.0 % of that is called by copy_files." },
	{ "what the kernel copies, without a sentence about the kernel",
	  "=p;main@p;copy_files@p;read@libc.so.6;vfs_read@[kernel];_copy_to_iter@[kernel]", 150,
	  "copying", "7.0 % of the CPU time copies or sets memory" },
	{ "locks that wait in the kernel",
	  "=p;main@p;Queue::pop()@p;__lll_lock_wait@libc.so.6;__x64_sys_futex@[kernel];futex_wait@[kernel]",
	  1000, "locks", "33.3 % of the CPU time is spent on locks (33.3 % in futex calls)" },
	{ "recursion that works itself", "=p;main@p;walk@p;walk@p;walk@p;walk@p", 1000, "recursion",
	  "walk calls itself, up to 4 deep: 33.3 % of the CPU time is in such calls; its own code takes 33.3 %." },
	{ "idle processors", "=swapper;do_idle@[kernel];pv_native_safe_halt@[kernel]", 500,
	  "flat idle", "20.0 % of the CPU time is an idle processor." },
	{ "recursion", "=p;main@p;walk@p;walk@p;walk@p;walk@p;leaf%d@p", 400, "flat recursion",
	  "walk calls itself, up to 4 deep: 16.7 % of the CPU time is in such calls." },
	{ "recursion through another function",
	  "=p;main@p;expr@p;term@p;expr@p;term@p;expr@p;term@p;leaf%d@p", 400, "flat recursion",
	  "expr calls itself through term, up to 3 deep: 16.7 % of the CPU time is in such calls." },
	{ "the recorder of the heap, which is not the program",
	  "=p;main@p;parse@p;malloc@libproftop-heap.so;tracer_note@libproftop-heap.so", 150,
	  "tracer flat", "7.0 % of the CPU time is the recorder of the heap, not the program." },
	{ "the allocator below it", "=p;main@p;parse@p;malloc@libproftop-heap.so;malloc@libc.so.6",
	  150, "allocator",
	  "7.0 % of the CPU time is spent in the allocator; 100.0 % of that is called by parse." },
	/* What the sentence of a class is about has no second one: no hotspot, and neither kernel nor copying of page faults. */
	{ "nothing but locks", "=p;main@p;Queue::pop()@p;pthread_mutex_lock@libc.so.6", 1000,
	  "locks",
	  "33.3 % of the CPU time is spent on locks; 100.0 % of that is called by Queue::pop()." },
	{ "nothing but the allocator", "=p;main@p;parse@p;malloc@libc.so.6;_int_malloc@libc.so.6",
	  1000, "allocator", "33.3 % of the CPU time is spent in the allocator" },
	{ "nothing but copying", "=p;main@p;grow@p;__memmove_avx_unaligned_erms@libc.so.6", 1000,
	  "copying", "33.3 % of the CPU time copies or sets memory" },
	{ "nothing but page faults",
	  "=p;main@p;fill@p;asm_exc_page_fault@[kernel];handle_mm_fault@[kernel];clear_page_erms@[kernel]",
	  1000, "page-faults", "33.3 % of the CPU time is spent on page faults" },
	{ "names that are missing for so much that they come first", "=p;main@p;[libz.so]@libz.so",
	  1000, "unnamed flat", "33.3 % of the CPU time ends in code without a name" },
	{ "names that are missing", "=p;main@p;[libz.so]@libz.so", 150, "flat unnamed",
	  "7.0 % of the CPU time ends in code without a name, 100.0 % of that in libz.so." },
};

/* Among the noise, spread over all of its time. */
static struct profile *plant(const char *stack, int n, unsigned seed)
{
	struct text t = { 0 };
	struct profile *p;
	int64_t ms = 0;
	int done = 0;

	for (int i = 0; i < 2000; i++) {
		put_noise(&t, seed++ * 7919, 1, &ms);
		for (; done < n && (int64_t)done * 2000 < (int64_t)(i + 1) * n; done++) {
			char one[512];

			/* Many leaves where there is a %d, so that none is hot. */
			const char *mark = strstr(stack, "%d");

			if (mark)
				snprintf(one, sizeof(one), "%.*s%d%s", (int)(mark - stack), stack,
					 done % 30, mark + 2);
			put_samples(&t, mark ? one : stack, 1, &ms);
		}
	}
	vec_push(&t, '\0');
	p = made_profile(t.at);
	vec_done(&t);
	return p;
}

Test(findings, name_what_was_planted_and_nothing_else)
{
	for (size_t i = 0; i < sizeof(planted) / sizeof(*planted); i++)
		for (unsigned seed = 1; seed < 4; seed++) {
			struct profile *p = plant(planted[i].stack, planted[i].n, seed * 100000);
			char *sentences, *rules = rules_of(p, "", &sentences);

			cr_assert_str_eq(rules, planted[i].rules, "%s: %s\n%s", planted[i].what,
					 rules, sentences);
			cr_assert(strstr(sentences, planted[i].says), "%s: %s", planted[i].what,
				  sentences);
			free(sentences);
			free(rules);
			profile_free(p);
		}
}

static struct profile *made_often(const char *lines)
{
	struct text t = { 0 };
	struct profile *p;

	for (int i = 0; i < 100; i++)
		put(&t, lines);
	vec_push(&t, '\0');
	p = made_profile(t.at);
	vec_done(&t);
	return p;
}

/* Switches are in the kernel always: what is worth a sentence is who calls for them. Other counts may be or not. */
Test(findings, what_is_counted_in_the_kernel_alone)
{
	static const char switches[] =
		"=p;main@p;wait_for_input@p;read@libc.so.6;__schedule@[kernel] 9 event=cs tid=1 pid=1\n"
		"=p;main@p;g@p;nanosleep@libc.so.6;__schedule@[kernel] 1 event=cs tid=1 pid=1\n";
	static const char cycles[] =
		"=p;main@p;wait_for_input@p;read@libc.so.6;vfs_read@[kernel] 6 event=cycles tid=1 pid=1\n"
		"=p;main@p;g@p 4 event=cycles tid=1 pid=1\n";
	struct profile *p = made_often(switches);
	char *sentences, *rules = rules_of(p, "", &sentences);

	cr_expect(strstr(sentences, "90.0 % of cs are called by wait_for_input."), "%s", sentences);
	cr_expect(!strstr(sentences, "in the kernel") && !strstr(sentences, "__schedule"), "%s",
		  sentences);
	free(sentences);
	free(rules);
	profile_free(p);
	p = made_often(cycles);
	rules = rules_of(p, "", &sentences);
	cr_expect(strstr(sentences, "60.0 % of cycles are in the kernel"), "%s", sentences);
	free(sentences);
	free(rules);
	profile_free(p);
}

/* Functions that share all of the time, in tenths of a percent, spread over it. */
static const struct {
	const char *what;
	int share[8];
	const char *rules, *says;
} shared_out[] = {
	{ "60, 35, 5",
	  { 600, 350, 50 },
	  "hotspot",
	  "One function takes 60.0 % of the CPU time by itself: a." },
	{ "51, 26, 23", { 510, 260, 230 }, "hotspot", "takes 51.0 %" },
	{ "66, 34", { 660, 340 }, "hotspot", "takes 66.0 %" },
	{ "half and quarters", { 500, 250, 250 }, "hotspot", "takes 50.0 %" },
	{ "two halves",
	  { 500, 500 },
	  "few-functions",
	  "2 functions take 100.0 % of the CPU time: a (50.0 %) and b (50.0 %)." },
	{ "nearly two halves", { 520, 480 }, "few-functions", "a (52.0 %) and b (48.0 %)." },
	{ "three thirds",
	  { 334, 333, 333 },
	  "few-functions",
	  "3 functions take 100.0 % of the CPU time: a (33.4 %), b (33.3 %) and c (33.3 %)." },
	{ "nearly three thirds", { 340, 335, 325 }, "few-functions", "3 functions take 100.0 %" },
	{ "the third is lighter", { 400, 350, 250 }, "few-functions", "2 functions take 75.0 %" },
	{ "more than are named",
	  { 300, 160, 90, 90, 90, 90, 90, 90 },
	  "few-functions",
	  "3 functions take 55.0 % of the CPU time: a (30.0 %), b (16.0 %) and c (9.0 %); 5 more are as heavy as the last." },
	{ "one more than has room",
	  { 200, 160, 160, 160, 160, 160 },
	  "few-functions",
	  "; 3 more are as heavy as the last." },
};

Test(findings, name_what_has_half_of_it)
{
	for (size_t i = 0; i < sizeof(shared_out) / sizeof(*shared_out); i++) {
		struct text t = { 0 };
		char *sentences, *rules, stack[] = "=p;main@p;a@p";
		struct profile *p;
		int64_t ms = 0;

		for (int k = 0; k < 1000; k++) {
			int of = 0, left = k * 619 % 1000;

			while (left >= shared_out[i].share[of])
				left -= shared_out[i].share[of++];
			stack[sizeof(stack) - 4] = (char)('a' + of);
			put_samples(&t, stack, 1, &ms);
		}
		vec_push(&t, '\0');
		p = made_profile(t.at);
		rules = rules_of(p, "", &sentences);
		cr_expect_str_eq(rules, shared_out[i].rules, "%s: %s\n%s", shared_out[i].what,
				 rules, sentences);
		cr_expect(strstr(sentences, shared_out[i].says), "%s: %s", shared_out[i].what,
			  sentences);
		vec_done(&t);
		free(rules);
		free(sentences);
		profile_free(p);
	}
}

/* The share that the sentence has of the function, and what the filter leaves of it. */
static void check_phase(const struct profile *p)
{
	struct findings *f;
	struct analysis *a, *b = NULL;
	struct lens l, narrow;
	char part[FMT_SIZE], *said;

	made_lens(&l, p, "");
	a = made_analysis(p, &l);
	cr_assert_eq(findings_new(a, NULL, NULL, &f), 0);
	for (size_t i = 0; i < f->list.n; i++) {
		const struct finding *one = &f->list.at[i];
		const struct calltree *t;
		int64_t weight = 0;

		if (strcmp(one->rule, "phase") != 0)
			continue;
		made_lens(&narrow, p, one->filter);
		b = made_analysis(p, &narrow);
		t = b->tree;
		for (uint32_t n = 1; n < t->n_nodes; n++)
			if (b->keys.key[t->key[n]].id == one->key_id && t->outer[n])
				weight += t->total[(size_t)n * t->n_columns];
		said = xasprintf("it has %s %% of", fmt_percent(part, weight, b->weights.total[0]));
		cr_assert(strstr(one->sentence, said), "%s: %s", one->sentence, said);
		cr_assert(fabs(one->share -
			       (double)b->weights.total[0] / (double)a->weights.total[0]) < 1e-9);
		free(said);
		analysis_free(b);
		lens_done(&narrow);
	}
	cr_assert_not_null(b);
	findings_free(f);
	analysis_free(a);
	lens_done(&l);
}

/* A stretch in which another function runs than before and after it. */
Test(findings, name_a_phase)
{
	struct text t = { 0 };
	struct profile *p;
	int64_t ms = 0;
	char *rules, *sentences;

	put_noise(&t, 1, 1000, &ms);
	for (int i = 0; i < 500; i++) {
		char *stack = xasprintf("=p;main@p;load@p;l%02d@p", i % 40);

		put_samples(&t, stack, 1, &ms);
		free(stack);
	}
	put_noise(&t, 2, 1500, &ms);
	vec_push(&t, '\0');
	p = made_profile(t.at);
	rules = rules_of(p, "", &sentences);
	cr_assert_str_eq(rules, "flat phase", "%s", sentences);
	cr_assert(strstr(sentences, "load runs: it has 9") ||
			  strstr(sentences, "load runs: it has 100"),
		  "%s", sentences);
	free(rules);
	free(sentences);
	/* What the sentence says is what its filter leaves. */
	check_phase(p);
	/* Within the phase alone there is none. */
	rules = rules_of(p, "time:1.1,1.4", NULL);
	cr_assert_null(strstr(rules, "phase"), "%s", rules);
	free(rules);
	vec_done(&t);
	profile_free(p);
}

/* No phase ends after the last sample, as titles have it: it lasts to the end. */
Test(findings, a_phase_ends_with_the_samples)
{
	struct text t = { 0 };
	struct profile *p;
	int64_t ms = 0;
	char *rules, *sentences;

	put_noise(&t, 1, 1500, &ms);
	for (int i = 0; i < 500; i++)
		put_samples(&t, "=p;main@p;load@p", 1, &ms);
	ms += 40;
	put_samples(&t, "=p;late@p", 1, &ms);
	vec_push(&t, '\0');
	p = made_profile(t.at);
	rules = rules_of(p, "!fn:late", &sentences);
	cr_assert(strstr(sentences, " to the end, load runs"), "%s", sentences);
	free(rules);
	free(sentences);
	vec_done(&t);
	profile_free(p);
}

/* Of a profile without samples nothing can be said: neither that something stands out, nor that nothing does. */
Test(findings, nothing_was_recorded)
{
	static const struct {
		const char *profile, *filter, *said;
	} cases[] = {
		{ "", "", "nothing was recorded" },
		{ "a;b 1\n", "fn:nobody", "nothing of the event passes" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct profile *p = made_profile(cases[i].profile);
		struct analysis *a;
		struct lens l;

		made_lens(&l, p, cases[i].filter);
		a = made_analysis(p, &l);
		cr_expect(strncmp(findings_nothing(a), cases[i].said, strlen(cases[i].said)) == 0,
			  "%s", findings_nothing(a));
		analysis_free(a);
		lens_done(&l);
		profile_free(p);
	}
}

/* Functions of one sentence have different names, where they are folded, too. */
Test(findings, name_functions_apart)
{
	static const char *const functions[] = {
		"=p;main@p;library::vector_of_many_numbers::vector(unsigned_long)@p",
		"=p;main@p;library::vector_of_many_numbers::vector(initializer_list)@p",
		"=p;main@p;f@p",
		"=p;main@p;g@p",
	};
	struct text t = { 0 };
	char *sentences, *rules;
	struct profile *p;
	int64_t ms = 0;

	for (size_t i = 0; i < 1000; i++)
		put_samples(&t, functions[i % 8 < 6 ? i % 2 : i % 4], 1, &ms);
	vec_push(&t, '\0');
	p = made_profile(t.at);
	rules = rules_of(p, "", &sentences);
	cr_expect(strstr(sentences, "library::vector_of_many_numbers::vector(…) ("), "%s",
		  sentences);
	cr_expect(strstr(sentences, "::vector(unsigned_long)") ||
			  strstr(sentences, "::vector(initializer_list)"),
		  "%s", sentences);
	vec_done(&t);
	free(rules);
	free(sentences);
	profile_free(p);
}

Test(findings, few_samples_are_few)
{
	struct profile *p = made_profile("a;b 1\na;c 1\n");
	char *rules = rules_of(p, "", NULL);

	cr_assert_str_eq(rules, "few-samples");
	free(rules);
	profile_free(p);
}

/* Nobody knows of how many samples the sum of a stack is. */
Test(findings, sums_are_not_few_samples)
{
	struct profile *p = made_profile("a;b 1 event=sums:cpu\na;c 1 event=sums:cpu\n");
	char *rules = rules_of(p, "", NULL);

	cr_assert_str_eq(rules, "");
	free(rules);
	profile_free(p);
}

/* Of several modules the one with most, in whichever order their rows come; and that of no module counts, too. */
Test(findings, most_of_what_has_no_name)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{ "?10@m 30\n?20@o 50\n?30@m 40\n", "58.3 % of that in m" },
		{ "?10@m 30\n?20@o 50\n", "62.5 % of that in o" },
		{ "?10 90\n?20@o 30\n", "75.0 % of that in memory without a known file" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[2048] = "", *sentences, *rules;
		struct profile *p;

		for (int k = 0; k < 20; k++)
			strcat(text, cases[i].text);
		p = made_profile(text);
		rules = rules_of(p, "", &sentences);
		cr_expect(strstr(sentences, cases[i].says), "%s", sentences);
		free(sentences);
		free(rules);
		profile_free(p);
	}
}

Test(findings, nothing_has_none)
{
	struct profile *p = made_profile("");
	char *rules = rules_of(p, "", NULL);

	cr_assert_str_eq(rules, "");
	free(rules);
	profile_free(p);
}

/* What a sentence says of a class is what its filter leaves. */
Test(findings, shares_are_those_of_their_filters)
{
	for (unsigned seed = 1; seed < 20; seed++) {
		struct profile *p = plant(
			planted[seed % (sizeof(planted) / sizeof(*planted))].stack, 700, seed);
		struct findings *f;
		struct analysis *a;
		struct lens l;

		made_lens(&l, p, "");
		a = made_analysis(p, &l);
		cr_assert_eq(findings_new(a, NULL, NULL, &f), 0);
		for (size_t i = 0; i < f->list.n; i++) {
			struct analysis *b;
			struct lens narrow;
			double share;

			if (strncmp(f->list.at[i].filter, "is:", 3) != 0)
				continue;
			made_lens(&narrow, p, f->list.at[i].filter);
			b = made_analysis(p, &narrow);
			share = (double)b->weights.total[0] / (double)a->weights.total[0];
			cr_assert(fabs(share - f->list.at[i].share) < 1e-9, "%s: %f and %f",
				  f->list.at[i].sentence, f->list.at[i].share, share);
			analysis_free(b);
			lens_done(&narrow);
		}
		findings_free(f);
		analysis_free(a);
		lens_done(&l);
		profile_free(p);
	}
}
