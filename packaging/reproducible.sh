#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# make reproducible: that the tarball and the packages of one tree of sources are equal to the byte, made twice: in two
# directories, at two times, with another umask, locale and time zone. packaging/reproducible.sh TARBALL KIND… (deb, rpm)
set -uo pipefail

tarball=$(realpath "$1")
shift
dir=$(mktemp -d)
trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT

# made WHERE ENVIRONMENT…: the packages, in WHERE/build/packages
made() {
    local where=$dir/$1
    shift
    mkdir -p "$where/build"
    tar -xf "$tarball" -C "$where" --strip-components=1
    (cd "$where/build" && env "$@" sh -c '../configure -q && for kind in '"$kinds"'; do make -s "$kind" || exit; done') \
        >"$where.log" 2>&1 || { tail -n 30 "$where.log" && exit 1; }
}
kinds="dist-xz $*"
(umask 022 && made one TZ=UTC LC_ALL=C.UTF-8) || exit
sleep 1
(umask 077 && made another/and/longer TZ=Asia/Tokyo LC_ALL=C) || exit
faults=0
n=0
while read -r file; do
    other=$dir/another/and/longer/build/$file
    if cmp "$dir/one/build/$file" "$other"; then
        n=$((n + 1))
        echo "equal: ${file##*/}, $(sha256sum <"$other" | cut -c1-64)"
    else
        faults=$((faults + 1))
    fi
done < <(cd "$dir/one/build" && find . \( -name '*.deb' -o -name '*.rpm' -o -name 'proftop-*.tar.xz' \) ! -path '*/SOURCES/*' | LC_ALL=C sort)
[ "$faults" = 0 ] || { echo "$faults files differ"; exit 1; }
# the tarball, and at least a file of each kind
[ "$n" -gt $# ] || { echo "only $n files were compared"; exit 1; }
