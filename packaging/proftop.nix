# SPDX-License-Identifier: GPL-3.0-or-later
{ lib, stdenv, autoreconfHook, pkg-config, protobufc, ncurses, elfutils, zstd, zlib, isa-l, xz, bzip2, pcre2, xxHash,
  libiberty, yajl, capstone }:

stdenv.mkDerivation {
  pname = "proftop";
  version = "0.1.0";
  src = lib.cleanSource ./..;
  nativeBuildInputs = [ autoreconfHook pkg-config protobufc ];
  buildInputs = [ ncurses elfutils zstd zlib isa-l xz bzip2 pcre2 xxHash libiberty protobufc yajl capstone ];
  enableParallelBuilding = true;
  doCheck = true;
  checkPhase = ''
    ./proftop report --symbols tests/data tests/data/demo.data | grep -q match_length
  '';
  meta = {
    description = "Records, opens and compares CPU and heap profiles in the terminal";
    license = lib.licenses.gpl3Plus;
    platforms = lib.platforms.linux;
    mainProgram = "proftop";
  };
}
