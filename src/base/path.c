/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "base/path.h"

#include <string.h>

const char *path_last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

size_t path_common_end(const char *a, const char *b)
{
	size_t n = strlen(a), k = strlen(b), same = 0;

	while (same < n && same < k && a[n - 1 - same] == b[k - 1 - same])
		same++;
	return same;
}

uint32_t path_common_parts(const char *a, const char *b)
{
	size_t n = strlen(a), k = strlen(b), same = path_common_end(a, b);
	uint32_t parts = 0;

	for (size_t i = n - same; i < n; i++)
		parts += a[i] == '/';
	if ((same == n && same < k && b[k - 1 - same] == '/') ||
	    (same == k && same < n && a[n - 1 - same] == '/'))
		parts++;
	return parts;
}
