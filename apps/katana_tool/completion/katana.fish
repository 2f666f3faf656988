# fish completion of katana; the program itself says what may come.
function __katana_words
    set --local words (commandline --tokenize --cut-at-cursor --current-process)
    set --local current (commandline --current-token --cut-at-cursor)
    set --local before (string match --regex '^--[^=]*=' -- $current; or echo '')
    for line in ($words[1] --complete $words[2..] "$current" 2>/dev/null)
        switch $line
            case :file
                printf '%s\n' $before(__fish_complete_path (string replace -- "$before" '' $current))
            case :folder
                printf '%s\n' $before(__fish_complete_directories (string replace -- "$before" '' $current))
            case '*'
                echo $line
        end
    end
end
for program in katana katana-log katana-migrate
    complete --command $program --no-files --arguments '(__katana_words)'
end

# SPDX-License-Identifier: Apache-2.0
