# fish completion for the command of libsafecopy

set -l run '__fish_seen_subcommand_from run'
set -l report '__fish_seen_subcommand_from report'
set -l explain '__fish_seen_subcommand_from explain'
set -l watch '__fish_seen_subcommand_from watch'
set -l doctor '__fish_seen_subcommand_from doctor'
set -l formats 'text json html sarif junit github markdown memory collapsed collapsed-peak pprof prometheus perfetto otlp-logs otlp-metrics'
set -l keys "(safecopy help options | string replace -rf '^  ([a-z_]+) .*' '\$1=')"
set -l codes "(safecopy explain | string match -r '^SC[0-9]+')"

complete -c safecopy -n __fish_use_subcommand -f -a 'run report watch explain doctor help'
complete -c safecopy -l help -d 'Print the options'
complete -c safecopy -n __fish_use_subcommand -l version -d 'Print the version'

complete -c safecopy -n $run -a '(__fish_complete_subcommand --fcs-skip=2)'
complete -c safecopy -n $run -l strict -d 'Exit status 66 if a hazard is found'
complete -c safecopy -n $run -l require-judged -d 'The same if nothing was judged'
complete -c safecopy -n $run -l wait -d 'Wait for what the program leaves running'
complete -c safecopy -n $run -l option -x -a $keys -d 'Set an option'
complete -c safecopy -n $run -l report -r -d 'Where the report goes'
complete -c safecopy -n $run -l report-dir -x -a '(__fish_complete_directories)' -d 'A folder of reports'
complete -c safecopy -n $run -l suppressions -r -d 'Hazards to leave out'
complete -c safecopy -n $run -l injection -d 'Have the driver load the library'
complete -c safecopy -n $run -l format -x -a $formats -d 'Show at the end what was reported'
complete -c safecopy -n $run -s o -r -d 'Show it in a file'
complete -c safecopy -n $run -l output-mode -x -a 'private umask' -d 'Who may read the file'
complete -c safecopy -n $run -l source-root -x -a '(__fish_complete_directories)' -d 'Where source that is shown may be'

complete -c safecopy -n $report -l format -x -a $formats -d 'How to show it'
complete -c safecopy -n $report -l json -d 'The same as --format json'
complete -c safecopy -n $report -s o -r -d 'Write into a file'
complete -c safecopy -n $report -l output-mode -x -a 'private umask' -d 'Who may read the file'
complete -c safecopy -n $report -l filter -x -d 'Hazards to take'
complete -c safecopy -n $report -l between -x -d 'Two lines about memory, by number or by time'
complete -c safecopy -n $report -l baseline -r -d 'Earlier reports to compare with'
complete -c safecopy -n $report -l debug-dir -r -d 'Where modules and debug files are'
complete -c safecopy -n $report -l path-map -x -d 'OLD=NEW: where sources are'
complete -c safecopy -n $report -l source-root -x -a '(__fish_complete_directories)' -d 'Where source that is shown may be'
complete -c safecopy -n $report -l frames -r -d 'Whose a frame is'
complete -c safecopy -n $report -l suppressions -r -d 'Hazards to mark'
complete -c safecopy -n $report -l suggest-suppressions -d 'Write entries for a file of suppressions'
complete -c safecopy -n $report -l merged -d 'Make one of all runs'

complete -c safecopy -n '__fish_seen_subcommand_from help' -f -a 'run report watch explain doctor options'

complete -c safecopy -n $explain -f -a $codes

complete -c safecopy -n $doctor -a '(__fish_complete_subcommand --fcs-skip=2)'
complete -c safecopy -n $doctor -l format -x -a 'text json' -d 'How to show it'
complete -c safecopy -n $doctor -l no-run -d 'Look at the files of the program alone'

complete -c safecopy -n $watch -l until-ended -d 'End when all processes have ended'
complete -c safecopy -n $watch -l every -x -d 'How often to look'
complete -c safecopy -n $watch -l lines -d 'Print lines on a terminal as well'
complete -c safecopy -n $watch -l otlp -x -d 'A collector to send to'
complete -c safecopy -n $watch -l state -r -d 'A file that says how far was sent'
