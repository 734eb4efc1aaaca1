# Completion of `git trace` for fish: for git's completion, and for `git-trace`.
function __git_trace_complete
	set -l words (commandline -opc)
	set -e words[1]
	if test "$argv[1]" = git
		while set -q words[1]; and test "$words[1]" != trace
			set -e words[1]
		end
		set -e words[1]
	end
	# `#4` begins a comment, so it is written `'#4` or `\#4`.
	set -l cur (commandline -ct | string replace -ar '["\'\\\\]' '')
	for line in (git trace complete-words -- $words $cur 2>/dev/null)
		if string match -q '/*' -- $line
			__fish_complete_path $cur
		else
			echo $line
		end
	end
end
complete -c git-trace -f -k -a '(__git_trace_complete)'
complete -c git -n '__fish_git_using_command trace' -f -k -a '(__git_trace_complete git)'
