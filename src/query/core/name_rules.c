/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "query/core/name_rules.h"

#include "base/err.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define RUST_HASH_DIGITS 16

/* The kernel cuts names of threads to so many bytes. */
#define COMM_BYTES 15

/* What gcc, clang and their linkers put behind names of parts and copies; a number may follow. */
static const char *const clones[] = { ".cold",     ".isra", ".constprop",  ".part",
				      ".lto_priv", ".llvm", ".localalias", ".clone" };

int name_rules_add(struct name_rules *r, const char *renaming, struct err *e)
{
	const char *mark = strchr(renaming, '=');
	struct renaming one;

	if (!mark || mark == renaming || !mark[1])
		return err_set(e, -EINVAL, "--map wants OLD=NEW, not \"%s\"", renaming);
	one.from = xasprintf("%.*s", (int)(mark - renaming), renaming);
	one.to = xstrdup(mark + 1);
	vec_push(&r->renamed, one);
	return 0;
}

void name_rules_pair(struct name_rules *r, const char *before, const char *after)
{
	vec_push(&r->paired, ((struct renaming){ xstrdup(before), xstrdup(after) }));
}

void name_rules_move(struct name_rules *r, const char *before, const char *after)
{
	vec_push(&r->moved, ((struct renaming){ xstrdup(before), xstrdup(after) }));
}

/* In order. */
static void add_function(struct name_rules *r, struct moved_function one)
{
	size_t at = r->functions.n;

	vec_push(&r->functions, one);
	for (; at > 0 && r->functions.at[at - 1].function > one.function; at--)
		r->functions.at[at] = r->functions.at[at - 1];
	r->functions.at[at] = one;
}

void name_rules_move_function(struct name_rules *r, uint32_t function)
{
	add_function(r, (struct moved_function){ function, (uint32_t)r->moved.n - 1, false });
}

void name_rules_part(struct name_rules *r, const char *before)
{
	vec_push(&r->gone, xasprintf("%s (before)", before));
}

void name_rules_part_function(struct name_rules *r, uint32_t function)
{
	add_function(r, (struct moved_function){ function, (uint32_t)r->gone.n - 1, true });
}

static int by_function(const void *a, const void *b)
{
	const struct moved_function *x = a, *y = b;

	return (x->function > y->function) - (x->function < y->function);
}

const char *name_rules_now(const struct name_rules *r, uint32_t function)
{
	const struct moved_function key = { .function = function }, *found = NULL;

	if (r->functions.n)
		found = bsearch(&key, r->functions.at, r->functions.n, sizeof(key), by_function);
	if (!found)
		return NULL;
	return found->gone ? r->gone.at[found->moved] : r->moved.at[found->moved].to;
}

void name_rules_doubt(struct name_rules *r, const char *unnumbered)
{
	vec_push(&r->unclear, xstrdup(unnumbered));
}

bool name_rules_is_doubted(const struct name_rules *r, const char *name)
{
	char *unnumbered;
	bool found = false;

	if (r->unclear.n == 0)
		return false;
	unnumbered = name_rules_unnumbered(name);
	for (size_t i = 0; i < r->unclear.n; i++)
		found |= strcmp(unnumbered, name) != 0 && strcmp(r->unclear.at[i], unnumbered) == 0;
	free(unnumbered);
	return found;
}

const char *name_rules_was(const struct name_rules *r, const char *after)
{
	for (size_t i = 0; i < r->moved.n; i++)
		if (strcmp(r->moved.at[i].to, after) == 0)
			return r->moved.at[i].from;
	return NULL;
}

static void free_names(struct renaming *one, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(one[i].from);
		free(one[i].to);
	}
}

void name_rules_done(struct name_rules *r)
{
	free_names(r->renamed.at, r->renamed.n);
	free_names(r->paired.at, r->paired.n);
	free_names(r->moved.at, r->moved.n);
	vec_done(&r->renamed);
	vec_done(&r->paired);
	vec_done(&r->moved);
	vec_done(&r->functions);
	for (size_t i = 0; i < r->gone.n; i++)
		free(r->gone.at[i]);
	vec_done(&r->gone);
	for (size_t i = 0; i < r->unclear.n; i++)
		free(r->unclear.at[i]);
	vec_done(&r->unclear);
}

static void copy_names(const struct renaming *one, size_t n, struct renaming *to)
{
	for (size_t i = 0; i < n; i++)
		to[i] = (struct renaming){ xstrdup(one[i].from), xstrdup(one[i].to) };
}

struct name_rules *name_rules_copy(const struct name_rules *r)
{
	struct name_rules *copy = xcalloc(1, sizeof(*copy));

	copy->loose = r->loose;
	vec_reserve(&copy->renamed, r->renamed.n);
	copy_names(r->renamed.at, r->renamed.n, copy->renamed.at);
	copy->renamed.n = r->renamed.n;
	vec_reserve(&copy->paired, r->paired.n);
	copy_names(r->paired.at, r->paired.n, copy->paired.at);
	copy->paired.n = r->paired.n;
	vec_reserve(&copy->moved, r->moved.n);
	copy_names(r->moved.at, r->moved.n, copy->moved.at);
	copy->moved.n = r->moved.n;
	for (size_t i = 0; i < r->functions.n; i++)
		vec_push(&copy->functions, r->functions.at[i]);
	for (size_t i = 0; i < r->gone.n; i++)
		vec_push(&copy->gone, xstrdup(r->gone.at[i]));
	for (size_t i = 0; i < r->unclear.n; i++)
		name_rules_doubt(copy, r->unclear.at[i]);
	copy->apart = r->apart;
	return copy;
}

void name_rules_free(struct name_rules *r)
{
	if (!r)
		return;
	name_rules_done(r);
	free(r);
}

bool name_rules_say(const struct name_rules *r)
{
	return r->loose || r->renamed.n || r->paired.n || r->moved.n || r->gone.n || r->unclear.n ||
	       r->apart;
}

static size_t digits_at(const char *s)
{
	return strspn(s, "0123456789");
}

/* Bytes of a clone's mark that begins at s: ".isra.0", ".cold"; 0: none does. */
static size_t clone_at(const char *s)
{
	for (size_t i = 0; i < sizeof(clones) / sizeof(*clones); i++) {
		size_t n = strlen(clones[i]);

		if (strncmp(s, clones[i], n) != 0)
			continue;
		if (s[n] == '.' && digits_at(s + n + 1))
			n += 1 + digits_at(s + n + 1);
		if (!isalnum((unsigned char)s[n]) && s[n] != '_')
			return n;
	}
	return 0;
}

/* Of " [clone .cold]"; 0: none begins there. */
static size_t clone_note_at(const char *s)
{
	static const char begin[] = " [clone ";
	const char *end = strncmp(s, begin, strlen(begin)) == 0 ? strchr(s, ']') : NULL;

	return end ? (size_t)(end - s) + 1 : 0;
}

/* Of "::h0123456789abcdef" at the end of a name; 0: there is none. */
static size_t rust_hash_at(const char *s)
{
	size_t n = strncmp(s, "::h", 3) == 0 ? strspn(s + 3, "0123456789abcdef") : 0;

	return n == RUST_HASH_DIGITS && !s[3 + n] ? 3 + n : 0;
}

/*
 * Of the number of a lambda, "#2" before '}' or "$_3", and of the line of "{lambda at x.cc:12}", as what debug information has no name
 * for is called; *kept is what of it stays.
 */
static size_t lambda_at(const char *s, size_t *kept)
{
	size_t n;

	*kept = 0;
	if ((*s == '#' || *s == ':') && (n = digits_at(s + 1)) > 0 && s[1 + n] == '}')
		return 1 + n;
	if (strncmp(s, "$_", 2) == 0 && (n = digits_at(s + 2)) > 0) {
		*kept = 2;
		return 2 + n;
	}
	return 0;
}

/* Of an address; "0x" stays. */
static size_t address_at(const char *s)
{
	return strncmp(s, "0x", 2) == 0 ? 2 + strspn(s + 2, "0123456789abcdefABCDEF") : 0;
}

/*
 * Of template arguments from '<' to the '>' that closes them. Operators have none of that: what follows "operator" is not
 * looked at, and neither is "->" within.
 */
static size_t arguments_at(const char *name, const char *s)
{
	static const char operator[] = "operator";
	size_t before = (size_t)(s - name), depth = 0;

	if (*s != '<' || before == 0 || s[1] == '\0')
		return 0;
	for (size_t k = 0; k <= 2 && before >= strlen(operator) + k; k++)
		if (strncmp(s - strlen(operator) - k, operator, strlen(operator)) == 0)
			return 0;
	/* "<T as Trait>::f" begins a part of a path: that is no list of arguments. */
	if (s[-1] == ':' && before > 1 && s[-2] == ':' && strchr(s, '>') && strstr(s, " as "))
		return 0;
	for (const char *at = s; *at; at++) {
		if (*at == '<')
			depth++;
		else if (*at == '>' && at[-1] != '-' && --depth == 0)
			return (size_t)(at - s) + 1;
	}
	return 0;
}

/* Bytes to leave out at s, of which the first kept stay. */
static size_t skip_at(const char *name, const char *s, size_t *kept)
{
	size_t n = lambda_at(s, kept);

	if (n)
		return n;
	*kept = 0;
	if ((n = clone_at(s)) || (n = clone_note_at(s)) || (n = rust_hash_at(s)))
		return n;
	n = address_at(s);
	*kept = n ? 2 : 0;
	return n ? n : arguments_at(name, s);
}

char *name_rules_loose(const char *name)
{
	char *out = xmalloc(strlen(name) + strlen("<…>") * strlen(name) + 1), *to = out;

	for (const char *s = name; *s;) {
		size_t kept, n = skip_at(name, s, &kept);

		if (n == 0 || (s == name && n == strlen(name))) {
			*to++ = *s++;
			continue;
		}
		if (*s == '<')
			to = stpcpy(to, "<…>");
		memcpy(to, s, kept);
		to += kept;
		s += n;
	}
	*to = '\0';
	return out;
}

/* Of ":12:3)", the line and column of what clang calls by them; the bracket is no part of it. */
static size_t line_at(const char *s)
{
	size_t n = *s == ':' ? digits_at(s + 1) : 0, k;

	if (n == 0 || s[1 + n] != ':')
		return 0;
	k = digits_at(s + 2 + n);
	return k > 0 && s[2 + n + k] == ')' ? 2 + n + k : 0;
}

/* Of a word with a number behind it, "'lambda12'" of llvm's names and ".func12" of Go's; *kept is the word. */
static size_t numbered_word_at(const char *s, size_t *kept)
{
	static const char *const words[] = { "'lambda", ".func", ".gowrap", ".deferwrap",
					     "-range" };

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		size_t n = strlen(words[i]), digits;

		if (strncmp(s, words[i], n) != 0)
			continue;
		digits = digits_at(s + n);
		*kept = n;
		if (digits == 0 && i > 0)
			continue;
		if (s[n + digits] == '\'' ||
		    (i > 0 && (!s[n + digits] || strchr(".-", s[n + digits]))))
			return n + digits;
	}
	return 0;
}

/* Of ".2" behind ".func1", a function without a name within one; the dot is kept. */
static size_t nested_at(const char *name, const char *s, size_t *kept)
{
	size_t n = *s == '.' ? digits_at(s + 1) : 0;

	*kept = 1;
	if (n == 0 || s == name || digits_at(s - 1) == 0 || !strstr(name, ".func"))
		return 0;
	return !s[1 + n] || strchr(".-", s[1 + n]) ? 1 + n : 0;
}

/* Bytes of a name to leave out at s, of which the first kept stay. */
static size_t number_at(const char *name, const char *s, size_t *kept)
{
	size_t n = lambda_at(s, kept);

	if (n || (n = numbered_word_at(s, kept)) || (n = nested_at(name, s, kept)))
		return n;
	*kept = 0;
	if ((n = line_at(s)) || (n = rust_hash_at(s)))
		return n;
	n = clone_at(s);
	/* ".isra.0": the mark stays. */
	*kept = n > 0 ? 1 + strcspn(s + 1, ".0123456789") : 0;
	return n;
}

char *name_rules_unnumbered(const char *name)
{
	char *out = xmalloc(strlen(name) + 1), *to = out;

	for (const char *s = name; *s;) {
		size_t kept, n = number_at(name, s, &kept);

		if (n == 0) {
			*to++ = *s++;
			continue;
		}
		memcpy(to, s, kept < n ? kept : n);
		to += kept < n ? kept : n;
		s += n;
	}
	*to = '\0';
	return out;
}

bool name_rules_numbered(const char *name)
{
	for (const char *s = name; *s; s++) {
		size_t kept, n = number_at(name, s, &kept);

		if (n > 0 && kept < n)
			return true;
	}
	return false;
}

/* Of "[app]", as what has no name is called by its module, what that one counts as; NULL: it is no such. */
static char *apply_made(const struct name_rules *r, const char *name)
{
	for (size_t i = 0; *name == '[' && i < r->paired.n; i++) {
		size_t n = strlen(r->paired.at[i].from);

		if (strncmp(name + 1, r->paired.at[i].from, n) == 0 &&
		    strcmp(name + 1 + n, "]") == 0)
			return xasprintf("[%s]", r->paired.at[i].to);
	}
	return NULL;
}

char *name_rules_apply(const struct name_rules *r, const char *name)
{
	char *made = apply_made(r, name), *loose;

	if (made)
		return made;
	loose = r->loose ? name_rules_loose(name) : xstrdup(name);
	for (size_t i = 0; i < r->renamed.n; i++) {
		const struct renaming *one = &r->renamed.at[i];

		if (strcmp(one->from, name) != 0 && strcmp(one->from, loose) != 0)
			continue;
		free(loose);
		return xstrdup(one->to);
	}
	return loose;
}

char *name_rules_apply_module(const struct name_rules *r, const char *name)
{
	for (size_t i = 0; i < r->paired.n; i++)
		if (strcmp(r->paired.at[i].from, name) == 0)
			return xstrdup(r->paired.at[i].to);
	return name_rules_apply(r, name);
}

char *name_rules_apply_thread(const struct name_rules *r, const char *name)
{
	for (size_t i = 0; *name && i < r->paired.n; i++)
		if (strncmp(r->paired.at[i].from, name, COMM_BYTES) == 0)
			return xasprintf("%.*s", COMM_BYTES, r->paired.at[i].to);
	return name_rules_apply(r, name);
}
