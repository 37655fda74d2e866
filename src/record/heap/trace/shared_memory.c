/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Segments are filled from below; the next one is twice as large. What a process leaves behind when it is killed is taken into its
 * trace by `proftop record`, or by whoever reads the trace. What was left behind finished (by exec, or where a filter of seccomp
 * forbids to remove it) is removed by the next process that begins.
 */
#include "config.h"

#include "record/heap/trace/shared_memory.h"

#include "record/heap/trace/tracer_lock.h"
#include "record/heap/trace/tracer_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define FIRST_BYTES ((size_t)64 << 20)
#define LEAST_BYTES ((size_t)4 << 20)
#define PART        16u /* of a limit on address space, at most, is the first segment */
#define PAGE_BYTES  4096u
#define COPY_PAGES  256u

static struct {
	struct tracer_lock lock; /* of what follows */
	struct kept_head *first; /* NULL: there is none */
	uint8_t *at, *end;       /* what is left of the last segment */
	long filters;            /* of seccomp that the process had at the beginning */
	_Atomic bool frozen;
	bool crowded; /* so much is left of others that there is none for us */
} kept;

/* "Name:\tN" in text; -1: it is not there. */
static long number_of(const char *text, const char *name)
{
	const char *at = strstr(text, name);

	return at ? strtol(at + strlen(name), NULL, 10) : -1;
}

/* How many filters this thread has; where the kernel does not count them, a number that is not 0 if there are any. */
static long count_filters(void)
{
	int fd = open("/proc/thread-self/status", O_RDONLY | O_CLOEXEC);
	char text[4096];
	ssize_t n;
	long mode, count;

	if (fd < 0)
		return -1;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	mode = number_of(text, "\nSeccomp:");
	count = number_of(text, "\nSeccomp_filters:");
	return mode <= 0 ? mode : count > 0 ? count : -1;
}

/* Everything that is asked of the kernel here; in a process that may be killed for it. */
static _Noreturn void try_calls(void)
{
	struct shm_info info;
	int id = shmget(IPC_PRIVATE, PAGE_BYTES, IPC_CREAT | SHM_NORESERVE | 0600);
	void *p = id >= 0 ? shmat(id, NULL, 0) : (void *)-1;

	if (p != (void *)-1)
		shmdt(p);
	if (id >= 0)
		shmctl(id, IPC_RMID, NULL);
	shmctl(0, SHM_INFO, (struct shmid_ds *)(void *)&info);
	syscall(SYS_exit_group, p == (void *)-1);
	__builtin_trap();
}

/* With a filter that came from outside: another process tries, of which the program hears nothing. */
static bool may_call(void)
{
	long pid;
	int status = 1;

	kept.filters = count_filters();
	if (kept.filters <= 0)
		return kept.filters == 0;
	pid = syscall(SYS_clone, 0, NULL, NULL, NULL, NULL);
	if (pid == 0)
		try_calls();
	while (pid > 0 && wait4((pid_t)pid, &status, __WALL, NULL) < 0 && errno == EINTR)
		;
	return pid > 0 && status == 0;
}

/* Is the segment, of a set whose first one is another, left of a set that is gone? */
static bool is_orphan(const struct kept_head *h)
{
	struct kept_head *first = shmat(h->first, NULL, SHM_RDONLY);
	bool is = true;

	if (first == (void *)-1)
		return errno != EACCES;
	is = first->magic != KEPT_MAGIC || first->set != h->set;
	shmdt(first);
	return is;
}

/* Is the file gone that it belongs to? Or it is where we cannot see it: that is for whoever asks to weigh. */
static bool is_useless(const struct kept_head *h)
{
	return h->path[0] == '/' && memchr(h->path, '\0', KEPT_PATH) &&
	       access(h->path, F_OK) != 0 && errno == ENOENT;
}

/* Do we alone have it? One whose head is filled in was had by its process: that is gone then, and not about to come. */
static bool is_left(int id, const struct kept_head *h)
{
	struct shmid_ds ds;

	return h->magic == KEPT_MAGIC && shmctl(id, IPC_STAT, &ds) == 0 && ds.shm_nattch == 1;
}

/* Looks at a segment that nobody had; counts it in *n_left if what it holds is of use. harder: it is not, without its file. */
static void look_at(int id, bool harder, unsigned *n_left)
{
	struct kept_head *h = shmat(id, NULL, SHM_RDONLY);
	bool ours, remove = false;

	if (h == (void *)-1)
		return;
	ours = is_left(id, h);
	if (ours && h->first != id)
		remove = is_orphan(h);
	else if (ours && atomic_load(&h->state) == KEPT_IN_USE && !(harder && is_useless(h)))
		++*n_left;
	else if (ours)
		remove = true;
	shmdt(h);
	if (remove)
		shmctl(id, IPC_RMID, NULL);
}

/* Removes what was left behind finished; returns how many sets of others are to be kept. */
static unsigned sweep(bool harder)
{
	struct shm_info info;
	int most = shmctl(0, SHM_INFO, (struct shmid_ds *)(void *)&info);
	unsigned n_left = 0;

	for (int i = 0; i <= most; i++) {
		struct shmid_ds ds;
		int id = shmctl(i, SHM_STAT, &ds);

		if (id >= 0 && ds.shm_perm.uid == geteuid() && ds.shm_perm.__key == IPC_PRIVATE &&
		    (ds.shm_perm.mode & 0777) == 0600 && ds.shm_nattch == 0 &&
		    ds.shm_segsz >= LEAST_BYTES && ds.shm_segsz % LEAST_BYTES == 0)
			look_at(id, harder, &n_left);
	}
	return n_left;
}

/* A segment of the set `first`, or the first one of a new set. With the lock held, or before there are others. */
static bool add_segment(size_t bytes)
{
	uint32_t n = kept.first ? atomic_load(&kept.first->n_segments) : 0;
	struct kept_head *h;
	int id;

	if (n == KEPT_SEGMENTS)
		return false;
	id = shmget(IPC_PRIVATE, bytes, IPC_CREAT | SHM_NORESERVE | 0600);
	if (id < 0)
		return false;
	h = shmat(id, NULL, 0);
	if (h == (void *)-1) {
		shmctl(id, IPC_RMID, NULL);
		return false;
	}
	/* It is not for core dumps, which would have pages made for all of it. */
	madvise(h, bytes, MADV_DONTDUMP);
	if (!kept.first) {
		if (syscall(SYS_getrandom, &h->set, sizeof(h->set), GRND_NONBLOCK) !=
		    (long)sizeof(h->set))
			h->set = (uint64_t)getpid() << 32 | (uint32_t)id;
		h->first = id;
		kept.first = h;
	} else {
		h->set = kept.first->set;
		h->first = kept.first->first;
	}
	h->magic = KEPT_MAGIC;
	kept.first->segment[n] = (struct kept_segment){ (uint64_t)(uintptr_t)h, bytes, id, 0 };
	atomic_store(&kept.first->n_segments, n + 1);
	kept.at = (uint8_t *)h + KEPT_HEAD;
	kept.end = (uint8_t *)h + bytes;
	return true;
}

void shared_memory_begin(void)
{
	struct rlimit limit;
	size_t bytes = FIRST_BYTES;

	if (kept.first)
		return;
	if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur / PART < bytes)
		bytes = (limit.rlim_cur / PART + LEAST_BYTES) & ~(LEAST_BYTES - 1);
	if (!may_call()) {
		atomic_store(&kept.frozen, true);
		return;
	}
	kept.crowded = sweep(false) >= KEPT_MOST_LEFT && sweep(true) >= KEPT_MOST_LEFT;
	if (kept.crowded)
		atomic_store(&kept.frozen, true);
	else
		add_segment(bytes);
}

static void *take(size_t bytes)
{
	void *p = kept.at;

	if (!kept.first || (size_t)(kept.end - kept.at) < bytes)
		return NULL;
	kept.at += bytes;
	return p;
}

void *shared_memory_map(size_t bytes)
{
	size_t whole = (bytes + PAGE_BYTES - 1) & ~(size_t)(PAGE_BYTES - 1), more;
	void *p;

	if (!tracer_lock(&kept.lock))
		return tracer_map(bytes);
	p = take(whole);
	if (!p && kept.first && !atomic_load(&kept.frozen)) {
		more = 2 * kept.first->segment[atomic_load(&kept.first->n_segments) - 1].bytes;
		if (whole + KEPT_HEAD <= more && add_segment(more))
			p = take(whole);
	}
	tracer_unlock(&kept.lock);
	return p ? p : tracer_map(bytes);
}

void shared_memory_empty(void *p, size_t bytes)
{
	if (syscall(SYS_madvise, p, bytes, MADV_REMOVE))
		tracer_empty(p, bytes);
}

bool shared_memory_is_crowded(void)
{
	return kept.crowded;
}

int shared_memory_id(void)
{
	return kept.first ? kept.first->first : -1;
}

void shared_memory_name(const char *path)
{
	size_t n = strlen(path) + 1;

	if (kept.first)
		memcpy(kept.first->path, n <= KEPT_PATH ? path : "", n <= KEPT_PATH ? n : 1);
}

void shared_memory_state(enum kept_state state)
{
	if (kept.first)
		atomic_store(&kept.first->state, state);
}

void shared_memory_freeze(void)
{
	atomic_store(&kept.frozen, true);
}

void shared_memory_remove(void)
{
	if (!kept.first || atomic_load(&kept.frozen) || count_filters() != kept.filters)
		return;
	for (uint32_t i = atomic_load(&kept.first->n_segments); i-- > 0;)
		shmctl(kept.first->segment[i].id, IPC_RMID, NULL);
}

/* The pages that were touched: reading others would have them made in the memory that is shared. */
static void copy_touched(uint8_t *to, uint8_t *from, size_t bytes, bool (*is_spare)(const void *))
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	unsigned char touched[COPY_PAGES];

	for (size_t at = 0; at < bytes; at += COPY_PAGES * page) {
		size_t n = bytes - at < COPY_PAGES * page ? bytes - at : COPY_PAGES * page;

		if (mincore(from + at, n, touched))
			memset(touched, 1, sizeof(touched));
		for (size_t i = 0; i < n; i += page)
			if ((touched[i / page] & 1) && !is_spare(from + at + i))
				memcpy(to + at + i, from + at + i, page);
	}
}

/* False: the memory stays what it is. */
static bool copy_segment(const struct kept_segment *s, bool is_last, bool (*is_spare)(const void *))
{
	uint8_t *from = (uint8_t *)(uintptr_t)s->address;
	void *to = mmap(NULL, s->bytes, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (to == MAP_FAILED)
		return false;
	/* Nothing was handed out beyond. */
	copy_touched(to, from, is_last ? (size_t)(kept.at - from) : s->bytes, is_spare);
	return mremap(to, s->bytes, s->bytes, MREMAP_MAYMOVE | MREMAP_FIXED, from) != MAP_FAILED;
}

void shared_memory_copy(bool (*is_spare)(const void *page))
{
	static struct kept_segment copied[KEPT_SEGMENTS];
	static uint32_t n_copied;
	uint32_t n;

	/* A process that forks before it begins has its parent's copy still. */
	if (!kept.first)
		return;
	while (n_copied) {
		n_copied--;
		munmap((void *)(uintptr_t)copied[n_copied].address, copied[n_copied].bytes);
	}
	n = atomic_load(&kept.first->n_segments);
	memcpy(copied, kept.first->segment, n * sizeof(*copied));
	for (uint32_t i = 0; i < n; i++)
		if (copy_segment(&copied[i], i + 1 == n, is_spare))
			copied[n_copied++] = copied[i];
	kept.first = NULL;
	kept.at = kept.end = NULL;
	kept.lock = (struct tracer_lock){ 0 };
}
