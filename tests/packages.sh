#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# packaging/ names the libraries that bootstrap installs and no others, and the version that configure has.
set -uo pipefail
cd "${srcdir:-.}" || exit 1
faults=0
fault() {
    printf 'FAIL: %s\n' "$*"
    faults=$((faults + 1))
}

# What a variable of bootstrap holds, word by word; only assignments are taken.
list_of() { sed -n "/^$1=/,/[')]\$/p" bootstrap | sed "s/^$1=//" | tr -d "()'" | tr -s ' \n' '\n\n' | grep .; }

# names FILE LIST EXCEPT: each word of bootstrap's list is a word of the file, but for those of a pattern.
names() {
    local word n=0
    for word in $(list_of "$2" | grep -vxE "$3"); do
        n=$((n + 1))
        tr -s '[:space:]",=' '\n' <"$1" | grep -qxF -- "$word" || fault "$1 lacks $word, which bootstrap installs"
    done
    [ $n -gt 10 ] || fault "only $n names in $2 of bootstrap"
}
# no_others FILE LISTS EXCEPT: each word on standard input, which the file asks for, is in one of bootstrap's lists, but for those of a pattern.
no_others() {
    local word n=0 lists
    lists=$(for list in $2; do list_of "$list"; done)
    while read -r word; do
        n=$((n + 1))
        grep -qxF -- "$word" <<<"$lists" || fault "$1 asks for $word, which bootstrap does not install"
    done < <(grep -vxE "$3")
    [ $n -gt 10 ] || fault "only $n names in $1"
}
no_others packaging/debian/control 'debian_libraries debian_packages' 'debhelper-compat|libisal-dev' < <(
    sed -n '/^Build-Depends:/,/^[A-Z][^:]*:/p' packaging/debian/control |
        sed '1s/^[^:]*://; 2,$ { /^[^ ]/d }; s/([^)]*)//g; s/\[[^]]*\]//g' | tr -s ', \n' '\n' | grep .)
no_others packaging/proftop.spec dnf_packages 'none' < <(sed -n 's/^BuildRequires: *//p' packaging/proftop.spec)
# shellcheck disable=SC1091,SC2154
no_others packaging/APKBUILD apk_packages 'none' < <(. packaging/APKBUILD && tr -s ' \t\n' '\n' <<<"$makedepends")
# those for tests excepted
names packaging/debian/control debian_libraries 'none'
names packaging/proftop.spec dnf_packages 'criterion-devel|libvterm-devel|tmux|python3|gcc-c\+\+|perf'
names packaging/APKBUILD apk_packages 'criterion-dev|libvterm-dev|tmux|python3|g\+\+|perf'
# nixpkgs has names of its own, one for each of pacman's.
nix_name() {
    case $1 in
        libelf) echo elfutils ;;
        xxhash) echo xxHash ;;
        protobuf-c) echo protobufc ;;
        pkgconf) echo pkg-config ;;
        binutils) echo libiberty ;;
        *) echo "$1" ;;
    esac
}
if command -v nix-instantiate >/dev/null; then
    # the store of any machine, and of none
    said=$(nix-instantiate --store dummy:// --parse packaging/proftop.nix 2>&1 >/dev/null) || fault "packaging/proftop.nix is no Nix expression: $said"
else
    echo "not run: nix-instantiate, which parses packaging/proftop.nix"
fi
nix_names=$(for word in $(list_of pacman_packages); do nix_name "$word"; done)
for word in $(sed -n 's/^ *\(nativeB\|b\)uildInputs = \[\(.*\)\];$/\2/p' packaging/proftop.nix); do
    grep -qxF -- "$word" <<<"$nix_names" || [[ $word == autoreconfHook || $word == isa-l ]] ||
        fault "packaging/proftop.nix asks for $word, which bootstrap does not install"
done
for word in $(list_of pacman_packages | grep -vxE 'autoconf|automake|make|gcc|criterion|libvterm|tmux|python|perf'); do
    grep -qE "[ [,]$(nix_name "$word")[], ]" packaging/proftop.nix || fault "packaging/proftop.nix lacks $(nix_name "$word")"
done

version=$(sed -n 's/^AC_INIT(\[proftop\], \[\(.*\)\])$/\1/p' configure.ac)
grep -q "^proftop ($version-" packaging/debian/changelog || fault "debian/changelog is not of version $version"
grep -q "^Version: *$version\$" packaging/proftop.spec || fault "proftop.spec is not of version $version"
grep -qx "pkgver=$version" packaging/APKBUILD || fault "APKBUILD is not of version $version"
grep -q "version = \"$version\";" packaging/proftop.nix || fault "proftop.nix is not of version $version"
# shellcheck disable=SC1091
sh -n packaging/APKBUILD || fault "APKBUILD is no script"

[ "$faults" = 0 ] || { echo "$faults faults"; exit 1; }
