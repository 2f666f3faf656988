#compdef katana katana-log katana-migrate
# zsh completion of katana; the program itself says what may come.
_katana() {
  local line word
  local -a described
  for line in "${(@f)$(_call_program words ${(q)words[1]} --complete ${(q)words[2,CURRENT]})}"; do
    case $line in
      '') ;;
      :file) compset -P '--*='; _files ;;
      :folder) compset -P '--*='; _files -/ ;;
      *) word=${line%%$'\t'*}; described+=("${word//:/\\:}:${line#*$'\t'}") ;;
    esac
  done
  (( ${#described} )) && _describe -V words described
  return 0
}
if [[ $funcstack[1] == _katana ]]; then
  _katana "$@"
else
  compdef _katana katana katana-log katana-migrate
fi

# SPDX-License-Identifier: Apache-2.0
