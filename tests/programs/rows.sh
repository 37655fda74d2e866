# SPDX-License-Identifier: GPL-3.0-or-later
# The programs of `make programs`, sourced by programs.sh. A row is a line `row NAME 'PACKAGES' 'WHAT'` and run_NAME, which runs in an empty
# directory ($work), writes "${rec[@]}" before the program, and ends with the status that is compared; what it prints is
# compared, too. Of use are also:
#
#   prepare_NAME   says with `has` what it needs, and builds with `once` what is kept in $shared; false: it is not tried
#   filter_NAME    takes what is different each time out of the output
#   reason_NAME    prints why counts cannot be equal, where they are not
#
# Servers are the program; what is compared is what their clients print.
# shellcheck shell=bash

# stopped PID: it is asked to end; its status.
stopped() {
    kill -TERM "$1" 2>/dev/null
    wait "$1"
}

# --- servers ----------------------------------------------------------------------------------

row redis redis-server 'redis under redis-benchmark'
prepare_redis() { has redis-server redis-benchmark redis-cli; }
run_redis() {
    "${rec[@]}" redis-server --port 0 --unixsocket "$work/s" --save '' --daemonize no --logfile "$work/redis.log" --io-threads 2 &
    local pid=$!
    wait_for redis-cli -s "$work/s" ping || return 90
    redis-benchmark -s "$work/s" -n 20000 -c 20 -t set,get,lpush,hset,zadd -d 100 -r 1000 --csv 2>&1 | cut -d, -f1
    redis-cli -s "$work/s" eval 'return redis.call("strlen", "key:000000000001") >= 0 and "fine"' 0
    redis-cli -s "$work/s" dbsize
    stopped $pid
}
filter_redis() { grep -v '^[0-9]*$'; }

row nginx nginx 'nginx with two workers'
prepare_nginx() { PATH=$PATH:/usr/sbin has nginx curl; }
run_nginx() {
    PATH=$PATH:/usr/sbin
    mkdir -p www tmp && printf 'hello\n' >www/a && chmod -R a+rX "$work"
    cat >nginx.conf <<EOF
daemon off; worker_processes 2; pid $work/pid; error_log $work/error.log;
events { worker_connections 64; }
http { access_log off; client_body_temp_path $work/tmp; proxy_temp_path $work/tmp; fastcgi_temp_path $work/tmp; uwsgi_temp_path $work/tmp;
  scgi_temp_path $work/tmp; gzip on; gzip_min_length 1; gzip_types text/plain; default_type text/plain;
  server { listen unix:$work/s; root $work/www; location /again { rewrite ^ /a; } } }
EOF
    "${rec[@]}" nginx -p "$work" -c "$work/nginx.conf" &
    local pid=$! i
    wait_for curl -s --unix-socket s http://x/a || return 90
    for i in {1..50}; do curl -s --compressed --unix-socket s "http://x/a"; curl -s -o /dev/null -w '%{http_code}\n' --unix-socket s "http://x/again$i"; done
    stopped $pid
}

row postgres postgresql 'postgres under pgbench'
pg() { echo /usr/lib/postgresql/*/bin; }
prepare_postgres() {
    PATH=$PATH:$(pg) has postgres initdb pgbench runuser || return 1
    id postgres >/dev/null 2>&1 || { missing='there is no user postgres'; return 1; }
    [ "$(id -u)" = 0 ] || { missing='it wants root, to become its user'; return 1; }
}
run_postgres() {
    PATH=$PATH:$(pg)
    chmod 755 "$work/.." "$work"
    install -d -o postgres "$work/pg"
    (cd / && runuser -u postgres -- "$(command -v initdb)" -D "$work/pg/data" -A trust >/dev/null) || return 91
    (cd / && exec runuser -u postgres -- "${rec[@]}" "$(command -v postgres)" -D "$work/pg/data" -k "$work/pg" -h '' >"$work/pg.log" 2>&1) &
    local pid=$! server
    wait_for psql -h "$work/pg" -U postgres -c 'select 1' || return 90
    pgbench -h "$work/pg" -U postgres -i -q postgres >/dev/null 2>&1
    pgbench -h "$work/pg" -U postgres -c 4 -j 2 -t 200 -n postgres 2>&1 | grep -E 'processed|failed'
    psql -h "$work/pg" -U postgres -At -c 'select count(*), sum(length(filler)) from pgbench_accounts'
    server=$(head -n 1 "$work/pg/data/postmaster.pid")
    kill -INT "$server"
    wait $pid
}

row mariadb mariadb-server 'mariadb, and what its clients ask'
prepare_mariadb() { PATH=$PATH:/usr/sbin has mariadbd mariadb-install-db mariadb; }
run_mariadb() {
    PATH=$PATH:/usr/sbin
    mkdir -p data && mariadb-install-db --user=root --datadir="$work/data" --auth-root-authentication-method=normal >install.log 2>&1 || return 91
    "${rec[@]}" mariadbd --no-defaults --user=root --datadir="$work/data" --socket="$work/s" --skip-networking --pid-file="$work/pid" 2>mariadb.log &
    local pid=$!
    wait_for mariadb -S "$work/s" -u root -e 'select 1' || return 90
    mariadb -S "$work/s" -u root -N -e 'create database d; use d; create table t(a int primary key, b text);
        insert into t select seq, repeat(md5(seq), 3) from seq_1_to_20000; select count(*), max(b), sum(length(b)) from t where b > "5";
        alter table t add index(b(10)); select count(distinct left(b, 2)) from t;'
    stopped $pid
}

# --- programs that do one thing ---------------------------------------------------------------

row sqlite sqlite3 'sqlite: import, index, query'
prepare_sqlite() { has sqlite3; }
run_sqlite() {
    seq 1 50000 | awk '{ print $1 "," ($1 * 7919) % 100003 ",text of " $1 }' >in.csv
    "${rec[@]}" sqlite3 db 'create table t(a integer primary key, b integer, c text);' '.mode csv' '.import in.csv t' 'create index i on t(b, c);' \
        'select count(*), sum(b), max(c) from t where b > 500;' 'delete from t where a % 3 = 0;' 'vacuum;' 'select count(*) from t;'
}

row git git 'git gc of a repository'
prepare_git() {
    has git || return 1
    [ -e "$shared/repository/done" ] && return
    once git init -q "$shared/repository" && (
        cd "$shared/repository" && git config user.email a@b && git config user.name a && git config gc.auto 0 &&
            for i in {1..40}; do seq 1 $((i * 50)) >"file$((i % 7))" && git add . && git commit -qm "$i" || exit 1; done
        touch .git/done done
    )
}
run_git() {
    cp -r "$shared/repository" r && cd r || return 91
    "${rec[@]}" git gc --aggressive --prune=now --quiet && "${rec[@]}" git fsck --no-progress && "${rec[@]}" git log --stat --oneline | tail -n 3 | cut -d' ' -f2-
}

row python 'python3 python3-pandas' 'python3 with pandas'
prepare_python() {
    has /usr/bin/python3 && { /usr/bin/python3 -c 'import pandas' 2>/dev/null || { missing='pandas is not installed'; return 1; }; }
}
run_python() {
    PYTHONHASHSEED=0 PYTHONMALLOC=malloc "${rec[@]}" /usr/bin/python3 -c '
import pandas, numpy
f = pandas.DataFrame({"a": numpy.arange(50000) % 97, "b": numpy.arange(50000) * 0.5, "c": ["x" * (i % 9) for i in range(50000)]})
print(f.groupby("a").b.sum().head(), f.c.str.len().sum())
f.to_csv("o.csv"); print(pandas.read_csv("o.csv").describe()); raise SystemExit(7)'
}

row node nodejs 'node: buffers, zlib, a worker'
prepare_node() { has node; }
run_node() {
    "${rec[@]}" node -e '
const { Worker } = require("worker_threads"), zlib = require("zlib"), m = new Map();
for (let i = 0; i < 30000; i++) m.set("k" + i, Buffer.alloc(i % 300));
console.log(m.size, zlib.gunzipSync(zlib.gzipSync(Buffer.alloc(1e6, "ab"))).length);
new Worker("require(\"worker_threads\").parentPort.postMessage(6 * 7)", { eval: true }).on("message", x => console.log(x));
process.on("exit", () => { process.exitCode = 5; });'
}

row jvm default-jdk-headless 'a JVM that compiles and runs threads'
prepare_jvm() {
    has java javac || return 1
    cat >"$shared/Prog.java" <<'J'
public class Prog {
    public static void main(String[] a) throws Exception {
        Thread[] t = new Thread[4];
        for (int i = 0; i < 4; i++) { t[i] = new Thread(() -> { long n = 0; for (int k = 0; k < 300000; k++) n += ("x" + k).hashCode(); }); t[i].start(); }
        for (Thread x : t) x.join();
        java.util.zip.Deflater d = new java.util.zip.Deflater();
        d.setInput(new byte[100000]); d.finish();
        System.out.println("done " + d.deflate(new byte[1000]));
        System.exit(6);
    }
}
J
    once javac -d "$shared" "$shared/Prog.java"
}
run_jvm() { "${rec[@]}" java -Xmx128m -cp "$shared" Prog; }
reason_jvm() { echo "its own threads run until exit_group, and beyond our end and the counter's"; }

# --- Go, Rust ---------------------------------------------------------------------------------

row cgo golang-go 'Go with C: goroutines that allocate in C'
prepare_cgo() {
    has go || return 1
    mkdir -p "$shared/cgo" && cat >"$shared/cgo/main.go" <<'G'
package main

// #include <stdlib.h>
// #include <unistd.h>
// static void *take(int n) { return malloc(n); }
import "C"
import (
	"fmt"
	"os/user"
	"sync"
)

func work(n int) {
	for i := 0; i < n; i++ {
		C.free(C.take(C.int(i%500 + 1)))
	}
}

func main() {
	var w sync.WaitGroup
	for g := 0; g < 8; g++ {
		w.Add(1)
		go func() { defer w.Done(); work(2000) }()
	}
	w.Wait()
	u, err := user.Current()
	fmt.Println(u.Uid, err)
	C.exit(8)
}
G
    (cd "$shared/cgo" && GO111MODULE=off GOCACHE=$shared/gocache CGO_ENABLED=1 once go build -o ../cgo.bin main.go) || { missing='cannot be built'; return 1; }
}
run_cgo() { "${rec[@]}" "$shared/cgo.bin"; }
reason_cgo() { echo "other threads of Go run while it ends"; }

# What allocates through $1, and says how often: an allocator in the executable is not seen by a library before libc.
rust_program() {
    cat <<R
use std::alloc::{GlobalAlloc, Layout};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
struct Counting;
static INNER: $1 = $1;
static N: [AtomicU64; 4] = [AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0)];
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, l: Layout) -> *mut u8 { N[0].fetch_add(1, Relaxed); N[3].fetch_add(l.size() as u64, Relaxed); INNER.alloc(l) }
    unsafe fn alloc_zeroed(&self, l: Layout) -> *mut u8 { N[0].fetch_add(1, Relaxed); N[3].fetch_add(l.size() as u64, Relaxed); INNER.alloc_zeroed(l) }
    unsafe fn dealloc(&self, p: *mut u8, l: Layout) { N[2].fetch_add(1, Relaxed); INNER.dealloc(p, l) }
    unsafe fn realloc(&self, p: *mut u8, l: Layout, n: usize) -> *mut u8 { N[0].fetch_add(1, Relaxed); N[1].fetch_add(1, Relaxed); N[3].fetch_add(n as u64, Relaxed); INNER.realloc(p, l, n) }
}
#[global_allocator]
static ALL: Counting = Counting;
fn main() {
    let t: Vec<_> = (0..4).map(|i| std::thread::spawn(move || { let mut v: Vec<String> = Vec::new(); for k in 0..5000 { v.push(format!("{i} {k}")); } v.len() })).collect();
    let n: usize = t.into_iter().map(|x| x.join().unwrap()).sum();
    println!("{n}");
    if let Ok(to) = std::env::var("COUNT_RUST") {
        let c: Vec<u64> = N.iter().map(|x| x.load(Relaxed)).collect();
        std::fs::write(to, format!("allocs {}\nreallocs {}\nfrees {}\nbytes {}\n", c[0], c[1], c[2], c[3])).unwrap();
    }
    std::process::exit(9);
}
R
}
# rust NAME PATH CRATE: builds it.
rust() {
    has cargo || return 1
    [ -x "$shared/$1.bin" ] && return
    mkdir -p "$shared/$1/src" && rust_program "$2" >"$shared/$1/src/main.rs"
    printf '[package]\nname = "%s"\nversion = "0.1.0"\nedition = "2021"\n[dependencies]\n%s\n[profile.release]\ndebug = 1\n' "$1" "$3" >"$shared/$1/Cargo.toml"
    once cargo build -q --release --manifest-path "$shared/$1/Cargo.toml" && cp "$shared/$1/target/release/$1" "$shared/$1.bin"
}
row rust cargo 'Rust with the allocator of libc'
prepare_rust() { rust rust std::alloc::System ''; }
run_rust() { "${rec[@]}" "$shared/rust.bin"; }
row rust_je cargo 'Rust with jemalloc'
prepare_rust_je() { rust rust_je tikv_jemallocator::Jemalloc 'tikv-jemallocator = "0.6"'; }
run_rust_je() { COUNT_RUST=$work/../heap/rust "${rec[@]}" "$shared/rust_je.bin"; }
reason_rust_je() { by_rust; }
row rust_mi cargo 'Rust with mimalloc'
prepare_rust_mi() { rust rust_mi mimalloc::MiMalloc 'mimalloc = { version = "0.1", default-features = false }'; }
run_rust_mi() { COUNT_RUST=$work/../heap/rust "${rec[@]}" "$shared/rust_mi.bin"; }
reason_rust_mi() { by_rust; }
# The program's own count of its allocator's calls, and the library's of libc's, are together what was recorded: up to what it does after it told.
by_rust() {
    cat traced/heap/rust traced/heap/*.counts 2>/dev/null | awk -v n="$(cat traced/heap/*.totals | awk '/^allocs/ { print $2 }')" '
        /^allocs/ { sum += $2 } END { if (sum > 0 && n - sum >= 0 && n - sum <= 8) printf "its own count of its allocator, and libc'"'"'s: %d of %d calls; the others come after it told\n", sum, n }'
}

# --- compilers --------------------------------------------------------------------------------

row rustc '' 'rustc, whose libraries call an allocator of the executable'
prepare_rustc() {
    has rustc || return 1
    rust_program std::alloc::System >"$shared/one.rs"
    rustc_path=$(rustc --print sysroot)/bin/rustc
}
run_rustc() { "${rec[@]}" "$rustc_path" -O --edition 2021 --emit=obj -o one.o "$shared/one.rs"; }
reason_rustc() {
    [ "$(awk '/^allocs/ { n += $2 } END { print n }' traced/heap/*.totals)" -gt 100000 ] && echo "its jemalloc is in the executable, where the counter does not see it; $(awk '/^allocs/ { n += $2 } END { print n }' traced/heap/*.totals) calls are recorded"
}

cxx_source() {
    cat >"$shared/one.cc" <<'C'
#include <algorithm>
#include <iostream>
#include <map>
#include <regex>
#include <string>
#include <vector>
int main()
{
    std::map<std::string, std::vector<int>> m;
    for (int i = 0; i < 100; i++)
        m[std::to_string(i % 7)].push_back(i);
    std::regex r("[0-9]+");
    std::cout << m.size() << std::regex_match("12", r) << "\n";
}
C
}
row gxx g++ 'g++: the driver, cc1plus, as, ld'
prepare_gxx() { has g++ && cxx_source; }
run_gxx() { "${rec[@]}" g++ -O1 -g -o one "$shared/one.cc" && ./one; }
row clang clang 'clang++: the driver and what it becomes'
prepare_clang() { has clang++ && cxx_source; }
run_clang() { "${rec[@]}" clang++ -O1 -g -c -o one.o "$shared/one.cc" && size one.o; }
row make make 'make -j8 of 40 files'
prepare_make() { has make gcc; }
run_make() {
    for i in {1..40}; do echo "int f$i(int a) { return a * $i; }" >"f$i.c"; done
    printf 'all: %s\n\techo linked\n%%.o: %%.c\n\tgcc -O1 -c -o $@ $<\n' "$(printf 'f%d.o ' {1..40})" >Makefile
    "${rec[@]}" make -s -j8 && cat ./*.o | cksum
}

# --- processes that become others -------------------------------------------------------------

row setpriv util-linux 'setpriv: another user, no groups'
prepare_setpriv() { has setpriv && { [ "$(id -u)" = 0 ] || { missing='it wants root'; return 1; }; }; }
run_setpriv() { "${rec[@]}" setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all id; }
row bwrap bubblewrap 'bubblewrap: namespaces'
prepare_bwrap() {
    has bwrap || return 1
    bwrap --ro-bind / / --dev /dev --unshare-pid true 2>/dev/null || { missing='no namespaces may be made here'; return 1; }
}
run_bwrap() { "${rec[@]}" bwrap --bind / / --dev /dev --unshare-pid --unshare-net --die-with-parent sort /etc/passwd; }
row daemon 'gcc' 'a daemon that forks twice before it allocates, and one that allocates between'
prepare_daemon() {
    has gcc || return 1
    cat >"$shared/daemon.c" <<'C'
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    int between = argc > 2, fd[2];
    char byte;
    if (pipe(fd))
        return 1;
    if (fork() == 0) {
        if (between)
            free(malloc(100));
        setsid();
        if (fork() == 0) {
            for (int i = 0; i < 1000; i++)
                free(malloc((size_t)i + 1));
            FILE *f = fopen(argv[1], "w");
            fprintf(f, "served\n");
            fclose(f);
            exit(0);
        }
        _exit(0);
    }
    close(fd[1]);
    wait(NULL);
    /* Until the grandchild is gone. */
    return read(fd[0], &byte, 1) == 0 ? 3 : 4;
}
C
    once gcc -O1 -g -o "$shared/daemon.bin" "$shared/daemon.c"
}
run_daemon() {
    local status
    "${rec[@]}" "$shared/daemon.bin" "$work/one"
    status=$?
    "${rec[@]}" "$shared/daemon.bin" "$work/two" between || status=$((status * 10 + $?))
    cat one two
    return $status
}

# --- interpreters, compilers of other languages, and what has libraries of its own -----------

# simple NAME PACKAGES WHAT COMMAND ARGUMENTS…: a program that needs nothing but its arguments.
simple() {
    local name=$1 command
    row "$name" "$2" "$3"
    printf -v command '%q ' "${@:4}"
    eval "prepare_$name() { has ${4@Q}; }; run_$name() { \"\${rec[@]}\" $command; }"
}
simple php php-cli 'php: arrays, strings, json' php -r '$a = []; for ($i = 0; $i < 50000; $i++) $a["k$i"] = str_repeat("x", $i % 90);
    echo count($a), " ", strlen(json_encode($a)), " ", md5(serialize($a)), "\n"; exit(3);'
simple ruby ruby 'ruby: strings, threads, a fork' ruby -e 'h = {}; 30000.times { |i| h["k#{i}"] = "x" * (i % 90) }
    t = 4.times.map { |i| Thread.new { (0..5000).map { |k| "#{i} #{k}" }.size } }; puts t.sum(&:value), h.size
    pid = fork { exit 4 }; Process.wait pid; puts $?.exitstatus; GC.start; exit 3'
simple lua lua5.4 'lua: tables and strings' lua5.4 -e 'local t = {} for i = 1, 100000 do t["k" .. i] = string.rep("x", i % 90) end
    local n = 0 for _, v in pairs(t) do n = n + #v end print(n) os.exit(3)'
simple perl perl 'perl: hashes, regular expressions' perl -e 'my %h; $h{"k$_"} = "x" x ($_ % 90) for 1 .. 50000; my $n = grep { $h{$_} =~ /x{50}/ } keys %h; print "$n\n"; exit 3'
simple tcl tcl 'tclsh: lists and dictionaries' tclsh8.6
run_tcl() { "${rec[@]}" tclsh8.6 <<<'for {set i 0} {$i < 50000} {incr i} { dict set d k$i [string repeat x [expr {$i % 90}]] }; puts [dict size $d]; exit 3'; }
simple guile guile-3.0 'guile: lists, its own collector' guile --no-auto-compile -c '(let loop ((i 0) (l (quote ()))) (if (< i 200000) (loop (+ i 1) (cons (number->string i) l)) (begin (display (length l)) (newline) (exit 3))))'
simple swipl swi-prolog-nox 'Prolog' swipl -g 'numlist(1, 100000, L), foldl([X, A, B]>>(B is A + X), L, 0, S), format("~w~n", [S]), halt(3)'
simple erlang erlang-base 'Erlang: processes that send each other lists' erl -noshell -eval 'P = self(), [spawn(fun() -> P ! length([integer_to_list(X) || X <- lists:seq(1, 2000)]) end) || _ <- lists:seq(1, 50)],
    io:format("~p~n", [lists:sum([receive N -> N end || _ <- lists:seq(1, 50)])]), halt(3).'
simple octave octave 'octave: matrices' octave-cli --norc --quiet --eval 'a = magic(200); b = inv(a + eye(200)); printf("%.3f\n", trace(a)); s = {}; for i = 1:2000 s{end + 1} = repmat("x", 1, mod(i, 90)); end; disp(numel([s{:}])); exit(3)'
simple r r-base-core 'R: data frames and a model' Rscript --vanilla -e 'd <- data.frame(a = (1:20000) %% 97, b = (1:20000) / 2); print(coef(lm(b ~ a, d))); print(head(aggregate(b ~ a, d, sum), 3)); quit(status = 3)'
simple emacs emacs-nox 'emacs --batch' emacs --batch -Q --eval '(progn (with-temp-buffer (dotimes (i 20000) (insert (format "%d line of text\n" i))) (sort-lines t (point-min) (point-max)) (message "%d %s" (buffer-size) (md5 (current-buffer)))) (kill-emacs 3))'
simple vim vim 'vim without a terminal' vim -u NONE -es -c 'call setline(1, map(range(20000), "v:val * 7919 % 10007 . \" text\""))' -c 'sort n' -c '%s/text/other/' -c 'w! o' -c '3cquit'
simple ffmpeg ffmpeg 'ffmpeg: a film of its own making, with threads' ffmpeg -nostdin -v error -f lavfi -i testsrc=duration=2:size=320x240:rate=25 -f lavfi -i sine=duration=2 -threads 4 -c:v mpeg4 -c:a aac -f framemd5 -
simple gs ghostscript 'ghostscript' gs -q -dNOPAUSE -dBATCH -sDEVICE=bit -r40 -sOutputFile=o -c '/Helvetica findfont 20 scalefont setfont 1 1 60 { dup 10 mul 72 exch moveto (line of text) show pop } for showpage (done) == quit'
simple gimp gimp 'gimp in batch mode' gimp-console-2.10 --no-interface --no-data --no-fonts --batch-interpreter plug-in-script-fu-eval -b '(let* ((i (car (gimp-image-new 200 200 RGB))) (l (car (gimp-layer-new i 200 200 RGB-IMAGE "l" 100 LAYER-MODE-NORMAL)))) (gimp-image-insert-layer i l 0 0) (plug-in-gauss RUN-NONINTERACTIVE i l 9 9 0) (gimp-quit 1))'

row gdb gdb 'gdb: a program with symbols, run to a breakpoint'
prepare_gdb() { has gdb gcc && printf 'int f(int a) { return a + 1; }\nint main(void) { return f(2); }\n' >"$shared/gdb.c" && once gcc -g -o "$shared/gdb.bin" "$shared/gdb.c"; }
run_gdb() { "${rec[@]}" gdb -nx -batch -iex 'set startup-with-shell off' -ex 'unset environment LD_PRELOAD' -ex 'break f' -ex run -ex bt -ex 'info sharedlibrary' -ex kill "$shared/gdb.bin"; }
filter_gdb() { sed -e 's/0x[0-9a-f]*/0x/g' -e 's/process [0-9]*/process/'; }

row ghc ghc 'ghc, and what it compiled'
prepare_ghc() {
    has ghc && printf 'import qualified Data.Map as M\nmain = print (M.size (M.fromList [(show i, i) | i <- [1 .. 20000 :: Int]]))\n' >"$shared/Main.hs"
}
run_ghc() { cp "$shared/Main.hs" . && "${rec[@]}" ghc -v0 -O Main.hs && "${rec[@]}" ./Main; }

row ocaml ocaml-nox 'ocamlopt, and what it compiled'
prepare_ocaml() {
    has ocamlopt || return 1
    printf 'let () = let h = Hashtbl.create 7 in for i = 1 to 50000 do Hashtbl.add h (string_of_int i) i done; Printf.printf "%%d\\n" (Hashtbl.length h); exit 3\n' >"$shared/m.ml"
}
run_ocaml() { cp "$shared/m.ml" . && "${rec[@]}" ocamlopt -o m m.ml && "${rec[@]}" ./m; }
