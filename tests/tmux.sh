#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The real program in a real terminal: tmux shows it, resizes it, takes what it copies.
set -uo pipefail

command -v tmux >/dev/null || { echo "skipped: no tmux"; exit 77; }
proftop=${PROFTOP:-./proftop}
dir=$(mktemp -d)
unset TMUX NO_COLOR
export LC_ALL=C.UTF-8 XDG_CONFIG_HOME=$dir

tm() { tmux -S "$dir/socket" -f /dev/null "$@"; }
finish() {
    tm kill-server 2>/dev/null
    rm -rf "$dir"
}
trap finish EXIT

failed=0
fail() {
    echo "failed: $*"
    tm capture-pane -p
    failed=1
}

# wait_for TEXT, wait_gone TEXT: on the screen, within 10 s; never a fixed sleep for success.
wait_for() {
    for _ in $(seq 1000); do
        tm capture-pane -p | grep -qF -- "$1" && return 0
        sleep 0.01
    done
    fail "no '$1' on the screen"
    return 1
}
wait_gone() {
    for _ in $(seq 1000); do
        tm capture-pane -p | grep -qF -- "$1" || return 0
        sleep 0.01
    done
    fail "still '$1' on the screen"
    return 1
}

for i in $(seq 100); do
    echo "main;serve(Listener&);handle_$((i % 5));work_$i $((200 - i))"
done >"$dir/x.folded"
echo "main;日本語 500" >>"$dir/x.folded"

tm new-session -d -x 100 -y 30 "exec bash --norc --noprofile -i"
tm set-option -g set-clipboard on
tm set-option -g status off
tm resize-window -x 100 -y 30
tm send-keys "PS1='READY> '" Enter
wait_for 'READY> '
tm send-keys "$proftop $dir/x.folded" Enter
wait_for '[1 top]'
wait_for '日本語'
wait_for '? help'

tm send-keys j j t
wait_for '[2 tree]'
tm send-keys Escape
wait_for '[1 top]'
tm send-keys /work_7 Enter
wait_for 'search  /work_7'
wait_for '% of total'
tm send-keys Escape
wait_gone 'search  /'

tm send-keys 5
wait_for '[5 flame]'
tm resize-window -x 60 -y 15
wait_for '5 flame]'
wait_for '? help'
tm resize-window -x 120 -y 40
wait_for ' 1 top  2 tree  3 callers  4 butterfly [5 flame]'
[ "$(tm capture-pane -p | tail -n 1 | grep -c '? help')" = 1 ] || fail "the last line is not the last line"

tm send-keys 1 g y
wait_for 'copied 9 bytes (OSC 52)'
for _ in $(seq 500); do
    [ "$(tm show-buffer 2>/dev/null)" = '日本語' ] && break
    sleep 0.01
done
[ "$(tm show-buffer 2>/dev/null)" = '日本語' ] || fail "the buffer holds '$(tm show-buffer 2>/dev/null)'"

tm send-keys C-z
wait_for 'Stopped'
tm send-keys fg Enter
wait_for '[1 top]'
tm send-keys Q
wait_gone '[1 top]'
tm send-keys "echo status=\$?" Enter
wait_for 'status=0'
[ "$failed" = 0 ] && echo "tmux: all good"
exit "$failed"
