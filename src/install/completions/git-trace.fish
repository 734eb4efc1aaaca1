# Completion of `git trace` for fish, whose own completion of git asks that of `git-trace`.
function __git_trace_complete
	set -l words (commandline -opc)
	set -e words[1]
	set -l cur (commandline -ct)
	for line in (git trace complete-words -- $words $cur 2>/dev/null)
		if string match -q '/*' -- $line
			__fish_complete_path $cur
		else
			echo $line
		end
	end
end
complete -c git-trace -f -a '(__git_trace_complete)'
