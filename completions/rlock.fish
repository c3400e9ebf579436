# fish completion for rlock(1). Which commands and options there are, rlock itself is asked, once.

# True when the words behind rlock begin with these.
function __rlock_begins
    set -l words (commandline -opc)
    set -l last (math 1 + (count $argv))
    test "$words[2..$last]" = "$argv"
end

# True when there are these, and no more.
function __rlock_is
    set -l words (commandline -opc)
    test "$words[2..-1]" = "$argv"
end

# The names of locks that are on the server, when it says so at once.
function __rlock_names
    set -l server
    set -l words (commandline -opc)
    while set -q words[2]
        set -e words[1]
        switch $words[1]
            case -s --server --password-file --tls-ca --tls-cert --tls-key --tls-name
                set -q words[2]; and set -a server $words[1..2]; and set -e words[1]
            case '--server=*' '--password-file=*' '--tls-*'
                set -a server $words[1]
        end
    end
    timeout 1 rlock status --list-names $server 2>/dev/null </dev/null
end

# One row "-s TAB --server TAB URL TAB where the lock lives" of a command.
function __rlock_option
    set -l field (string split \t -- $argv[1])
    set -l spec -c rlock -n "__rlock_begins $argv[2..-1]" -l (string sub -s 3 -- $field[2]) -d $field[4]
    test -n "$field[1]"; and set -a spec -s (string sub -s 2 -- $field[1])
    switch "$field[3]"
        case ''
        case URL
            set -a spec -x -a 'redis:// rediss:// unix:// sentinel:// sentinels:// cluster:// clusters:// local:'
        case NAME
            set -a spec -x -a '(__rlock_names)'
        case F
            set -a spec -r -F
        case HOST
            set -a spec -x -a '(__fish_print_hostnames)'
        case '*|*'
            set -a spec -x -a (string replace -a '|' ' ' -- $field[3])
        case '*'
            set -a spec -x
    end
    complete $spec
end

# A command, by the words that it is called by: its options, and the command that it runs; or what
# stands in the group that it is.
function __rlock_command
    set -l commands (rlock $argv --list-commands 2>/dev/null)
    if test -n "$commands"
        complete -c rlock -n "__rlock_is $argv" -a "(rlock $argv --list-commands)"
        complete -c rlock -n "__rlock_is $argv" -s h -l help -d 'Show help'
        complete -c rlock -n "__rlock_is help $argv" -a "(rlock $argv --list-commands)"
        for command in (string split -f 1 \t -- $commands | string match -v help)
            __rlock_command $argv $command
        end
        return
    end
    set -l valued
    set -l operand
    for row in (rlock $argv --list-options 2>/dev/null)
        set -l field (string split \t -- $row)
        if test -z "$field[2]"
            set operand $field[3]
            continue
        end
        test -n "$field[3]"; and set -a valued $field[1] $field[2]
        __rlock_option $row $argv
    end
    set -l skip (math 1 + (count $argv))
    switch "$operand"
        case COMMAND
            complete -c rlock -n "__rlock_begins $argv" -a "(__fish_complete_subcommand --fcs-skip=$skip $valued)"
        case NAME
            complete -c rlock -n "__rlock_begins $argv" -a '(__rlock_names)'
    end
end

complete -c rlock -f
complete -c rlock -n __rlock_is -l version -d 'Show the version'
__rlock_command
