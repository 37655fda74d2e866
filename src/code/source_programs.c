/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "code/source_programs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "code/code_image.h"
#include "code/source_file.h"
#include "profile/profile.h"

/* Digits of a build-id that tell two programs of one path apart. */
#define ID_DIGITS 8

/* Of one file, that packs tell apart. */
#define PROGRAMS_MOST 64u

struct source_program *source_programs_note(source_programs *all, uint32_t module,
					    const struct code_image *image, const uint8_t *md5)
{
	struct source_program *p = all->n > 0 ? &all->at[all->n - 1] : NULL;

	if (!p || p->module != module) {
		vec_push(all, ((struct source_program){
				      .module = module,
				      .of = code_image_build_id(image),
				      .built_ns = code_image_built_ns(image),
			      }));
		p = &all->at[all->n - 1];
	}
	if (md5 && !p->has_md5) {
		memcpy(p->md5, md5, sizeof(p->md5));
		p->has_md5 = true;
	}
	return p;
}

struct source_program source_programs_first(const source_programs *all)
{
	struct source_program out = { .has_md5 = false };

	for (size_t i = 0; i < all->n; i++) {
		const struct source_program *p = &all->at[i];

		if (p->has_md5 && !out.has_md5) {
			memcpy(out.md5, p->md5, sizeof(out.md5));
			out.has_md5 = true;
		}
		if (out.of.n == 0)
			out.of = p->of;
		if (p->built_ns > out.built_ns)
			out.built_ns = p->built_ns;
	}
	return out;
}

static enum source_state state_for(const struct source_program *p, const struct source_file *f)
{
	const struct source_build b = { p->of, p->has_md5 ? p->md5 : NULL, p->built_ns };

	return source_file_state(f, &b);
}

/* All of them: another pack of the same file may say something else of its own. */
void source_programs_put(const source_programs *all, const struct source_file *f, pack_bytes *out)
{
	uint32_t put[PROGRAMS_MOST];
	uint32_t n = 0;

	for (uint32_t i = 0; i < all->n && n < PROGRAMS_MOST; i++)
		if (all->at[i].of.n > 0)
			put[n++] = i;
	pack_put(out, n);
	for (uint32_t i = 0; i < n; i++) {
		const struct source_program *p = &all->at[put[i]];

		pack_put_text(out, (const char *)p->of.bytes, p->of.n);
		pack_put(out, state_for(p, f));
	}
}

static const char *name_of(const struct profile *of, const struct source_program *p)
{
	const struct module *m = profile_module(of, (module_id){ p->module });
	const char *path = profile_string(of, m->path, NULL);

	return *path ? path : profile_string(of, m->name, NULL);
}

/* "/b/prog: ", "/b/prog and 2 others: ", with the build-id where two have the name. */
static char *say_programs(const source_programs *all, const struct profile *of, size_t which,
			  size_t n_others)
{
	const struct source_program *p = &all->at[which];
	const char *name = name_of(of, p);
	char hex[BUILD_ID_HEX_BYTES], others[48] = "";
	bool alone = true;

	for (size_t i = 0; i < all->n; i++)
		alone &= i == which || strcmp(name_of(of, &all->at[i]), name) != 0;
	if (n_others > 0)
		snprintf(others, sizeof(others), " and %zu other%s", n_others,
			 n_others == 1 ? "" : "s");
	if (alone || p->of.n == 0)
		return xasprintf("%s%s: ", name, others);
	return xasprintf("%s (build-id %.*s)%s: ", name, ID_DIGITS, build_id_hex(hex, &p->of),
			 others);
}

static bool is_doubtful(enum source_state state)
{
	return state == SOURCE_DIFFERENT || state == SOURCE_NEWER;
}

char *source_programs_doubt(const source_programs *all, const struct profile *p, bool by_side,
			    const struct source_file *f)
{
	enum source_state first = f->state;
	bool of_side[N_SIDES] = { false };
	size_t n = 0, which = 0;
	char *who, *out;

	for (size_t i = 0; i < all->n; i++) {
		enum source_state state = state_for(&all->at[i], f);

		if (!is_doubtful(state))
			continue;
		if (n++ == 0) {
			first = state;
			which = i;
		}
		for (int side = 0; side < N_SIDES; side++)
			of_side[side] |= all->at[i].of_side[side];
	}
	/* Packs may say so without a program. */
	if (n == 0 && (all->n > 0 || !is_doubtful(first)))
		return NULL;
	if (by_side)
		who = xstrdup(of_side[SIDE_BEFORE] == of_side[SIDE_AFTER] ? ""
			      : of_side[SIDE_BEFORE]                      ? "BEFORE: "
									  : "AFTER: ");
	else
		who = n == all->n ? xstrdup("") : say_programs(all, p, which, n - 1);
	out = xasprintf(first == SOURCE_DIFFERENT
				? "%s%s is not what was compiled (its MD5 differs): lines may be "
				  "others"
				: "%s%s is newer than the program (no MD5 to check): lines may be "
				  "others",
			who, f->path);
	free(who);
	return out;
}
