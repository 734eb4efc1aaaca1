# Completion of `git trace` for bash, through git's own completion, which calls _git_trace.
_git_trace ()
{
	local first=$((${__git_cmd_idx:-1} + 1)) value text
	if [ "${words[0]##*/}" = git-trace ]; then
		first=1
	fi
	# What readline replaces begins behind the last of these in the word.
	local before="${cur%"${cur##*[=:]}"}"
	COMPREPLY=()
	while IFS=$'\t' read -r value _; do
		# Where files are meant, none is named here, and readline completes them.
		if [ -n "$value" ] && [ "$value" != / ]; then
			printf -v text '%q ' "${value#"$before"}"
			COMPREPLY+=("$text")
		fi
	done < <(__git trace complete-words -- "${words[@]:first:cword-first}" "$cur")
}

# For `git-trace`, which may be completed before git is.
if ! declare -F __git_complete >/dev/null && declare -F _completion_loader >/dev/null; then
	_completion_loader git
fi
if declare -F __git_complete >/dev/null; then
	__git_complete git-trace _git_trace
fi
