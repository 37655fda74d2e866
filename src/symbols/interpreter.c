/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Source: "Python support for the Linux perf profiler", docs.python.org. */
#include "config.h"

#include "symbols/interpreter.h"

#include <stdio.h>
#include <string.h>

bool interpreter_is_silent(const char *module, struct interpreter *out)
{
	const char *name = strncmp(module, "lib", 3) == 0 ? module + 3 : module;
	struct interpreter v;
	int end = 0;

	/* libpython3.so hands on to another library, and python-config is a script. */
	if (sscanf(name, "python%1d.%2d%n", &v.major, &v.minor, &end) != 2 ||
	    (name[end] && !strchr(".dmu-", name[end])))
		return false;
	if (v.major > 3 || (v.major == 3 && v.minor >= 12))
		return false;
	*out = v;
	return true;
}
