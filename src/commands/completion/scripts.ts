/** The shells that have a completion script. */
export const SHELLS = ['bash', 'zsh', 'fish'] as const;

export type Shell = (typeof SHELLS)[number];

const BASH = `# bash completion for restaurant, as printed by: restaurant completion bash
_restaurant() {
  local reply line=\${COMP_LINE:0:COMP_POINT} word=\${2-\${COMP_WORDS[COMP_CWORD]}}
  [[ $line ]] || line="\${COMP_WORDS[*]:0:COMP_CWORD+1}"
  COMPREPLY=()
  while IFS= read -r reply; do
    if [[ $reply != $'\\tfiles\\t'* ]]; then
      COMPREPLY+=("$reply")
    else
      reply=\${reply#$'\\tfiles\\t'}
      local -i before=\${reply%%$'\\t'*}
      reply=\${reply#*$'\\t'}
      local quote=\${reply%%$'\\t'*} path=\${reply#*$'\\t'} file
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
          "'") file=\${file//"'"/"'\\\\''"} ;;
          '"')
            file=\${file//'\\'/'\\\\'} file=\${file//'"'/'\\"'}
            file=\${file//'$'/'\\$'} file=\${file//'\`'/'\\\`'}
            ;;
          *) printf -v file %q "$file" ;;
        esac
        COMPREPLY+=("\${word:0:before}$file$slash")
      done < <(compgen -f -- "$path")
    fi
  done < <(command restaurant completion --complete bash -- "$line" "$word" "\${COMP_TYPE-}" 2>/dev/null)
}
complete -o nosort -F _restaurant restaurant
`;

const ZSH = `#compdef restaurant
# zsh completion for restaurant, as printed by: restaurant completion zsh
_restaurant() {
  local reply
  local -a candidates
  local -i behind=-1 ret=1
  while IFS= read -r reply; do
    if [[ $reply == $'\\tfiles\\t'* ]]; then
      behind=\${reply##*$'\\t'}
    else
      candidates+=("$reply")
    fi
  done < <(command restaurant completion --complete zsh -- "\${(@Q)words[2,CURRENT-1]}" "\${(Q)PREFIX}" 2>/dev/null)
  (( $#candidates )) && _describe -V restaurant candidates && ret=0
  if (( behind >= 0 )); then
    compset -p $behind
    _files && ret=0
  fi
  return ret
}
if [[ $funcstack[1] == _restaurant ]]; then
  _restaurant "$@"
else
  compdef _restaurant restaurant
fi
`;

const FISH = `# fish completion for restaurant, as printed by: restaurant completion fish
function __restaurant_complete
    set -l words (commandline -opc)
    set -e words[1]
    set -l word (commandline -ct)
    for reply in (command restaurant completion --complete fish -- $words "$word" 2>/dev/null)
        set -l files (string match -r '^\\tfiles\\t([^\\t]*)\\t(.*)$' -- $reply)
        if test (count $files) -eq 0
            echo $reply
        else
            for file in (__fish_complete_path $files[3])
                echo $files[2]$file
            end
        end
    end
end
complete -c restaurant -f -k -a '(__restaurant_complete)'
`;

/** The script for each shell. It runs the program at each TAB, so that it fits whatever version is installed. */
export const SCRIPTS: Readonly<Record<Shell, string>> = { bash: BASH, zsh: ZSH, fish: FISH };
