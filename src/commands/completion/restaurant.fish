# fish completion for restaurant, as printed by: restaurant completion fish
function __restaurant_complete
    set -l words (commandline -opc)
    set -e words[1]
    set -l word (commandline -ct)
    for reply in (command restaurant completion --complete fish -- $words "$word" 2>/dev/null)
        set -l files (string match -r '^\tfiles\t([^\t]*)\t(.*)$' -- $reply)
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
