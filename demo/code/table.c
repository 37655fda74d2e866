/* SPDX-License-Identifier: GPL-3.0-or-later */
/* For the screens of the tour: a hash table and a matrix. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned hash(const char *s)
{
	unsigned h = 5381;

	while (*s)
		h = h * 33 + (unsigned char)*s++;
	return h;
}

__attribute__((noinline)) static unsigned table(unsigned n)
{
	unsigned *slots = calloc(4096, sizeof(*slots)), most = 0;
	char name[32];

	for (unsigned i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "key %u of the table", i);
		unsigned at = hash(name) % 4096;
		if (++slots[at] > most)
			most = slots[at];
	}
	free(slots);
	return most;
}

__attribute__((noinline)) static double matrix(int n)
{
	static double a[200][200], b[200][200], c[200][200];
	double sum = 0;

	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++) {
			a[i][j] = i + j;
			b[i][j] = i - j;
		}
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++) {
			double x = 0;
			for (int k = 0; k < n; k++)
				x += a[i][k] * b[k][j];
			c[i][j] = x;
			sum += x;
		}
	return sum + c[n / 2][n / 2];
}

int main(void)
{
	double sum = 0;

	for (int i = 0; i < 60; i++)
		sum += table(40000) + matrix(200);
	printf("%g\n", sum);
	return 0;
}
