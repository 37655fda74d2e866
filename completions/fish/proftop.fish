# SPDX-License-Identifier: GPL-3.0-or-later
# fish completion for proftop; tests/test_options.c compares it with the program's options.

set -l verbs report diff compare export pack info record live mark pause resume detach doctor
set -l info '__fish_seen_subcommand_from info'
set -l report '__fish_seen_subcommand_from report'
set -l diff '__fish_seen_subcommand_from diff compare'
set -l halves '__fish_seen_subcommand_from diff'
set -l rows '__fish_seen_subcommand_from report diff compare'
set -l export '__fish_seen_subcommand_from export'
set -l pack '__fish_seen_subcommand_from pack'
set -l record '__fish_seen_subcommand_from record'
set -l runs '__fish_seen_subcommand_from record compare'
set -l compare '__fish_seen_subcommand_from compare'
set -l records '__fish_seen_subcommand_from record live'
set -l tell '__fish_seen_subcommand_from mark pause resume detach'
set -l explore "not __fish_seen_subcommand_from report export pack info record mark pause resume detach"
set -l lens "not __fish_seen_subcommand_from info pack"
set -l ratios "not __fish_seen_subcommand_from diff compare export pack info record mark pause resume detach doctor"
set -l screen "not __fish_seen_subcommand_from export info pack"

# Names of saved views: those for all files, and those of the files on the line.
function __proftop_views
    set -l config $XDG_CONFIG_HOME
    set -l state $XDG_STATE_HOME
    test -n "$config"; or set config ~/.config
    test -n "$state"; or set state ~/.local/state
    set -l files $config/proftop/views
    for word in (commandline -opc)
        set -a files $word.proftop
        test -e $word; and set -a files $state/proftop/notes/(realpath $word | string replace -a / %).proftop
    end
    for file in $files
        test -f $file; and string replace -rf '^view ([^ ]*).*' '$1' <$file
    end
end

complete -c proftop -n __fish_use_subcommand -a report -d 'print a view as text or JSON'
complete -c proftop -n __fish_use_subcommand -a diff -d 'compare before and after'
complete -c proftop -n __fish_use_subcommand -a compare -d 'record two commands in turn and compare them'
complete -c proftop -n __fish_use_subcommand -a record -d 'record what a command does with the CPU, or its heap'
complete -c proftop -n __fish_use_subcommand -a live -d 'show a recording while it is being written'
complete -c proftop -n __fish_use_subcommand -a doctor -d 'say what can be recorded here'
complete -c proftop -n __fish_use_subcommand -a mark -d 'set a mark in a recording of a heap'
complete -c proftop -n __fish_use_subcommand -a pause -d 'record no allocations for a while'
complete -c proftop -n __fish_use_subcommand -a resume -d 'record allocations again'
complete -c proftop -n __fish_use_subcommand -a detach -d 'end the recording of a heap'
complete -c proftop -n __fish_use_subcommand -a export -d 'write a profile in another format'
complete -c proftop -n __fish_use_subcommand -a pack -d 'write a recording with its names to one file'
complete -c proftop -n __fish_use_subcommand -a info -d 'say what is in a file'

complete -c proftop -l symbols -x -a '(__fish_complete_directories)' -d 'look for symbol files there first'
complete -c proftop -l debuginfod -d 'fetch missing debug files from servers'
complete -c proftop -l stitch -d 'continue truncated stacks as earlier ones'
complete -c proftop -l no-cache -d 'read the file, not its index'
complete -c proftop -s h -l help -d 'print help and exit'
complete -c proftop -s V -l version -d 'print the version and exit'

complete -c proftop -n "$lens" -s f -l filter -x -d 'filter and transform'
complete -c proftop -n "$lens" -l time -x -d 'only from A to B, in seconds'
complete -c proftop -n "$lens" -l thread -x -d 'only threads whose name matches'
complete -c proftop -n "$lens; or $record" -s e -l event -x -d 'the event to count'
complete -c proftop -n "$lens" -l metric -x -a 'period samples wall live peak leaked grown freed freed-by temporary bytes calls' -d 'what is counted'
complete -c proftop -n "$lens" -l group -x -a 'function module file line thread process comm event cpu cgroup label capture host stack size' -d 'rows by'
complete -c proftop -n "$lens" -l fields -x -d 'fields of tracepoints as innermost frames'
complete -c proftop -n "$lens" -l no-inline -d 'inlined functions are part of their callers'
complete -c proftop -n "$lens" -l tracer -d 'the heap recorder counts, too'
complete -c proftop -n "$lens" -l view-name -x -a '(__proftop_views)' -d 'a saved view'

complete -c proftop -n "$screen" -l view -x -a 'top tree callers butterfly flame threads timeline heat info memory findings leaks lifetimes sizes temporaries handoffs reallocs waste blocks allocators annotate' -d 'the view'
complete -c proftop -n "$pack" -l source -x -a '(__fish_complete_directories)' -d 'look for source files below there'
complete -c proftop -n "$screen" -l source -x -a '(__fish_complete_directories)' -d 'look for source files below there'
complete -c proftop -n "$pack" -l source-map -x -d 'FROM=TO: where recorded source paths are'
complete -c proftop -n "$screen" -l source-map -x -d 'FROM=TO: where recorded source paths are'
complete -c proftop -n "$screen" -l screen -x -d 'COLSxROWS'
complete -c proftop -n "not $export; and not $pack" -l ascii -d 'nothing but ASCII'

complete -c proftop -n "$rows" -l function -x -d 'the function of butterfly, annotate and callers'
complete -c proftop -n "$report" -l sort -x -a 'self total name module live peak bytes calls temporary leaked' -d 'order of rows'
complete -c proftop -n "$ratios" -l ratio -x -a 'none' -d 'NAME=A/B*FACTOR: a column of event A over event B'
complete -c proftop -n "$report; or not __fish_seen_subcommand_from $verbs" -l suppressions -r -F -d 'leaks that are left out of leaks'
complete -c proftop -n "$rows" -s n -l rows -x -d 'at most so many rows'
complete -c proftop -n "$rows" -l min -x -d 'leave out smaller shares'
complete -c proftop -n "$rows" -l width -x -d 'rows at most so wide'
complete -c proftop -n '__fish_seen_subcommand_from report info diff compare' -l json -d 'JSON instead of text'
complete -c proftop -n "$rows" -l history -x -a '(__fish_complete_directories)' -d 'earlier runs of the program'
complete -c proftop -n "$diff" -l report -d 'print and do not open the screens'
complete -c proftop -n "$diff; or $export" -l normalise -x -a 'none total time samples' -d 'what both sides are made equal by'
complete -c proftop -n "$diff" -l fail-if -x -d 'exit with 1 if it holds'
complete -c proftop -n "$diff" -l any -d 'changes within the noise count, too'
complete -c proftop -n "$diff" -l junit -r -d 'what became of --fail-if as JUnit XML'
complete -c proftop -n "$diff" -l markdown -d 'the report as Markdown'
complete -c proftop -n "$diff; or $export" -l loose-names -d 'names without what builds differ in are the same'
complete -c proftop -n "$diff; or $export" -l map -x -d 'what is called OLD is taken for NEW'
complete -c proftop -n "$diff; or $export" -l no-pairs -d 'programs of two names are two'
complete -c proftop -n "$halves; or $export" -l a -x -d 'the filter that is before'
complete -c proftop -n "$halves; or $export" -l b -x -d 'the filter that is after'
complete -c proftop -n "$export" -l to -x -a 'callgrind firefox folded folded-diff heaptrack perf-script pprof samples-csv samples-jsonl speedscope svg svg-diff v8' -d 'the format to write'
complete -c proftop -n "$pack" -l without -x -a 'command host environment cgroups labels paths sources code notes' -d 'what is left out'
complete -c proftop -n "$export" -l inline -d 'inlined functions are frames'
complete -c proftop -n "$export" -l kernel -d 'mark frames of the kernel'
complete -c proftop -n "$export" -l jit -d 'mark frames of generated code'
complete -c proftop -n "$export" -l all -d 'mark both'
complete -c proftop -n "$export" -l pid -d 'process numbers behind names of threads'
complete -c proftop -n "$export" -l tid -d 'process and thread numbers behind them'
complete -c proftop -n "$export" -l addrs -d 'addresses of frames without a symbol'
complete -c proftop -n "not $explore" -s o -l output -r -d 'write to a file'

complete -c proftop -n "$explore; or $diff" -l keys -x -d 'play keys without a terminal'
complete -c proftop -n "$explore; or $diff" -l color -x -a 'auto never 8 16 256' -d 'colours'
complete -c proftop -n "$explore; or $diff" -s M -l no-mouse -d 'leave the mouse to the terminal'
complete -c proftop -n "$runs" -l runs -x -d 'so many runs, each to a file'
complete -c proftop -n "$compare" -l keep-runs -x -a '(__fish_complete_directories)' -d 'leave the recordings there'
complete -c proftop -n "$runs" -s F -l freq -x -d 'samples a second'
complete -c proftop -n "$runs" -s c -l count -x -d 'a sample at each so many events'
complete -c proftop -n "$runs" -s g -l call-graph -x -a 'unwound fp dwarf off' -d 'how stacks are recorded'
complete -c proftop -n "$runs" -l off-cpu -d 'record when threads leave a cpu and come back'
complete -c proftop -n "$record" -s a -l all-cpus -d 'record everything that runs'
complete -c proftop -n "$record" -s C -l cpus -x -d 'only on these cpus'
complete -c proftop -n "$record" -s t -l task -x -d 'threads that run already'
complete -c proftop -n "$record" -s G -l cgroup -x -d 'only what runs in this control group'
complete -c proftop -n "$record" -s r -l realtime -x -d 'priority of the recorder, of real time'
complete -c proftop -n "$record" -s z -l compress -x -d 'pack records at this level'
complete -c proftop -n "$records" -l cpu -d 'record CPU samples, the default'
complete -c proftop -n "$records; or $compare" -l heap -d 'record allocations and frees'
complete -c proftop -n "$records" -l no-patch -d 'change no code of the program'
complete -c proftop -n "$records" -l free-stacks -d 'record the stacks of frees too'
complete -c proftop -n "$records" -l sample -x -d 'record allocations so many bytes apart'
complete -c proftop -n "$records" -l cull -x -d 'only count what is freed so soon'
complete -c proftop -n "$records" -l max-size -x -d 'no larger trace'
complete -c proftop -n "$records" -l max-overhead -x -d 'record no more than costs that part of the time'
complete -c proftop -n "$record" -l keep -x -a 'newest oldest' -d 'what stays of a trace that may not become larger'
complete -c proftop -n "$records; or $tell" -s p -l attach -x -a '(__fish_complete_pids)' -d 'the process that runs already'
complete -c proftop -n "$records" -l duration -x -d 'end the recording after so long'
complete -c proftop -n "$records" -l children -d 'record the processes that it starts'
