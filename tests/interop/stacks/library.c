// SPDX-License-Identifier: GPL-3.0-or-later
/* Opened while stacks.c runs. */
void library_call(void (*back)(void));

static volatile unsigned long spent;

static __attribute__((noinline)) void inside(unsigned n, void (*back)(void))
{
	for (unsigned i = 0; i < 2000; i++)
		spent += i;
	if (n > 0)
		inside(n - 1, back);
	else
		back();
	spent++;
}

void library_call(void (*back)(void))
{
	inside(12, back);
	spent++;
}
