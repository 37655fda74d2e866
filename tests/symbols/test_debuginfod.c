/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A server of debug files on this machine, what it gives, refuses and never sends. What it has is this very
 * program, which the recording knows by its build-id and by a path where nothing is.
 */
#include "config.h"

#include "base/mem.h"
#include "base/task.h"
#include "elf/build_id.h"
#include "elf/elf_file.h"
#include "profile/builder.h"
#include "symbols/resolver.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <dlfcn.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define BASE UINT64_C(0x7f0000000000)

static __attribute__((noinline, used)) int test_debug_server_here(int x)
{
	__asm__ volatile("" : "+r"(x));
	return x;
}

enum manners { GIVES, GIVES_PROGRAM, REFUSES, KEEPS_SILENT };

struct trial {
	struct build_id id;
	uint64_t offset; /* of test_debug_server_here in this program's file */
	char dir[40];    /* of the cache */
	char *program;   /* what was mapped; NULL: it is gone; owned */
	pid_t server;
};

static void write_all(int fd, const char *p, size_t n)
{
	while (n > 0) {
		ssize_t put = write(fd, p, n);

		if (put <= 0)
			_exit(1);
		p += put;
		n -= (size_t)put;
	}
}

/* The file, if it is the build-id that was asked for. */
static void answer(int fd, const char *want, enum manners how)
{
	FILE *self = fopen("/proc/self/exe", "r");
	char head[160], piece[65536];
	long size;
	size_t n;

	ssize_t got = read(fd, piece, sizeof(piece) - 1);

	piece[got > 0 ? got : 0] = '\0';
	if (!self || how == REFUSES || !strstr(piece, want)) {
		static const char no[] = "HTTP/1.0 404 Not Found\r\nContent-Length: 0\r\n\r\n";

		write_all(fd, no, sizeof(no) - 1);
		return;
	}
	fseek(self, 0, SEEK_END);
	size = ftell(self);
	rewind(self);
	snprintf(head, sizeof(head), "HTTP/1.0 200 OK\r\nContent-Length: %ld\r\n\r\n", size);
	write_all(fd, head, strlen(head));
	while ((n = fread(piece, 1, sizeof(piece), self)) > 0)
		write_all(fd, piece, n);
	fclose(self);
}

static void serve(int listener, const char *want, enum manners how)
{
	while (true) {
		int fd = accept(listener, NULL, NULL);

		if (fd < 0)
			_exit(1);
		if (how == KEEPS_SILENT)
			continue;
		answer(fd, want, how);
		shutdown(fd, SHUT_WR);
		close(fd);
	}
}

static void start_server(struct trial *t, enum manners how)
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	socklen_t n = sizeof(a);
	char hex[BUILD_ID_HEX_BYTES], *want, *url;
	int listener = socket(AF_INET, SOCK_STREAM, 0);

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	cr_assert_eq(bind(listener, (struct sockaddr *)&a, sizeof(a)), 0);
	cr_assert_eq(listen(listener, 8), 0);
	cr_assert_eq(getsockname(listener, (struct sockaddr *)&a, &n), 0);
	want = xasprintf("GET /buildid/%s/%s ", build_id_hex(hex, &t->id),
			 how == GIVES_PROGRAM ? "executable" : "debuginfo");
	t->server = fork();
	cr_assert_geq(t->server, 0);
	if (t->server == 0)
		serve(listener, want, how);
	close(listener);
	url = xasprintf("http://127.0.0.1:%u/", (unsigned)ntohs(a.sin_port));
	setenv("DEBUGINFOD_URLS", url, 1);
	free(want);
	free(url);
}

static void stop_server(struct trial *t)
{
	kill(t->server, SIGKILL);
	waitpid(t->server, NULL, 0);
}

/* False, and the test is skipped, where there is no library or no build-id. */
static bool setup(struct trial *t)
{
	uint64_t at = (uintptr_t)&test_debug_server_here;
	void *library = dlopen("libdebuginfod.so.1", RTLD_NOW);
	struct elf_file *self;
	char line[4600];
	FILE *maps = fopen("/proc/self/maps", "re");

	test_debug_server_here(1);
	while (maps && fgets(line, sizeof(line), maps)) {
		unsigned long a, b, o;

		if (sscanf(line, "%lx-%lx %*s %lx", &a, &b, &o) == 3 && at >= a && at < b)
			t->offset = at - a + o;
	}
	if (maps)
		fclose(maps);
	cr_assert_eq(elf_file_open("/proc/self/exe", &self, NULL), 0);
	t->id = *elf_file_build_id(self);
	elf_file_close(self);
	strcpy(t->dir, "/tmp/proftop-servers-XXXXXX");
	cr_assert_not_null(mkdtemp(t->dir));
	setenv("DEBUGINFOD_CACHE_PATH", t->dir, 1);
	/* ~/.debug has the files of whatever perf recorded, perhaps of this program. */
	setenv("HOME", t->dir, 1);
	setenv("DEBUGINFOD_PROGRESS", "1", 1); /* it would write over the screen */
	unsetenv("http_proxy");
	if (library && t->id.n > 0 && t->offset > 0)
		return true;
	rmdir(t->dir);
	cr_skip_test("no libdebuginfod, or no build-id in this program");
	return false;
}

static void teardown(const struct trial *t)
{
	char *command = xasprintf("rm -rf %s", t->dir);

	cr_expect_eq(system(command), 0);
	free(command);
}

/* What became of it. */
struct outcome {
	int rc;
	char *name; /* of the function; owned */
	char *fact; /* of the debug files; owned */
	bool place; /* where it is declared is known */
};

static char *fact_of(const struct profile *p)
{
	struct profile_counts n;

	profile_counts_read(p, &n);
	for (uint32_t i = 0; i < n.n_facts; i++) {
		struct fact f = profile_fact(p, i);

		if (!strcmp(profile_string(p, f.name, NULL), "debug files"))
			return xstrdup(profile_string(p, f.text, NULL));
	}
	return xstrdup("(none)");
}

static struct outcome ask(const struct trial *t, bool may, struct progress *progress)
{
	const struct resolver_options o = { .debug_servers = may, .same_machine = true };
	struct profile *p = profile_new();
	struct mapping_event m = { .pid = 1,
				   .start = BASE,
				   .length = 1 << 30,
				   .path = t->program ? t->program : "/nonexistent/prog",
				   .build_id = t->id,
				   .executable = true };
	struct location_columns c;
	struct outcome out;
	struct resolver *r;
	location_id l;
	uint32_t f;

	builder_begin(p);
	r = resolver_new(p, build_capture(p, "test", "perf.data"), &o);
	resolver_map(r, &m);
	l = resolver_locate(r, 1, 5, BASE + t->offset, MODE_USER, false);
	builder_end(p);
	cr_assert_eq(resolver_name(r, NULL), 0);
	profile_locations(p, &c);
	cr_expect_eq(location_function(&c, l.v) == ID_NONE, may && !t->program,
		     "its name waits for the server");
	out.rc = resolver_fetch(r, progress);
	cr_expect_eq(resolver_inline(r, NULL), 0);
	f = location_function(&c, l.v);
	out.place = f != ID_NONE && function_file(profile_function(p, (function_id){ f })).v != 0;
	out.name = xstrdup(
		f == ID_NONE
			? "(none)"
			: profile_string(p, profile_function(p, (function_id){ f })->name, NULL));
	out.fact = fact_of(p);
	resolver_free(r);
	profile_free(p);
	return out;
}

static void expect(const char *what, struct outcome got, int rc, const char *name, const char *fact)
{
	cr_expect_eq(got.rc, rc, "%s: %d", what, got.rc);
	cr_expect_str_eq(got.name, name, "%s: %s", what, got.name);
	cr_expect_neq(strstr(got.fact, fact), NULL, "%s: %s", what, got.fact);
	free(got.name);
	free(got.fact);
}

Test(debug_server, what_it_has_is_fetched_once, .timeout = 60)
{
	static const char gave[] = "1 of 1 came from the servers in DEBUGINFOD_URLS";
	struct trial t = { 0 };

	if (!setup(&t))
		return;
	start_server(&t, GIVES);
	expect("not allowed", ask(&t, false, NULL), 0, "[prog]", "(none)");
	expect("fetched", ask(&t, true, NULL), 0, "test_debug_server_here", gave);
	stop_server(&t);
	expect("kept", ask(&t, false, NULL), 0, "test_debug_server_here", "(none)");
	teardown(&t);
}

Test(debug_server, a_program_will_do, .timeout = 60)
{
	struct trial t = { 0 };

	if (!setup(&t))
		return;
	start_server(&t, GIVES_PROGRAM);
	expect("program", ask(&t, true, NULL), 0, "test_debug_server_here",
	       "1 of 1 came from the servers in DEBUGINFOD_URLS; 1 for programs that are missing here, too late");
	stop_server(&t);
	teardown(&t);
}

Test(debug_server, what_it_has_not_is_said, .timeout = 60)
{
	struct trial t = { 0 };

	if (!setup(&t))
		return;
	start_server(&t, REFUSES);
	expect("refused", ask(&t, true, NULL), 0, "[prog]", "0 of 1 came");
	stop_server(&t);
	setenv("DEBUGINFOD_URLS", "http://127.0.0.1:1/", 1);
	t.id.bytes[0] ^= 1; /* that it has not is remembered */
	expect("nobody listens", ask(&t, true, NULL), 0, "[prog]", "and no more was asked");
	unsetenv("DEBUGINFOD_URLS");
	expect("nobody to ask", ask(&t, true, NULL), 0, "[prog]", "set DEBUGINFOD_URLS");
	teardown(&t);
}

/* Its names are good, and do not wait; where they are declared, the server knows. */
Test(debug_server, what_a_program_with_symbols_lacks, .timeout = 60)
{
	struct outcome before, after;
	struct trial t = { 0 };
	char *command;

	if (!setup(&t))
		return;
	t.program = xasprintf("%s/program", t.dir);
	command = xasprintf("cp /proc/%ld/exe %s && strip -g %s", (long)getpid(), t.program,
			    t.program);
	cr_assert_eq(system(command), 0);
	start_server(&t, GIVES);
	before = ask(&t, false, NULL);
	after = ask(&t, true, NULL);
	cr_expect_not(before.place);
	cr_expect(after.place);
	expect("not allowed", before, 0, "test_debug_server_here", "(none)");
	expect("fetched", after, 0, "test_debug_server_here",
	       "1 of 1 came from the servers in DEBUGINFOD_URLS");
	stop_server(&t);
	teardown(&t);
	free(t.program);
	free(command);
}

static int stop_soon(void *arg)
{
	usleep(300 * 1000);
	progress_cancel(arg);
	return 0;
}

Test(debug_server, waiting_can_be_ended, .timeout = 60)
{
	struct progress progress = { 0 };
	struct trial t = { 0 };
	struct task *task;

	if (!setup(&t))
		return;
	start_server(&t, KEEPS_SILENT);
	task = task_start(stop_soon, &progress, -1);
	expect("silence", ask(&t, true, &progress), -ECANCELED, "(none)", "");
	task_join(task);
	stop_server(&t);
	teardown(&t);
}
