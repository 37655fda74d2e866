/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Keys, their names, and the way from a key to an action; see keymap.h. */
#include "config.h"

#include "tui/contract/keymap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"

struct action_row {
	const char *name; /* in the config */
	const char *keys; /* default ones, separated by blanks */
	const char *hint; /* for the last line, or "" */
	const char *help;
	uint32_t where; /* IN_… */
};

static const struct action_row action_rows[N_ACTIONS] = {
	[ACTION_NONE] = { .name = "none", .keys = "", .hint = "", .help = "nothing" },
#define X(e, text, key, in, hints, what) \
	[ACTION_##e] = { .name = text, .keys = key, .hint = hints, .help = what, .where = in },
	ACTIONS(X)
#undef X
	};

struct key_row {
	const char *name; /* without < and > */
	uint32_t key;
};

/* The first name of a code is the one that is shown. */
static const struct key_row key_rows[] = { { "Enter", KEYCODE_ENTER },
					   { "Esc", KEYCODE_ESC },
					   { "Tab", KEYCODE_TAB },
					   { "Backspace", KEYCODE_BACKSPACE },
					   { "Space", ' ' },
					   { "lt", '<' },
					   { "Caret", '^' },
#define X(e, text) { text, KEYCODE_##e },
					   NAMED_KEYS(X)
#undef X
};
#define N_KEY_ROWS (sizeof(key_rows) / sizeof(key_rows[0]))

static const struct {
	uint32_t context;
	const char *name;
} context_names[] = {
	{ IN_LIST, "lists" },
	{ IN_TREE, "trees" },
	{ IN_FLAME, "flame" },
	{ IN_TOP, "top" },
	{ IN_BFLY, "butterfly" },
	{ IN_TEXT, "text" },
	{ IN_TASKS, "threads" },
	{ IN_TIME, "time" },
	{ IN_MEMORY, "memory" },
	{ IN_FINDINGS, "findings" },
	{ IN_HEAT, "heat map" },
	{ IN_LANES, "timeline" },
	{ IN_HEAP, "heap tables" },
	{ IN_LIVE, "live" },
	{ IN_ALIGN, "sides over time" },
	{ IN_HALF, "a side chosen" },
	{ IN_SIDES, "sides" },
};

/* <Name>: *keys stands on '<'. */
static uint32_t take_named(const char **keys, struct err *e)
{
	const char *name = *keys + 1, *end = strchr(name, '>');
	size_t n = end ? (size_t)(end - name) : strlen(name);

	for (size_t i = 0; end && i < N_KEY_ROWS; i++)
		if (strlen(key_rows[i].name) == n && strncmp(key_rows[i].name, name, n) == 0) {
			*keys = end + 1;
			return key_rows[i].key;
		}
	err_set(e, -EINVAL, "no key is called <%.*s%s (a < itself is written <lt>)", (int)n, name,
		end ? ">" : "");
	return KEYCODE_NONE;
}

/* Several control characters are keys of their own. */
static uint32_t fold_control(uint32_t key)
{
	if (key == '\n')
		return KEYCODE_ENTER;
	return key == 0x08 ? KEYCODE_BACKSPACE : key;
}

uint32_t keycode_take(const char **keys, struct err *e)
{
	const char *s = *keys;
	size_t used;
	uint32_t cp;

	if (*s == '\0')
		return KEYCODE_NONE;
	if (*s == '<')
		return take_named(keys, e);
	if (*s == '^' && s[1] >= 'A' && s[1] <= 'Z') {
		*keys = s + 2;
		return fold_control(KEYCODE_CTRL(s[1]));
	}
	cp = text_decode(s, strlen(s), &used);
	*keys = s + used;
	return fold_control(cp);
}

/* The name of a key that this word is, or NULL. "lt" is none that a person would type for a key. */
static const char *name_of_word(const char *word, size_t n)
{
	for (size_t i = 0; i < N_KEY_ROWS; i++)
		if (key_rows[i].key != '<' && strlen(key_rows[i].name) == n &&
		    memcmp(key_rows[i].name, word, n) == 0)
			return key_rows[i].name;
	return NULL;
}

const char *keycode_bare_name(const char *keys)
{
	const char *name = NULL;

	while (*keys != '\0' && !name) {
		size_t n = strcspn(keys, " ");

		name = name_of_word(keys, n);
		keys += n + (keys[n] == ' ');
	}
	return name;
}

const char *keycode_name(uint32_t key, char out[KEYCODE_NAME_SIZE])
{
	for (size_t i = 0; i < N_KEY_ROWS; i++)
		if (key_rows[i].key == key) {
			snprintf(out, KEYCODE_NAME_SIZE, "<%s>", key_rows[i].name);
			if (key == '^')
				strcpy(out, "^");
			return out;
		}
	if (key > 0 && key < 0x1b) {
		snprintf(out, KEYCODE_NAME_SIZE, "^%c", (char)('@' + key));
	} else if (key < KEYCODE_NAMED && !text_is_unsafe(key)) {
		out[text_encode(key, out)] = '\0';
	} else {
		strcpy(out, "?");
	}
	return out;
}

const char *action_name(enum action a)
{
	return action_rows[a].name;
}

const char *action_help(enum action a)
{
	return action_rows[a].help;
}

const char *action_hint(enum action a)
{
	return action_rows[a].hint;
}

/* What an action does in views of some contexts. */
static const struct {
	enum action action;
	uint32_t where;
	const char *hint, *help;
} here_rows[] = {
#define X(name, where, hint, help) { ACTION_##name, where, hint, help },
	ACTIONS_HERE(X)
#undef X
};

#define N_HERE_ROWS (sizeof(here_rows) / sizeof(here_rows[0]))

static size_t here_row(enum action a, uint32_t contexts)
{
	size_t i = 0;

	while (i < N_HERE_ROWS && (here_rows[i].action != a || !(here_rows[i].where & contexts)))
		i++;
	return i;
}

const char *action_help_in(enum action a, uint32_t contexts)
{
	size_t i = here_row(a, contexts);

	return i < N_HERE_ROWS ? here_rows[i].help : action_help(a);
}

const char *action_hint_in(enum action a, uint32_t contexts)
{
	size_t i = here_row(a, contexts);

	return i < N_HERE_ROWS ? here_rows[i].hint : action_hint(a);
}

uint32_t action_where(enum action a)
{
	return action_rows[a].where;
}

/* ACTION_NONE when there is none of that name. */
static enum action action_find(const char *name)
{
	for (int a = ACTION_NONE + 1; a < N_ACTIONS; a++)
		if (strcmp(action_rows[a].name, name) == 0)
			return (enum action)a;
	return ACTION_NONE;
}

void keymap_done(struct keymap *m)
{
	vec_done(m);
}

/* -1 for "all", -2 for no view. */
static int view_of_name(const char *name)
{
	static const char *const names[N_VIEW_KINDS] = {
#define X(e, text) [VIEW_KIND_##e] = text,
		VIEWS(X)
#undef X
	};

	if (strcmp(name, "all") == 0)
		return -1;
	for (int i = 0; i < N_VIEW_KINDS; i++)
		if (strcmp(names[i], name) == 0)
			return i;
	return -2;
}

int keymap_bind(struct keymap *m, const char *view, const char *key, const char *action,
		struct err *e)
{
	struct binding b = { .view = view_of_name(view), .action = action_find(action) };
	const char *rest = key;

	if (b.view == -2)
		return err_set(e, -EINVAL, "no view is called '%s' (or all)", view);
	b.key = keycode_take(&rest, e);
	if (b.key == KEYCODE_NONE)
		return err_set(e, -EINVAL, "'%s' is no key", key);
	if (*rest != '\0')
		return err_set(e, -EINVAL, "'%s' is more than one key", key);
	if (b.action == ACTION_NONE && strcmp(action, "none") != 0)
		return err_set(e, -EINVAL, "no action is called '%s' (see doc/keys.md, or none)",
			       action);
	vec_push(m, b);
	return 0;
}

/* The newest binding of key for exactly that view. */
static const struct binding *bound(const struct keymap *m, int view, uint32_t key)
{
	for (size_t i = m->n; i > 0; i--)
		if (m->at[i - 1].view == view && m->at[i - 1].key == key)
			return &m->at[i - 1];
	return NULL;
}

/* Takes one name off a list separated by blanks. */
static uint32_t next_default(const char **keys)
{
	while (**keys == ' ')
		(*keys)++;
	return keycode_take(keys, NULL);
}

static bool has_default(enum action a, uint32_t key)
{
	const char *keys = action_rows[a].keys;
	uint32_t k;

	while ((k = next_default(&keys)) != KEYCODE_NONE)
		if (k == key)
			return true;
	return false;
}

enum action keymap_find(const struct keymap *m, enum view_kind view, uint32_t contexts,
			uint32_t key)
{
	const struct binding *b = bound(m, (int)view, key);

	if (!b)
		b = bound(m, -1, key);
	if (b)
		return action_rows[b->action].where & contexts ? b->action : ACTION_NONE;
	for (int a = ACTION_NONE + 1; a < N_ACTIONS; a++)
		if ((action_rows[a].where & contexts) && has_default((enum action)a, key))
			return (enum action)a;
	return ACTION_NONE;
}

static void add_key(char *out, size_t size, uint32_t key)
{
	char name[KEYCODE_NAME_SIZE];
	size_t n = strlen(out);

	keycode_name(key, name);
	if (n + strlen(name) + 2 <= size)
		snprintf(out + n, size - n, "%s%s", n > 0 ? " " : "", name);
}

const char *keymap_keys(const struct keymap *m, enum view_kind view, uint32_t contexts,
			enum action a, char *out, size_t size)
{
	const char *keys = action_rows[a].keys;
	uint32_t k;

	out[0] = '\0';
	for (size_t i = 0; i < m->n; i++) {
		const struct binding *b = &m->at[i];

		if (b->action == a && keymap_find(m, view, contexts, b->key) == a &&
		    !has_default(a, b->key))
			add_key(out, size, b->key);
	}
	while ((k = next_default(&keys)) != KEYCODE_NONE)
		if (keymap_find(m, view, contexts, k) == a)
			add_key(out, size, k);
	return out;
}

static void write_where(FILE *to, uint32_t where)
{
	const char *comma = "";

	if (where == IN_ALL) {
		fputs("everywhere", to);
		return;
	}
	for (size_t i = 0; i < sizeof(context_names) / sizeof(context_names[0]); i++) {
		if (!(where & context_names[i].context))
			continue;
		fprintf(to, "%s%s", comma, context_names[i].name);
		comma = ", ";
	}
}

/* `j` `<Down>`: names of keys, each in a code span. */
static void write_keys(FILE *to, const char *keys)
{
	char name[KEYCODE_NAME_SIZE];
	const char *blank = "";
	uint32_t k;

	while ((k = next_default(&keys)) != KEYCODE_NONE) {
		fprintf(to, "%s`%s`", blank, keycode_name(k, name));
		blank = " ";
	}
}

void keymap_write_markdown(FILE *to)
{
	fputs("# Keys\n\n"
	      "Made from the table in tui/contract/actions.h; `?` shows those that work where you are.\n"
	      "In `$XDG_CONFIG_HOME/proftop/config`, `bind VIEW KEY ACTION` changes one; VIEW is\n"
	      "`all` or the name of a view, ACTION a name from the second column or `none`.\n\n"
	      "| Keys | Action | Where | What it does |\n"
	      "|---|---|---|---|\n",
	      to);
	for (int a = ACTION_NONE + 1; a < N_ACTIONS; a++) {
		const struct action_row *row = &action_rows[a];

		if (row->help[0] == '\0')
			continue;
		fputs("| ", to);
		write_keys(to, row->keys);
		fprintf(to, " | %s | ", row->name);
		write_where(to, row->where);
		fprintf(to, " | %s |\n", row->help);
	}
	fputs("\nNames of keys:", to);
	for (size_t i = 0; i < N_KEY_ROWS; i++)
		fprintf(to, " `<%s>`", key_rows[i].name);
	fputs(", `^D` for Control and a letter; any other character is itself.\n", to);
}
