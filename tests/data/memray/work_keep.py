# SPDX-License-Identifier: GPL-3.0-or-later
"""Keeps lists of texts and numbers, in three places."""


def make_texts(n):
    return [str(i) * 40 for i in range(n)]


def make_numbers(n):
    return [i * 1000003 for i in range(n)]


def keep(shelf, depth):
    if depth > 0:
        return keep(shelf, depth - 1)
    shelf.append(make_texts(9000))
    shelf.append(make_numbers(60000))
    return bytearray(3000000)


shelf = []
shelf.append(keep(shelf, 3))
shelf.append(bytearray(700000))
