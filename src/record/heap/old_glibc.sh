#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Libraries to link with that have the names of glibc 2.17, and none newer, so that what is linked with them is loaded by any glibc
# since: old_glibc.sh DIRECTORY TABLE CPU CC…. What is weak and not in the table is looked for without a version.
set -eu
dir=$1 table=$2 cpu=$3
shift 3
rm -rf "$dir"
mkdir -p "$dir"
for library in $(sed '/^#/d; s/ .*//' "$table" | sort -u); do
    # aarch64 begins with 2.17
    sed -n "s/^$library //p" "$table" | case $cpu in aarch64) sed 's/^[^ ]*/2.17/' ;; *) cat ;; esac | LC_ALL=C sort >"$dir/names"
    sed 's/^[^ ]* \(.*\)/.globl \1; .type \1, %function; \1:/' "$dir/names" >"$dir/names.s"
    for version in $(cut -d ' ' -f 1 "$dir/names" | uniq); do
        echo "GLIBC_$version { $(sed -n "s/^$version \(.*\)/\1;/p" "$dir/names" | tr '\n' ' ') };"
    done >"$dir/names.map"
    "$@" -nostdlib -shared -Wl,-soname,"$library" -Wl,--version-script="$dir/names.map" -o "$dir/$library" "$dir/names.s"
done
rm "$dir"/names*
