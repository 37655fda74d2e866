# SPDX-License-Identifier: GPL-3.0-or-later
# fish completion for proftop; tests/test_options.c compares it with the program's options.

set -l verbs report export info record mark pause resume detach
set -l info '__fish_seen_subcommand_from info'
set -l report '__fish_seen_subcommand_from report'
set -l export '__fish_seen_subcommand_from export'
set -l record '__fish_seen_subcommand_from record'
set -l tell '__fish_seen_subcommand_from mark pause resume detach'
set -l explore "not __fish_seen_subcommand_from $verbs"
set -l lens "not $info"
set -l screen "not __fish_seen_subcommand_from export info"

complete -c proftop -n __fish_use_subcommand -a report -d 'print a view as text or JSON'
complete -c proftop -n __fish_use_subcommand -a record -d 'record the heap of a command'
complete -c proftop -n __fish_use_subcommand -a mark -d 'set a mark in a recording of a heap'
complete -c proftop -n __fish_use_subcommand -a pause -d 'record no allocations for a while'
complete -c proftop -n __fish_use_subcommand -a resume -d 'record allocations again'
complete -c proftop -n __fish_use_subcommand -a detach -d 'end the recording of a heap'
complete -c proftop -n __fish_use_subcommand -a export -d 'write a profile in another format'
complete -c proftop -n __fish_use_subcommand -a info -d 'say what is in a file'

complete -c proftop -l symbols -x -a '(__fish_complete_directories)' -d 'look for symbol files there first'
complete -c proftop -l debuginfod -d 'fetch missing debug files from servers'
complete -c proftop -l stitch -d 'continue truncated stacks as earlier ones'
complete -c proftop -s h -l help -d 'print help and exit'
complete -c proftop -s V -l version -d 'print the version and exit'

complete -c proftop -n "$lens" -s f -l filter -x -d 'filter and transform'
complete -c proftop -n "$lens" -l time -x -d 'only from A to B, in seconds'
complete -c proftop -n "$lens" -l thread -x -d 'only threads whose name matches'
complete -c proftop -n "$lens" -l event -x -d 'the event to count'
complete -c proftop -n "$lens" -l metric -x -a 'period samples wall live peak leaked freed temporary bytes calls' -d 'what is counted'
complete -c proftop -n "$lens" -l group -x -a 'function module file thread process comm event cpu' -d 'rows by'
complete -c proftop -n "$lens" -l fields -x -d 'fields of tracepoints as innermost frames'
complete -c proftop -n "$lens" -l no-inline -d 'inlined functions are part of their callers'

complete -c proftop -n "$screen" -l view -x -a 'top tree callers butterfly flame threads timeline info memory' -d 'the view'
complete -c proftop -n "$screen" -l screen -x -d 'COLSxROWS'
complete -c proftop -n "not $export" -l ascii -d 'nothing but ASCII'

complete -c proftop -n "$report" -l function -x -d 'the function of butterfly and callers'
complete -c proftop -n "$report" -l sort -x -a 'self total name module' -d 'order of rows'
complete -c proftop -n "$report" -s n -l rows -x -d 'at most so many rows'
complete -c proftop -n "$report" -l min -x -d 'leave out smaller shares'
complete -c proftop -n "$report" -l width -x -d 'rows at most so wide'
complete -c proftop -n '__fish_seen_subcommand_from report info' -l json -d 'JSON instead of text'
complete -c proftop -n "$export" -l to -x -a folded -d 'the format to write'
complete -c proftop -n "$export" -l inline -d 'inlined functions are frames'
complete -c proftop -n "$export" -l kernel -d 'mark frames of the kernel'
complete -c proftop -n "$export" -l jit -d 'mark frames of generated code'
complete -c proftop -n "$export" -l all -d 'mark both'
complete -c proftop -n "$export" -l pid -d 'process numbers behind names of threads'
complete -c proftop -n "$export" -l tid -d 'process and thread numbers behind them'
complete -c proftop -n "$export" -l addrs -d 'addresses of frames without a symbol'
complete -c proftop -n "not $explore" -s o -l output -r -d 'write to a file'

complete -c proftop -n "$explore" -l keys -x -d 'play keys without a terminal'
complete -c proftop -n "$explore" -l color -x -a 'auto never 8 16 256' -d 'colours'
complete -c proftop -n "$explore" -s M -l no-mouse -d 'leave the mouse to the terminal'
complete -c proftop -n "$record" -l heap -d 'record allocations and frees'
complete -c proftop -n "$record" -l free-stacks -d 'record the stacks of frees too'
complete -c proftop -n "$record" -l sample -x -d 'record allocations so many bytes apart'
complete -c proftop -n "$record" -l cull -x -d 'only count what is freed so soon'
complete -c proftop -n "$record" -l max-size -x -d 'no larger trace'
complete -c proftop -n "$record" -l keep -x -a 'newest oldest' -d 'what stays of a trace that may not become larger'
complete -c proftop -n "$record; or $tell" -s p -l attach -x -a '(__fish_complete_pids)' -d 'the process that runs already'
complete -c proftop -n "$record" -l duration -x -d 'end the recording after so long'
complete -c proftop -n "$record" -l children -d 'record the processes that it starts'
