# bash completion of katana; the program itself says what may come.
_katana() {
  local line word=${COMP_WORDS[COMP_CWORD]} cut=
  local -a words=("${COMP_WORDS[@]:1:COMP_CWORD}")
  # Readline cuts words at "=": put "--name=value" together, and offer what stands behind the last cut.
  if [[ $COMP_WORDBREAKS == *=* ]]; then
    local -a joined=()
    local index joins=
    for ((index = 0; index < ${#words[@]}; index++)); do
      if [[ ${words[index]} == = && ${#joined[@]} -gt 0 && ${joined[-1]} == --* ]]; then
        joined[-1]+='=' joins=1
      elif [[ $joins ]]; then
        joined[-1]+=${words[index]} joins=
      else
        joined+=("${words[index]}")
      fi
    done
    words=("${joined[@]}")
    [[ ${words[-1]} == --*=* ]] && cut=${words[-1]%%=*}= && word=${words[-1]#*=}
  fi
  COMPREPLY=()
  while IFS= read -r line; do
    case $line in
      :file) compopt -o filenames; mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- "$word") ;;
      :folder) compopt -o filenames; mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -d -- "$word") ;;
      *) line=${line%%$'\t'*}; COMPREPLY+=("${line#"$cut"}") ;;
    esac
  done < <("${COMP_WORDS[0]}" --complete "${words[@]}" 2>/dev/null)
}
complete -F _katana katana katana-log katana-migrate

# SPDX-License-Identifier: Apache-2.0
