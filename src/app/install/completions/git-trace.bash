# Completion of `git trace` for bash, through git's own completion, which calls _git_trace.
_git_trace ()
{
	local first=$((${__git_cmd_idx:-1} + 1)) value what text quote=
	if [ "${words[0]##*/}" = git-trace ]; then
		first=1
	fi
	# `#4` begins a comment, so it is written `'#4` or `\#4`.
	local word="${cur//\\/}"
	case "$word" in
		[\"\']*) quote="${word:0:1}" word="${word:1}" ;;
	esac
	# What readline replaces begins behind the last of these in the word.
	local before="${word%"${word##*[=:]}"}"
	local -a values=() shown=()
	local width=0 columns="${COLUMNS:-80}"
	while IFS=$'\t' read -r value what; do
		# Where files are meant, none is named here, and readline completes them.
		if [ -n "$value" ] && [ "$value" != / ]; then
			value="${value#"$before"}"
			if [ -n "$quote" ]; then
				# Readline adds the closing quote. A name from a remote may be a command for the shell.
				[[ $value != *["\"'\\\`\$!"]* ]] || continue
				text="$value"
			else
				printf -v text '%q ' "$value"
			fi
			values+=("$text") shown+=("$what")
			((${#text} <= width)) || width=${#text}
		fi
	done < <(__git trace complete-words -- "${words[@]:first:cword-first}" "$word")
	COMPREPLY=("${values[@]}")
	# Values keep their order, such as newest first.
	compopt -o nosort 2>/dev/null
	# A list of several is only looked at, or completed as far as all agree.
	case "${COMP_TYPE:-9}" in
		33|63|64) ((${#values[@]} > 1)) || return 0 ;;
		*) return 0 ;;
	esac
	local index
	for index in "${!values[@]}"; do
		if [ -n "${shown[index]}" ]; then
			printf -v text '%-*s (%s)' "$width" "${values[index]}" "${shown[index]}"
			COMPREPLY[index]="${text:0:columns-2}"
		fi
	done
}

# For `git-trace`, which may be completed before git is.
if ! declare -F __git_complete >/dev/null && declare -F _completion_loader >/dev/null; then
	_completion_loader git
fi
if declare -F __git_complete >/dev/null; then
	__git_complete git-trace _git_trace
fi
