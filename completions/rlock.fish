# fish completion for rlock(1). Which commands and options there are, rlock itself is asked, once.

complete -c rlock -f
complete -c rlock -n __fish_use_subcommand -s h -l help -d 'Show help'
complete -c rlock -n __fish_use_subcommand -l version -d 'Show the version'
complete -c rlock -n __fish_use_subcommand -a '(rlock --list-commands)'
complete -c rlock -n '__fish_seen_subcommand_from help' -a '(rlock --list-commands)'

for command in (rlock --list-commands 2>/dev/null | string split -f 1 \t | string match -v help)
    set -l seen "__fish_seen_subcommand_from $command; and not __fish_seen_subcommand_from help"
    set -l valued
    for row in (rlock $command --list-options 2>/dev/null)
        set -l field (string split \t -- $row)
        set -l spec -c rlock -n $seen -l (string sub -s 3 -- $field[2]) -d $field[4]
        test -n "$field[1]"; and set -a spec -s (string sub -s 2 -- $field[1])
        switch "$field[3]"
            case ''
            case URL
                set -a spec -x -a 'redis:// unix:// local:'
            case '*|*'
                set -a spec -x -a (string replace -a '|' ' ' -- $field[3])
            case '*'
                set -a spec -x
        end
        test -n "$field[3]"; and set -a valued $field[1] $field[2]
        complete $spec
    end
    complete -c rlock -n $seen -a "(__fish_complete_subcommand --fcs-skip=2 $valued)"
end
