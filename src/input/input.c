/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Three layers: raw bytes (a descriptor or memory), unpacked bytes, and bytes that were peeked at but
 * not taken yet. A plain regular file is read with pread(2) at the offset the caller stands at, so
 * that its descriptor's own position never matters.
 */
#include "config.h"

#include "input/input.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/task.h"
#include "input/decompress.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PEEK_BYTES ((size_t)64 << 10)
#define RAW_BYTES  ((size_t)256 << 10)

/* The room that input_ahead() begins with. */
#define AHEAD_LEAST ((size_t)1 << 20)

/* How soon a cancelled reader notices while nothing comes, where nothing wakes it. */
#define CANCEL_MS 50

/* A file that nobody writes may be opened by its writer again; where nobody can tell, it is silence that ends it. */
#define WRITER_MS  1000
#define SILENCE_MS 30000

/* Of a scratch file: what stays, and whole blocks of any file system that are given back at once, at least. */
#define SPEND_HEAD  (UINT64_C(64) << 10)
#define SPEND_LEAST (UINT64_C(1) << 20)

struct input {
	char *name;                      /* for messages; owned */
	char *directory;                 /* see input_directory(); owned */
	int fd;                          /* -1: memory */
	bool own_fd;                     /* closed at the end */
	bool regular;                    /* a regular file: pread works and there is a size */
	bool follows;                    /* a regular file that is being written */
	bool scratch;                    /* see input_scratch() */
	uint64_t spent;                  /* of it: up to here it was given back, but for its head */
	uint64_t (*good)(void *arg);     /* see input_follow_to(); NULL: all that is there */
	void *good_arg;                  /* borrowed */
	int lonely_ms;                   /* for so long nothing came of it and nobody had it open */
	bool looked;                     /* how it is packed is known */
	const struct progress *progress; /* whose cancelling ends waiting for a pipe; borrowed */
	uint64_t base;   /* where the file's first byte is for us; standard input may be advanced */
	const void *mem; /* the bytes of an input in memory; borrowed */
	size_t mem_bytes; /* how many */

	uint8_t *raw;      /* [RAW_BYTES] read from the file, not used yet; owned */
	size_t raw_at;     /* next byte of raw */
	size_t raw_end;    /* one past the last */
	uint64_t raw_read; /* bytes read from the file so far */
	bool raw_ended;    /* the file gave its end */

	const struct decompress *packing; /* NULL: plain */
	void *unpacker;                   /* its state; owned */
	enum unpack_state state;          /* what its last step said */
	struct err broken; /* why no more comes; reported once all before it is taken */

	uint8_t *ahead;   /* [PEEK_BYTES] or more, unpacked, not taken yet; owned */
	size_t ahead_cap; /* of input_ahead(): its room, until all is taken; else 0 */
	bool all_ahead;   /* see input_all_ahead() */
	size_t ahead_at;  /* next byte of ahead */
	size_t ahead_end; /* one past the last */
	uint64_t offset;  /* unpacked bytes taken */

	struct {
		bool known;              /* it was asked before */
		struct timespec written; /* when the file was written to, by then */
		int64_t since_ms;        /* the same, by CLOCK_MONOTONIC */
	} quiet;                         /* see input_quiet_ms() */
};

static struct input *input_new(const char *name)
{
	struct input *in = xcalloc(1, sizeof(*in));

	in->name = xstrdup(name);
	in->fd = -1;
	return in;
}

static int fail_errno(const struct input *in, int error, const char *what, struct err *e)
{
	return err_set(e, -error, "%s: cannot %s: %s", in->name, what, strerror(error));
}

/* What else is in directories of tools, and what makes a file of them that opens. */
static const struct {
	const char *member, *what;
} directories[] = {
	{ "form.template", "a trace of Instruments; xctrace export --xpath "
			   "\"//table[@schema='time-profile']\" writes the samples, of which "
			   "inferno-collapse-xctrace makes folded stacks" },
};

static int refuse_directory(const struct input *in, struct err *e)
{
	for (size_t i = 0; i < sizeof(directories) / sizeof(*directories); i++)
		if (faccessat(in->fd, directories[i].member, F_OK, 0) == 0)
			return err_set(e, -EISDIR, "%s: not supported: %s", in->name,
				       directories[i].what);
	return err_set(e, -EISDIR,
		       "%s: is a directory without a recording (data); name a profile in it",
		       in->name);
}

/* Looks at what was opened; a refusal is a sentence. */
static int check_kind(struct input *in, struct err *e)
{
	struct stat st;
	off_t at;

	if (fstat(in->fd, &st) < 0)
		return fail_errno(in, errno, "look at it", e);
	if (S_ISDIR(st.st_mode))
		return refuse_directory(in, e);
	if (S_ISCHR(st.st_mode) && isatty(in->fd))
		return err_set(e, -ENOTSUP, "%s: is a terminal; name a file or pipe one in",
			       in->name);
	in->regular = S_ISREG(st.st_mode);
	at = in->regular ? lseek(in->fd, 0, SEEK_CUR) : 0;
	in->base = at > 0 ? (uint64_t)at : 0;
	return 0;
}

/* Goes on with the file "data" when a directory was opened that has one. */
static void enter_directory(struct input *in)
{
	struct stat st;
	int fd;

	if (fstat(in->fd, &st) < 0 || !S_ISDIR(st.st_mode))
		return;
	fd = openat(in->fd, "data", O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		close(fd);
		return;
	}
	close(in->fd);
	in->fd = fd;
	in->directory = xstrdup(in->name);
}

/* The descriptor that /dev/fd/N names, where there is no such directory, as in an empty root. */
static int own_descriptor(const char *path)
{
	int fd, n = 0;

	if (sscanf(path, "/dev/fd/%d%n", &fd, &n) != 1 || path[n] != '\0')
		return -1;
	fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (fd >= 0)
		fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
	return fd;
}

int input_open(const char *path, struct input **out, struct err *e)
{
	/* a named pipe opens without its writer, whom reading then waits for */
	static const int flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
	bool is_stdin = strcmp(path, "-") == 0;
	struct input *in = input_new(is_stdin ? "standard input" : path);
	int rc;

	do
		in->fd = is_stdin ? STDIN_FILENO : open(path, flags);
	while (in->fd < 0 && errno == EINTR);
	if (in->fd < 0 && errno == ENOENT)
		in->fd = own_descriptor(path);
	in->own_fd = !is_stdin;
	if (in->fd >= 0 && in->own_fd)
		enter_directory(in);
	rc = in->fd < 0 ? fail_errno(in, errno, "open it", e) : check_kind(in, e);
	if (rc < 0) {
		input_close(in);
		return rc;
	}
	*out = in;
	return 0;
}

struct input *input_of_bytes(const void *bytes, size_t n, const char *name)
{
	struct input *in = input_new(name);

	in->mem = bytes;
	in->mem_bytes = n;
	return in;
}

void input_close(struct input *in)
{
	if (!in)
		return;
	if (in->unpacker)
		in->packing->stop(in->unpacker);
	if (in->own_fd && in->fd >= 0)
		close(in->fd);
	err_clear(&in->broken);
	free(in->raw);
	free(in->ahead);
	free(in->directory);
	free(in->name);
	free(in);
}

void input_rename(struct input *in, const char *name)
{
	char *new = xstrdup(name);

	free(in->name);
	in->name = new;
}

void input_watch(struct input *in, const struct progress *progress)
{
	in->progress = progress;
}

void input_follow(struct input *in, bool yes)
{
	in->follows = yes && in->regular;
	/* Who opens the file while we hold the lease would have us killed (SIGIO): this one is ignored. */
	if (in->follows)
		fcntl(in->fd, F_SETSIG, SIGURG);
}

void input_follow_to(struct input *in, uint64_t (*end)(void *arg), void *arg)
{
	in->good = end;
	in->good_arg = arg;
	/* What was peeked at may not have been good. */
	if (in->packing)
		return;
	in->raw_read = in->offset;
	in->ahead_at = in->ahead_end = 0;
}

bool input_follows(const struct input *in)
{
	return in->follows;
}

void input_scratch(struct input *in)
{
	in->scratch = in->regular && in->own_fd;
	in->spent = SPEND_HEAD;
}

/* Opened for a moment: whoever asks whether the file has a writer does not mean us. */
void input_spend(struct input *in, uint64_t before)
{
	uint64_t to = before / SPEND_HEAD * SPEND_HEAD;
	char path[32];
	int fd;

	if (!in->scratch || to > INT64_MAX || to < in->spent + SPEND_LEAST)
		return;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", in->fd);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	/* Where there are no holes, it is not tried again. */
	if (fd < 0 || fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)in->spent,
				(off_t)(to - in->spent)))
		in->scratch = false;
	in->spent = to;
	if (fd >= 0)
		close(fd);
}

bool input_has_hole(const struct input *in)
{
	off_t hole = in->regular ? lseek(in->fd, 0, SEEK_HOLE) : -1;

	return hole >= 0 && (uint64_t)hole < in->base + input_file_bytes(in);
}

const char *input_name(const struct input *in)
{
	return in->name;
}

const char *input_directory(const struct input *in)
{
	return in->directory;
}

/* As pread(2) on the file or the memory, without its EINTR. */
static ssize_t raw_pread(struct input *in, void *to, size_t n, uint64_t offset, struct err *e)
{
	ssize_t got;

	if (in->fd < 0) {
		size_t left = offset < in->mem_bytes ? in->mem_bytes - (size_t)offset : 0;

		n = n < left ? n : left;
		if (n > 0)
			memcpy(to, (const uint8_t *)in->mem + offset, n);
		return (ssize_t)n;
	}
	if (n > SSIZE_MAX)
		n = SSIZE_MAX;
	if (offset > INT64_MAX - in->base)
		return 0;
	do
		got = pread(in->fd, to, n, (off_t)(in->base + offset));
	while (got < 0 && errno == EINTR);
	return got < 0 ? fail_errno(in, errno, "read it", e) : got;
}

/*
 * Waits for a pipe, whose writer may be in no hurry, for at most ms unless that is negative. False when
 * nothing has come by then; cancelling ends it, with something or not.
 */
static bool wait_bytes(const struct input *in, int ms)
{
	int wake_fd = in->progress ? in->progress->wake_fd : 0;
	struct pollfd polled[] = { { .fd = in->fd, .events = POLLIN },
				   { .fd = wake_fd, .events = POLLIN } };
	int step;

	for (; ms != 0 && !progress_cancelled(in->progress); ms -= ms < 0 ? 0 : step) {
		step = wake_fd > 0 || (ms >= 0 && ms < CANCEL_MS) ? ms : CANCEL_MS;
		poll(polled, wake_fd > 0 ? 2 : 1, step);
		if (polled[0].revents)
			return true;
	}
	return false;
}

/* As read(2) on a pipe, when there is something to read. -ECANCELED without a sentence. */
static ssize_t pipe_next(struct input *in, void *to, size_t n, struct err *e)
{
	for (;;) {
		ssize_t got;

		if (!wait_bytes(in, -1))
			return -ECANCELED;
		got = read(in->fd, to, n < SSIZE_MAX ? n : SSIZE_MAX);
		if (got >= 0)
			return got;
		if (errno != EINTR && errno != EAGAIN)
			return fail_errno(in, errno, "read it", e);
	}
}

/* May more be written to the file? A read lease is given only where nobody has it open for writing. */
static bool has_writer(const struct input *in, bool *known)
{
	*known = true;
	if (fcntl(in->fd, F_SETLEASE, F_RDLCK) == 0) {
		fcntl(in->fd, F_SETLEASE, F_UNLCK);
		return false;
	}
	*known = errno == EAGAIN;
	return true;
}

/* Bytes of a file that is followed that are there and were not read. */
static uint64_t unread(const struct input *in)
{
	struct stat st;
	uint64_t there, good;

	if (fstat(in->fd, &st) < 0 || st.st_size < 0)
		return 0;
	there = (uint64_t)st.st_size > in->base ? (uint64_t)st.st_size - in->base : 0;
	good = in->good ? in->good(in->good_arg) : there;
	there = good < there ? good : there;
	return there > in->raw_read ? there - in->raw_read : 0;
}

/*
 * Waits until a file that is followed has more bytes than were read, for at most ms unless that is negative. False
 * when nothing has come by then; its end and cancelling end it, with something or not.
 */
static bool wait_growth(struct input *in, int ms)
{
	for (;;) {
		int step = ms < 0 || ms > CANCEL_MS ? CANCEL_MS : ms;
		struct timespec nap = { .tv_nsec = step * 1000000L };
		bool known = true;

		if (unread(in) > 0) {
			in->lonely_ms = 0;
			return true;
		}
		/* One that is empty has not begun: its writer may not even be there yet. */
		if ((has_writer(in, &known) && known) || input_file_bytes(in) == 0)
			in->lonely_ms = 0;
		if (in->lonely_ms > (known ? WRITER_MS : SILENCE_MS) ||
		    progress_cancelled(in->progress))
			return true;
		if (ms == 0)
			return false;
		nanosleep(&nap, NULL);
		in->lonely_ms += step;
		ms -= ms < 0 ? 0 : step;
	}
}

/* The next bytes of a file that is followed; 0 at its end. -ECANCELED without a sentence. */
static ssize_t followed_next(struct input *in, void *to, size_t n, struct err *e)
{
	uint64_t there;

	wait_growth(in, -1);
	if (progress_cancelled(in->progress))
		return -ECANCELED;
	there = unread(in);
	return raw_pread(in, to, n < there ? n : (size_t)there, in->raw_read, e);
}

/* The next bytes of the file. */
static ssize_t raw_next(struct input *in, void *to, size_t n, struct err *e)
{
	ssize_t got;

	if (in->follows)
		got = followed_next(in, to, n, e);
	else if (in->regular || in->fd < 0)
		got = raw_pread(in, to, n, in->raw_read, e);
	else
		got = pipe_next(in, to, n, e);
	if (got > 0)
		in->raw_read += (uint64_t)got;
	if (in->follows)
		input_spend(in, in->base + in->raw_read);
	return got;
}

/* Reads on behind raw_end, after moving what is left to the front. 0 at the end. */
static ssize_t raw_fill(struct input *in, struct err *e)
{
	size_t left = in->raw_end - in->raw_at;
	ssize_t got;

	if (!in->raw)
		in->raw = xmalloc(RAW_BYTES);
	memmove(in->raw, in->raw + in->raw_at, left);
	in->raw_at = 0;
	in->raw_end = left;
	got = raw_next(in, in->raw + left, RAW_BYTES - left, e);
	if (got > 0)
		in->raw_end += (size_t)got;
	in->raw_ended = got == 0;
	return got;
}

/* Finds out how the input is packed. */
static int look(struct input *in, struct err *e)
{
	ssize_t got = 1;

	if (in->looked)
		return 0;
	while (got > 0 && decompress_begins(in->raw, in->raw_end))
		got = raw_fill(in, e);
	if (got < 0)
		return (int)got;
	in->looked = true;
	in->packing = decompress_of(in->raw, in->raw_end);
	if (in->packing) {
		in->unpacker = in->packing->start();
		if (!in->unpacker)
			return err_set(e, -ENOMEM, "%s: no memory to unpack %s", in->name,
				       in->packing->name);
	} else if (in->regular || in->fd < 0) {
		in->raw_at = in->raw_end = 0; /* pread from the start instead */
		in->raw_read = 0;
	}
	return 0;
}

static ssize_t plain_next(struct input *in, void *to, size_t max, struct err *e)
{
	size_t left = in->raw_end - in->raw_at;

	if (left == 0)
		return raw_next(in, to, max, e);
	left = left < max ? left : max;
	memcpy(to, in->raw + in->raw_at, left);
	in->raw_at += left;
	return (ssize_t)left;
}

/* No more unpacked bytes will come; why not is kept until all that came is taken. */
static int set_broken(struct input *in)
{
	const char *kind = in->packing->name;
	unsigned long long at = (unsigned long long)(in->raw_read - (in->raw_end - in->raw_at));

	if (in->state == UNPACK_DAMAGED)
		return err_set(&in->broken, -EBADMSG,
			       "%s: damaged %s data before byte %llu of the file", in->name, kind,
			       at);
	if (in->state == UNPACK_TOO_LARGE)
		return err_set(&in->broken, -EFBIG,
			       "%s: needs too much memory to unpack; pack it again with a smaller "
			       "%s window",
			       in->name, kind);
	return err_set(&in->broken, -EBADMSG, "%s: %s data end too early, at byte %llu of the file",
		       in->name, kind, at);
}

static ssize_t unpacked_next(struct input *in, void *to, size_t max, struct err *e)
{
	while (in->broken.code == 0) {
		struct unpack_io io = { .out = to, .n_out = max };
		ssize_t got = 1;

		if (in->raw_at == in->raw_end && !in->raw_ended)
			got = raw_fill(in, e);
		if (got < 0)
			return got;
		io.in = in->raw + in->raw_at;
		io.n_in = in->raw_end - in->raw_at;
		io.last = in->raw_ended;
		if (io.last && io.n_in == 0 && in->state == UNPACK_BOUNDARY)
			return 0;
		in->state = in->packing->step(in->unpacker, &io);
		got = (ssize_t)(max - io.n_out);
		if (in->state >= UNPACK_DAMAGED ||
		    (in->state == UNPACK_INSIDE && io.last && io.n_in == 0 && got == 0))
			set_broken(in);
		in->raw_at = in->raw_end - io.n_in;
		if (got > 0)
			return got;
	}
	return err_set(e, in->broken.code, "%s", err_text(&in->broken));
}

/* The next unpacked bytes; 0 at the end, or -errno. */
static ssize_t next(struct input *in, void *to, size_t max, struct err *e)
{
	int rc = look(in, e);

	if (rc < 0)
		return rc;
	return in->packing ? unpacked_next(in, to, max, e) : plain_next(in, to, max, e);
}

/* An error is found again by the read that gets there. */
void input_ahead(struct input *in)
{
	struct err later = ERR_INIT;
	size_t cap = AHEAD_LEAST;
	ssize_t got;

	if (!in->regular || in->follows || in->looked)
		return;
	got = look(in, &later);
	if (got == 0 && in->packing) {
		in->ahead = xmalloc(cap);
		got = 1;
	}
	while (got > 0 && in->ahead_end < INPUT_AHEAD_BYTES && !progress_cancelled(in->progress)) {
		if (in->ahead_end == cap)
			in->ahead = xreallocarray(in->ahead, cap *= 2, 1);
		got = next(in, in->ahead + in->ahead_end, cap - in->ahead_end, &later);
		in->ahead_end += got > 0 ? (size_t)got : 0;
	}
	in->ahead_cap = in->ahead ? cap : 0;
	in->all_ahead = in->ahead && got == 0;
	err_clear(&later);
}

bool input_all_ahead(const struct input *in)
{
	return in->all_ahead;
}

int input_peek(struct input *in, size_t want, const uint8_t **bytes, size_t *n, struct err *e)
{
	size_t left = in->ahead_end - in->ahead_at;
	ssize_t got = 1;

	if (!in->ahead)
		in->ahead = xmalloc(PEEK_BYTES);
	if (in->ahead_at > 0)
		memmove(in->ahead, in->ahead + in->ahead_at, left);
	in->ahead_at = 0;
	in->ahead_end = left;
	want = want < PEEK_BYTES ? want : PEEK_BYTES;
	while (in->ahead_end < want && got > 0) {
		struct err later = ERR_INIT; /* is found again by the read that gets there */

		got = next(in, in->ahead + in->ahead_end, PEEK_BYTES - in->ahead_end,
			   in->ahead_end > 0 ? &later : e);
		err_clear(&later);
		if (got > 0)
			in->ahead_end += (size_t)got;
	}
	if (got < 0 && in->ahead_end == 0)
		return (int)got;
	*bytes = in->ahead;
	*n = in->ahead_end < PEEK_BYTES ? in->ahead_end : PEEK_BYTES;
	return 0;
}

bool input_comes(struct input *in, int ms)
{
	if (in->follows && in->raw_at == in->raw_end && !in->raw_ended)
		return wait_growth(in, ms);
	return in->regular || in->fd < 0 || in->raw_at < in->raw_end || in->raw_ended ||
	       wait_bytes(in, ms) || progress_cancelled(in->progress);
}

uint8_t *input_take_ahead(struct input *in, size_t *n, size_t *cap)
{
	uint8_t *bytes = in->ahead;

	if (in->ahead_cap == 0)
		return NULL;
	*n = in->ahead_end - in->ahead_at;
	*cap = in->ahead_cap;
	if (in->ahead_at > 0)
		memmove(bytes, bytes + in->ahead_at, *n);
	in->offset += *n;
	in->ahead = NULL;
	in->ahead_cap = in->ahead_at = in->ahead_end = 0;
	return bytes;
}

ssize_t input_read(struct input *in, void *to, size_t max, struct err *e)
{
	size_t left = in->ahead_end - in->ahead_at;
	ssize_t got;

	if (max == 0)
		return 0;
	if (max > SSIZE_MAX)
		max = SSIZE_MAX;
	if (left > 0) {
		got = (ssize_t)(left < max ? left : max);
		memcpy(to, in->ahead + in->ahead_at, (size_t)got);
		in->ahead_at += (size_t)got;
		if (in->ahead_cap > 0 && in->ahead_at == in->ahead_end)
			free(input_take_ahead(in, &(size_t){ 0 }, &(size_t){ 0 }));
	} else {
		got = next(in, to, max, e);
	}
	if (got > 0)
		in->offset += (uint64_t)got;
	return got;
}

ssize_t input_read_full(struct input *in, void *to, size_t n, struct err *e)
{
	size_t done = 0;

	while (done < n) {
		struct err later = ERR_INIT; /* told by the next read */
		ssize_t got = input_read(in, (uint8_t *)to + done, n - done, done ? &later : e);

		err_clear(&later);
		if (got < 0 && done == 0)
			return got;
		if (got <= 0)
			break;
		done += (size_t)got;
	}
	return (ssize_t)done;
}

bool input_seekable(const struct input *in)
{
	return in->looked && !in->packing && (in->regular || in->fd < 0);
}

uint64_t input_file_bytes(const struct input *in)
{
	struct stat st;

	if (in->fd < 0)
		return in->mem_bytes;
	if (!in->regular || fstat(in->fd, &st) < 0 || st.st_size < 0)
		return 0;
	return (uint64_t)st.st_size > in->base ? (uint64_t)st.st_size - in->base : 0;
}

static int64_t ms_of(struct timespec t)
{
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/*
 * Only how long ago the last write before our first look was is told by the clock that people set: from then on writes are
 * noticed, and time is counted by a clock that nobody sets.
 */
int64_t input_quiet_ms(struct input *in)
{
	struct timespec now, mono;
	struct stat st;

	if (in->fd < 0 || !in->regular || fstat(in->fd, &st) < 0)
		return INT64_MAX;
	clock_gettime(CLOCK_REALTIME, &now);
	clock_gettime(CLOCK_MONOTONIC, &mono);
	if (!in->quiet.known || st.st_mtim.tv_sec != in->quiet.written.tv_sec ||
	    st.st_mtim.tv_nsec != in->quiet.written.tv_nsec) {
		int64_t before = in->quiet.known ? 0 : ms_of(now) - ms_of(st.st_mtim);

		in->quiet.known = true;
		in->quiet.written = st.st_mtim;
		in->quiet.since_ms = ms_of(mono) - (before > 0 ? before : 0);
	}
	return ms_of(mono) - in->quiet.since_ms;
}

bool input_has_writer(const struct input *in)
{
	bool known;

	return in->fd < 0 || !in->regular || has_writer(in, &known);
}

uint64_t input_file_done(const struct input *in)
{
	if (in->looked && !in->packing)
		return in->offset;
	return in->raw_read - (in->raw_end - in->raw_at);
}

uint64_t input_offset(const struct input *in)
{
	return in->offset;
}

ssize_t input_pread(struct input *in, void *to, size_t n, uint64_t offset, struct err *e)
{
	size_t done = 0;

	if (n > SSIZE_MAX)
		n = SSIZE_MAX;
	while (done < n) {
		ssize_t got;

		if (offset > UINT64_MAX - done)
			break;
		got = raw_pread(in, (uint8_t *)to + done, n - done, offset + done, e);
		if (got < 0)
			return got;
		if (got == 0)
			break;
		done += (size_t)got;
	}
	return (ssize_t)done;
}

const char *input_packing(const struct input *in)
{
	return in->packing ? in->packing->name : "";
}
