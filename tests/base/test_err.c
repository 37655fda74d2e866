/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "base/err.h"

#include <criterion/criterion.h>
#include <errno.h>

Test(err, first_failure_is_kept)
{
	struct err e = ERR_INIT;

	cr_assert_str_eq(err_text(&e), "no error");
	cr_assert_eq(err_set(&e, -EBADMSG, "bad record at %#x", 64u), -EBADMSG);
	cr_assert_eq(err_set(&e, -EIO, "later"), -EIO);
	cr_assert_eq(e.code, -EBADMSG);
	cr_assert_str_eq(err_text(&e), "bad record at 0x40");
	err_clear(&e);
	cr_assert_eq(e.code, 0);
	cr_assert_eq(err_set(&e, -EIO, "again"), -EIO);
	cr_assert_str_eq(err_text(&e), "again");
	err_clear(&e);
}

Test(err, nobody_cares)
{
	cr_assert_eq(err_set(NULL, -EIO, "%s", "x"), -EIO);
	err_clear(NULL);
	cr_assert_str_eq(err_text(NULL), "no error");
}
