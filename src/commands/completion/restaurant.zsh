#compdef restaurant
# zsh completion for restaurant, as printed by: restaurant completion zsh
_restaurant() {
  local reply
  local -a candidates
  local -i behind=-1 ret=1
  while IFS= read -r reply; do
    if [[ $reply == $'\tfiles\t'* ]]; then
      behind=${reply##*$'\t'}
    else
      candidates+=("$reply")
    fi
  done < <(command restaurant completion --complete zsh -- "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)
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
