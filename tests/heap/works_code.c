/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Code that comes and goes, code without tables, and stacks that change threads. */
#include "heap_works.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#define JIT_BYTES 4096u

/* The file beside this program's; the caller frees. */
static char *beside(const char *name)
{
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	char *all;

	while (n > 0 && path[n - 1] != '/')
		n--;
	path[n > 0 ? n : 0] = '\0';
	all = malloc(strlen(path) + strlen(name) + 1);
	return all ? strcat(strcpy(all, path), name) : NULL;
}

/* A library that allocates, at other addresses each time. */
static int work_libraries(uint64_t n)
{
	char *path = beside("heap_plugin.so");
	int bad = !path;

	for (uint64_t i = 0; i < n && !bad; i++) {
		void *library = dlopen(path, RTLD_NOW), *hole;
		void (*plug)(unsigned) = NULL;

		if (library)
			*(void **)(void *)&plug = dlsym(library, "plug");
		if (!plug)
			return 1;
		plug((unsigned)i % 7);
		hole = mmap(NULL, (i % 5 + 1) * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			    0);
		bad = dlclose(library) || hole == MAP_FAILED;
		if (i % 3 == 0 && !bad)
			bad = munmap(hole, (i % 5 + 1) * 4096);
	}
	free(path);
	return bad;
}

static FRAME void called(void)
{
	use(40);
}

/*
 * Generated code that calls its argument: with a frame pointer, without one, and with something else in
 * the register for it.
 */
static int work_jit(uint64_t n)
{
	static const uint8_t code[3][32] = {
		{ 0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3 },
		{ 0x48, 0x83, 0xec, 0x28, 0xff, 0xd7, 0x48, 0x83, 0xc4, 0x28, 0xc3 },
		{ 0x55, 0x48, 0xc7, 0xc5, 0x01, 0x20, 0x30, 0x40, 0xff, 0xd7, 0x5d, 0xc3 },
	};
	uint8_t *page = mmap(NULL, JIT_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		return 1;
	for (unsigned i = 0; i < 3; i++)
		memcpy(page + 256 * i, code[i], sizeof(code[i]));
	for (uint64_t i = 0; i < n; i++) {
		void (*jit)(void (*)(void)) = NULL;
		void *at = page + 256 * (i % 3);

		memcpy(&jit, &at, sizeof(jit));
		jit(called);
	}
	return munmap(page, JIT_BYTES);
}

#define N_CONTEXTS 16u

static struct {
	ucontext_t own, resumer;
	char *stack;
} task[N_CONTEXTS];

static FRAME void in_task(unsigned i, unsigned depth)
{
	use(10 + depth);
	if (depth)
		in_task(i, depth - 1);
	else
		swapcontext(&task[i].own, &task[i].resumer);
	use(30 + depth);
}

static void run_task(int i)
{
	for (unsigned depth = 0;; depth = (depth + 3) % 17)
		in_task((unsigned)i, depth);
}

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

static void *resume(void *arg)
{
	uint64_t n = (uint64_t)(uintptr_t)arg;

	for (uint64_t i = 0; i < n; i++) {
		pthread_mutex_lock(&turn);
		swapcontext(&task[i % N_CONTEXTS].resumer, &task[i % N_CONTEXTS].own);
		pthread_mutex_unlock(&turn);
		use(5);
	}
	return NULL;
}

static int make_task(unsigned i)
{
	task[i].stack = malloc(32768);
	if (!task[i].stack || getcontext(&task[i].own))
		return 1;
	task[i].own.uc_stack.ss_sp = task[i].stack;
	task[i].own.uc_stack.ss_size = 32768;
	makecontext(&task[i].own, (void (*)(void))run_task, 1, (int)i);
	return 0;
}

/* Contexts that each thread goes on with where another one left them. */
static int work_tasks(uint64_t n)
{
	pthread_t thread[4];

	for (unsigned i = 0; i < N_CONTEXTS; i++)
		if (make_task(i))
			return 1;
	for (unsigned i = 0; i < 4; i++)
		if (pthread_create(&thread[i], NULL, resume, (void *)(uintptr_t)n))
			return 1;
	for (unsigned i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	for (unsigned i = 0; i < N_CONTEXTS; i++)
		free(task[i].stack);
	return 0;
}

/* The program's own blocks before and after main, when it is loaded with heap_plugin.so. */
static int work_early(uint64_t n)
{
	void *p = dlsym(RTLD_DEFAULT, "plug");

	for (uint64_t i = 0; i < n; i++)
		use(3);
	return p == NULL;
}

const struct work code_works[] = {
	{ "libraries", work_libraries }, { "jit", work_jit }, { "tasks", work_tasks },
	{ "early", work_early },         { NULL, NULL },
};
