/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The one-line editor; see prompt.h. */
#include "config.h"

#include "tui/contract/prompt.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "tui/contract/keymap.h"

/* Longer texts than this are not typed but pasted by mistake. */
#define MAX_TEXT_BYTES 4096u
#define MAX_HISTORY    100u

/* Is the code point at s one that sits on the one before it? */
static bool is_mark(const char *s, size_t n)
{
	size_t used;

	return text_cp_width(text_decode(s, n, &used)) == 0;
}

/* Start of the character before `at`, with the marks that sit on it. */
static size_t before(const struct prompt *p, size_t at)
{
	do {
		do
			at--;
		while (at > 0 && ((unsigned char)p->text[at] & 0xc0u) == 0x80u);
	} while (at > 0 && is_mark(p->text + at, p->n - at));
	return at;
}

/* Start of the character after the one at `at`. */
static size_t after(const struct prompt *p, size_t at)
{
	size_t used;

	do {
		text_decode(p->text + at, p->n - at, &used);
		at += used;
	} while (at < p->n && is_mark(p->text + at, p->n - at));
	return at;
}

void prompt_set(struct prompt *p, const char *s)
{
	size_t n = strlen(s);

	if (n + 1 > p->cap)
		p->text = vec_grow(p->text, &p->cap, n + 1, 1);
	memcpy(p->text, s, n + 1);
	p->n = p->cursor = n;
}

static enum prompt_result insert(struct prompt *p, uint32_t cp)
{
	char bytes[4];
	size_t n;

	if (text_is_unsafe(cp) || cp >= KEYCODE_NAMED)
		return PROMPT_UNCHANGED;
	n = text_encode(cp, bytes);
	if (p->n + n > MAX_TEXT_BYTES)
		return PROMPT_UNCHANGED;
	if (p->n + n + 1 > p->cap)
		p->text = vec_grow(p->text, &p->cap, p->n + n + 1, 1);
	memmove(p->text + p->cursor + n, p->text + p->cursor, p->n - p->cursor + 1);
	memcpy(p->text + p->cursor, bytes, n);
	p->n += n;
	p->cursor += n;
	p->touched = true;
	return PROMPT_CHANGED;
}

/* Takes [from, to) out and leaves the cursor there. */
static enum prompt_result erase(struct prompt *p, size_t from, size_t to)
{
	if (from == to)
		return PROMPT_UNCHANGED;
	memmove(p->text + from, p->text + to, p->n - to + 1);
	p->n -= to - from;
	p->cursor = from;
	return PROMPT_CHANGED;
}

static size_t word_before(const struct prompt *p)
{
	size_t at = p->cursor;

	while (at > 0 && p->text[at - 1] == ' ')
		at--;
	while (at > 0 && p->text[at - 1] != ' ')
		at--;
	return at;
}

/* Puts an entry of the history, or behind the newest one what was typed, into the text. */
static enum prompt_result recall(struct prompt *p, size_t entry)
{
	if (entry > p->history->n || entry == p->recalled)
		return PROMPT_UNCHANGED;
	if (p->recalled == p->history->n) {
		free(p->draft);
		p->draft = xstrdup(p->text);
	}
	p->recalled = entry;
	p->touched = true;
	prompt_set(p, entry < p->history->n ? p->history->at[entry] : p->draft);
	return PROMPT_CHANGED;
}

/* As the newest entry, and only there. */
static void remember(struct history *h, const char *text)
{
	size_t gone = h->n;

	if (*text == '\0')
		return;
	for (size_t i = 0; i < h->n; i++)
		if (strcmp(h->at[i], text) == 0)
			gone = i;
	if (gone == h->n && h->n >= MAX_HISTORY)
		gone = 0;
	if (gone < h->n) {
		free(h->at[gone]);
		memmove(h->at + gone, h->at + gone + 1, (h->n - gone - 1) * sizeof(*h->at));
		h->n--;
	}
	vec_push(h, xstrdup(text));
}

void prompt_init(struct prompt *p, const char *label, struct history *h)
{
	*p = (struct prompt){ .label = label, .history = h, .recalled = h->n };
	prompt_set(p, "");
}

void prompt_done(struct prompt *p)
{
	free(p->text);
	free(p->draft);
	*p = (struct prompt){ .label = NULL };
}

static enum prompt_result move(struct prompt *p, size_t to)
{
	p->cursor = to;
	return PROMPT_UNCHANGED;
}

/* Keys that change the text or leave; typed characters come here too. */
static enum prompt_result edit_key(struct prompt *p, uint32_t key)
{
	switch (key) {
	case KEYCODE_ENTER:
		remember(p->history, p->text);
		return PROMPT_DONE;
	case KEYCODE_ESC:
	case KEYCODE_CTRL('C'):
	case KEYCODE_CTRL('G'):
		return PROMPT_CANCELLED;
	case KEYCODE_BACKSPACE:
		if (p->n == 0)
			return PROMPT_CANCELLED;
		return p->cursor > 0 ? erase(p, before(p, p->cursor), p->cursor) : PROMPT_UNCHANGED;
	case KEYCODE_DELETE:
	case KEYCODE_CTRL('D'):
		return p->cursor < p->n ? erase(p, p->cursor, after(p, p->cursor))
					: PROMPT_UNCHANGED;
	case KEYCODE_CTRL('U'):
		return erase(p, 0, p->cursor);
	case KEYCODE_CTRL('K'):
		return erase(p, p->cursor, p->n);
	case KEYCODE_CTRL('W'):
		return erase(p, word_before(p), p->cursor);
	default:
		return insert(p, key);
	}
}

enum prompt_result prompt_key(struct prompt *p, uint32_t key)
{
	switch (key) {
	case KEYCODE_LEFT:
	case KEYCODE_CTRL('B'):
		return p->cursor > 0 ? move(p, before(p, p->cursor)) : PROMPT_UNCHANGED;
	case KEYCODE_RIGHT:
	case KEYCODE_CTRL('F'):
		return p->cursor < p->n ? move(p, after(p, p->cursor)) : PROMPT_UNCHANGED;
	case KEYCODE_HOME:
	case KEYCODE_CTRL('A'):
		return move(p, 0);
	case KEYCODE_END:
	case KEYCODE_CTRL('E'):
		return move(p, p->n);
	case KEYCODE_UP:
	case KEYCODE_CTRL('P'):
		return p->recalled > 0 ? recall(p, p->recalled - 1) : PROMPT_UNCHANGED;
	case KEYCODE_DOWN:
	case KEYCODE_CTRL('N'):
		return recall(p, p->recalled + 1);
	default:
		return edit_key(p, key);
	}
}

int prompt_draw(const struct prompt *p, struct canvas *c, int row, int col, int cols)
{
	int label = canvas_puts(c, row, col, cols, STYLE_PROMPT, p->label);
	int room = cols - label, used;
	size_t from = 0;

	/* one column stays free for the cursor behind the text */
	while (from < p->cursor && (int)text_width(p->text + from, p->cursor - from) > room - 1)
		from = after(p, from);
	used = canvas_put(c, row, col + label, room, STYLE_NORMAL, p->text + from, p->n - from);
	c->cursor_row = row;
	c->cursor_col = col + label + (int)text_width(p->text + from, p->cursor - from);
	return label + used;
}

void history_done(struct history *h)
{
	for (size_t i = 0; i < h->n; i++)
		free(h->at[i]);
	vec_done(h);
}
