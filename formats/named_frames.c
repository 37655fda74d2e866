/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions and locations of frames without addresses; colours by where interpreters keep what is not the program's. */
#include "config.h"

#include "formats/named_frames.h"

#include "elf/demangle.h"

#include <stdlib.h>
#include <string.h>

static enum family family_of(const char *path)
{
	static const char *const libraries[] = { "/node_modules/",  "/site-packages/",
						 "/dist-packages/", "/lib/python",
						 "/lib/ruby",       "/usr/lib/",
						 "/gems/",          "/.cargo/registry/" };

	if (*path == '\0')
		return FAMILY_UNKNOWN;
	if (strncmp(path, "node:", 5) == 0 || strncmp(path, "<frozen", 7) == 0)
		return FAMILY_LIBRARY;
	for (size_t i = 0; i < sizeof(libraries) / sizeof(*libraries); i++)
		if (strstr(path, libraries[i]))
			return FAMILY_LIBRARY;
	return FAMILY_PROGRAM;
}

/* Shortest of what is mangled: "_ZN". */
static bool is_mangled(const char *name)
{
	return name[0] == '_' && (name[1] == 'Z' || name[1] == 'R' || name[1] == '_');
}

static function_id function_in(struct profile *p, const struct named_frame *f, module_id m)
{
	const char *name = profile_string(p, f->name, NULL);
	char *plain = is_mangled(name) ? demangle(name, DEMANGLE_FULL) : NULL;
	string_id id = plain   ? build_cstring(p, plain)
		       : *name ? f->name
			       : build_cstring(p, "(anonymous)");

	free(plain);
	return build_function(p, id, m, 0, f->file, f->declared);
}

/* The module that a frame's file is. */
static module_id module_of(struct profile *p, const struct named_frame *f)
{
	const char *path = profile_string(p, f->file, NULL);

	return *path ? build_module(p, path, "", family_of(path)) : (module_id){ 0 };
}

function_id named_frame_function(struct profile *p, const struct named_frame *f, module_id m)
{
	return function_in(p, f, m.v ? m : module_of(p, f));
}

enum family named_frame_family(const char *path)
{
	static const char *const libc[] = { "libc.so",  "libc-2.",    "ld-linux",    "ld-2.",
					    "ld-musl",  "libpthread", "libm.so",     "libm-2.",
					    "librt.so", "libdl.so",   "libresolv.so" };
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	if (*path == '[')
		return strstr(path, "kernel") ? FAMILY_KERNEL : FAMILY_UNKNOWN;
	for (size_t i = 0; i < sizeof(libc) / sizeof(*libc); i++)
		if (strncmp(name, libc[i], strlen(libc[i])) == 0)
			return FAMILY_LIBC;
	return strstr(name, ".so") ? FAMILY_LIBRARY : FAMILY_PROGRAM;
}

module_id named_frame_object(struct profile *p, string_id path)
{
	const char *text = profile_string(p, path, NULL);

	return *text ? build_module(p, text, "", named_frame_family(text)) : (module_id){ 0 };
}

location_id named_frame_location_in(struct profile *p, const struct named_frame *f, module_id m)
{
	struct frame frame = { .function = function_in(p, f, m).v,
			       .file = f->file.v,
			       .line = f->line };

	return build_frames_location(p, &frame, 1);
}

location_id named_frame_location(struct profile *p, const struct named_frame *f)
{
	return named_frame_location_in(p, f, module_of(p, f));
}
