/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What calls.out and parts.out were recorded of; doc/formats.md has the commands. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int fib(int n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}
static int odd(int n);
__attribute__((noinline)) static int even(int n)
{
	return n == 0 ? 1 : odd(n - 1);
}
__attribute__((noinline)) static int odd(int n)
{
	return n == 0 ? 0 : even(n - 1);
}
__attribute__((noinline)) static void work(char *b, int n)
{
	for (int i = 0; i < n; i++)
		b[i % 4096] ^= i;
}
__attribute__((noinline)) static void a(char *b)
{
	work(b, 1000);
}
__attribute__((noinline)) static void c(char *b)
{
	work(b, 3000);
	a(b);
}
static int cmp(const void *x, const void *y)
{
	return *(int *)x - *(int *)y;
}
int main(int argc, char **argv)
{
	char *b = calloc(1, 4096);
	int v[500];
	for (int i = 0; i < 500; i++)
		v[i] = (i * 7919) % 1000;
	qsort(v, 500, sizeof *v, cmp);
	a(b);
	c(b);
	for (int i = 0; i < 5; i++)
		c(b);
	printf("%d %d %d\n", fib(15), even(100), b[5] + v[3]);
	if (argc > 1)
		odd(7);
	free(b);
	return 0;
}
