# complete.fish FILE: for each line on standard input, with the cursor at its
# end, prints what fish offers by the completion in this file: the line, a tab,
# and a word.
source $argv[1]
while read -l line
    for word in (complete -C $line | string replace -r '\t.*' '')
        printf '%s\t%s\n' $line $word
    end
end
