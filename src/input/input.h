/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * An input as its reader wants it: bytes in order, unpacked (gzip, zstd, xz, bzip2 by content), from a file, a
 * pipe or standard input; random access where the file itself is plain.
 *
 * From a pipe comes what is there: a reader has it while the writer still thinks. Reads go through read(2), never a mapping, so that a file which shrinks while open is a short
 * read and not a SIGBUS.
 */
#ifndef PROFTOP_INPUT_INPUT_H
#define PROFTOP_INPUT_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct err;
struct input;
struct progress;

/*
 * "-" is standard input. Of a directory its file "data" is read, as perf record --threads and --kcore
 * write it; without one it is refused here with a sentence. Caller closes.
 */
int input_open(const char *path, struct input **out, struct err *e);
/* Bytes in memory, for tests and fuzzing; borrowed until input_close(). */
struct input *input_of_bytes(const void *bytes, size_t n, const char *name);
void input_close(struct input *in);

/* Waiting for a pipe ends with -ECANCELED when progress (borrowed) is cancelled. */
void input_watch(struct input *in, const struct progress *progress);

/*
 * Is a regular file, from now on, one that is being written? Its end is then waited for as a pipe's is, and comes when
 * nobody has it open for writing any more, or a while after its last byte where the system cannot tell. An empty one has not begun.
 */
void input_follow(struct input *in, bool yes);
bool input_follows(const struct input *in);
/* Some files say how much of them is good so far: bytes from end(arg) on are waited for, too. */
void input_follow_to(struct input *in, uint64_t (*end)(void *arg), void *arg);

/*
 * A recording that goes with us, and that nobody else reads: on disk is only its head, and what was not read yet, where the file
 * system knows holes. What is read from front to back is spent as it is read; of what is read elsewhere the reader says it.
 */
void input_scratch(struct input *in);
/* Of such a one: nothing before that offset is read again. Does nothing to others. */
void input_spend(struct input *in, uint64_t before);
/* Is a part of the file not there, on disk? */
bool input_has_hole(const struct input *in);

/* What input_ahead() unpacks at most. */
#define INPUT_AHEAD_BYTES ((size_t)16 << 20)

/* Unpacks the beginning of a packed regular file, of which nothing was read yet: on another thread than the reader's, before its turn. */
void input_ahead(struct input *in);
/* Has that come to the end? */
bool input_all_ahead(const struct input *in);
/* Takes what it unpacked, *n bytes in a buffer of *cap that the caller frees; NULL where there is none. */
uint8_t *input_take_ahead(struct input *in, size_t *n, size_t *cap);

/* The name for messages: the path, or "standard input". Borrowed. */
const char *input_name(const struct input *in);

/* From now on: the same input read from elsewhere keeps the name that it was asked for by. */
void input_rename(struct input *in, const char *name);

/* The directory whose file "data" it is, as it was named; NULL for other inputs. Borrowed. */
const char *input_directory(const struct input *in);

/* At least min(want, all there is) unpacked bytes without taking them; *n of them. want <= 64 KiB. */
int input_peek(struct input *in, size_t want, const uint8_t **bytes, size_t *n, struct err *e);

/* Does more than what was peeked at come, or the end, within ms? Files never make anybody wait. */
bool input_comes(struct input *in, int ms);

/*
 * Up to max unpacked bytes, at least one unless at the end. Returns how many, 0 at the end, or -errno
 * with a sentence; a broken compressed stream gives what came before the damage first.
 */
ssize_t input_read(struct input *in, void *to, size_t max, struct err *e);
/* Fills all of n unless the end or an error comes first; returns how many came, or -errno if none. */
ssize_t input_read_full(struct input *in, void *to, size_t n, struct err *e);

/* Plain regular file: pread works and the size is known. */
bool input_seekable(const struct input *in);
/* Bytes of the file itself, packed; 0 where unknown (pipes). May have grown since. */
uint64_t input_file_bytes(const struct input *in);
/* How long ago the file was written to, whatever the clock was set to since it was first asked; INT64_MAX where that is unknown. */
int64_t input_quiet_ms(struct input *in);
/* Has anybody the file open for writing? True also where nobody can tell. */
bool input_has_writer(const struct input *in);
/* Bytes of the file taken so far, packed; for progress. */
uint64_t input_file_done(const struct input *in);
/* Unpacked bytes taken by input_read so far: offsets in messages. */
uint64_t input_offset(const struct input *in);
/* As pread(2), retried until n or the end; seekable inputs only. Does not move input_offset(). */
ssize_t input_pread(struct input *in, void *to, size_t n, uint64_t offset, struct err *e);
/* How it was packed: "gzip", "zstd", "" … ; known after the first peek or read. */
const char *input_packing(const struct input *in);

#endif
