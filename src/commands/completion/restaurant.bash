# bash completion for restaurant, as printed by: restaurant completion bash
_restaurant() {
  local reply line=${COMP_LINE:0:COMP_POINT} word=${2-${COMP_WORDS[COMP_CWORD]}}
  [[ $line ]] || line="${COMP_WORDS[*]:0:COMP_CWORD+1}"
  COMPREPLY=()
  while IFS= read -r reply; do
    if [[ $reply != $'\tfiles\t'* ]]; then
      COMPREPLY+=("$reply")
    else
      reply=${reply#$'\tfiles\t'}
      local -i before=${reply%%$'\t'*}
      reply=${reply#*$'\t'}
      local quote=${reply%%$'\t'*} path=${reply#*$'\t'} file
      if ((before == 0)); then
        compopt -o default
        continue
      fi
      while IFS= read -r file; do
        local slash=
        if [[ -d $file ]]; then
          compopt -o nospace
          slash=/
        fi
        case $quote in
          "'") file=${file//"'"/"'\\''"} ;;
          '"')
            file=${file//'\'/'\\'} file=${file//'"'/'\"'}
            file=${file//'$'/'\$'} file=${file//'`'/'\`'}
            ;;
          *) printf -v file %q "$file" ;;
        esac
        COMPREPLY+=("${word:0:before}$file$slash")
      done < <(compgen -f -- "$path")
    fi
  done < <(command restaurant completion --complete bash -- "$line" "$word" "${COMP_TYPE-}" 2>/dev/null)
}
complete -o nosort -F _restaurant restaurant
