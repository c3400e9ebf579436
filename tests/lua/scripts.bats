#!/usr/bin/env bats
# scripts.bats: the scripts alone, driven by python on the server (tests/tools/scripts): random
# walks beside a model of each kind, the keys, values and messages of rlock-internals(7) one by one, what
# Redisson has made, the faults of the known scripts, keys of other kinds, no memory.
#
# environment: RLOCK_TEST_SEED   what a failed walk printed: the same walk again

seed=${RLOCK_TEST_SEED:-$RANDOM}

load ../lib/rlock

# All examples at once, for python takes longer to start than they do: what is wrong with each is in
# a file of its name.
setup_file() {
    rlock_setup_file
    export SCRIPTS PYTHONPYCACHEPREFIX=$BATS_FILE_TMPDIR/python
    mkdir "$BATS_FILE_TMPDIR/examples"
    python3 "$TOOLS/scripts" examples "$BATS_FILE_TMPDIR/main/sock" "$BATS_FILE_TMPDIR/examples"
}

# No rlock runs here: there is nothing to prepare, and nothing to check after a test.
setup() {
    :
}

teardown() {
    :
}

# walk KIND ROUNDS OUTCOME...: ROUNDS walks of 200 steps, each in a world of its own. An outcome that
# has never come out has not been tested.
walk() {
    local kind=$1 rounds=$2 outcome
    shift 2
    run python3 "$TOOLS/scripts" walk "$kind" "$BATS_FILE_TMPDIR/main/sock" "$seed" "$rounds" 200
    echo "$output"
    assert_success
    for outcome; do
        assert_output --regexp "[0-9][0-9]* x $outcome"
    done
}

example() { # NAME: of a function in examples_*.py
    cat "$BATS_FILE_TMPDIR/examples/$1"
    [[ ! -s $BATS_FILE_TMPDIR/examples/$1 ]]
}

# --- random walks ------------------------------------------------------------------------------

@test "run and fair: one holder, holds counted once, tokens grow, only the head is granted" {
    walk mutex 6 granted re-entered busy ousted renewed lost released 'still held' heard unheard die
}

@test "read and write: no writer beside anybody, each hold with its own lease, nobody forgotten" {
    walk rw 8 granted re-entered busy refused renewed lost released 'still held' heard unheard die
}

@test "sem: never more in use than there are, and permits in use and available are their number" {
    walk sem 6 granted busy refused renewed lost released resize heard die
}

@test "sem --plain: permits are lost with the dead, and only with them" {
    walk plain 5 granted busy released heard die
}

@test "latch: counts down once, opens at zero, says so" {
    walk latch 5 set down repeat attempt
}

# --- keys, values and messages -----------------------------------------------------------------

@test "run: the hash, its lease, the token, who holds" {
    example mutex_taken
}

@test "run: a re-entry is counted, each release takes one, the last says 0" {
    example mutex_reentered_and_given_back
}

@test "run: a renewal gives the whole lease, never less than there was, to the holder alone" {
    example mutex_renewed
}

@test "restore: where it is free, with the token that the others know, which no later one is below" {
    example restored_where_it_is_free
}

@test "restore: twice is once, and nothing becomes less" {
    example restored_once
}

@test "restore: out of the line, in which the next is the first then" {
    example restored_out_of_the_line
}

@test "restore: a hold that a late request has taken gets the token of the others" {
    example restored_with_the_token_that_the_others_know
}

@test "restore: a hold and the one inside it, in whatever order" {
    example restored_inner_and_outer
}

@test "restore: nothing is taken from anybody, and a try that was given back takes nothing" {
    example restored_nowhere_else
}

@test "restore: read holds beside others, and inside the owner's write hold" {
    example restored_readers
}

@test "asked to re-enter alone: the hold around it, or nothing" {
    example reentered_or_nothing
}

@test "run --min-hold: left held for its time, by nobody" {
    example mutex_left_held
}

@test "--once-per: what is noted of a run, and for how long" {
    example once_noted
}

@test "--once-per: who comes within the time gets no lock, free or not, of run and fair; who comes later does" {
    example once_within
}

@test "--once-key: only another key than the last that succeeded runs, with --once-per both must be new" {
    example once_key_alone
}

@test "--max-skips: each skip counts once, until a run succeeds" {
    example skips_counted
}

@test "--once-per: a run that failed is noted, and keeps nobody from running" {
    example once_failed
}

@test "--once-per: the longest time that was asked for is how long the record stays" {
    example once_longest
}

@test "--once-per: after the server's clock was set back the next run is at most one time later" {
    example once_clock_set_back
}

@test "--once-per: a release that is sent again, or of a hold that is lost, notes nothing" {
    example once_noted_once
}

@test "--once-per: an attempt that was granted is granted when it comes again, whatever is noted" {
    example once_granted_again
}

@test "--once-per: nested runs: each notes its own, under whatever hold" {
    example once_nested
}

@test "--once-per: noted also without memory; a key of another kind is left alone" {
    example once_and_others
}

@test "--preempt: a holder that has agreed is asked to end, with each try, and others are not" {
    example preempt_asks
}

@test "--preempt: who does not hold it is not asked: in line, kept by --min-hold, Redisson's" {
    example preempt_asks_holders_only
}

@test "run: waiters in line are woken one at a time" {
    example line_of_waiters
}

@test "fair: the queue, the scores, and a message for the head alone" {
    example fair_queue
}

@test "fair --supersede: the newest waits, those before it know" {
    example fair_newest_first
}

@test "read: mode, counts, a lease for each hold, 0 after the last" {
    example readers
}

@test "read: a renewal is for one hold" {
    example reader_renewed
}

@test "write: mode, OWNER:write, 1 after the last" {
    example writer
}

@test "write: who waits is marked, and holds back new readers while alive" {
    example waiting_writer
}

@test "read inside write: the read hold remains" {
    example downgrade
}

@test "read --min-hold: left held for its time, by nobody" {
    example left_held_by_a_reader
}

@test "write --min-hold: readers stay out for its time, a read hold inside goes on" {
    example left_held_by_a_writer
}

@test "sem: the value, a permit of 16 bytes for each taken, the new value as message" {
    example sem_taken
}

@test "sem --min-hold: the permits come back in its time" {
    example left_held_by_a_semaphore
}

@test "sem: renewed; expired permits come back once" {
    example sem_renewed_and_expired
}

@test "sem: lost with or without the permits in use, and set up again" {
    example sem_lost_and_set_up_again
}

@test "sem --resize: the difference, also below what is in use, and waiters hear of it" {
    example sem_resized
}

@test "sem --plain: the value alone" {
    example plain_taken
}

@test "latch: the count, 1 when set, 0 when open, gone" {
    example latch_counted_down
}

@test "names with a brace get none" {
    example names_with_a_brace
}

# --- inspecting, which changes nothing ------------------------------------------------------------

@test "inspect: a free name is free" {
    example seen_of_nothing
}

@test "inspect: run and fair: holds, lease, token, who, and all who wait" {
    example seen_of_a_mutex
}

@test "inspect: a token beyond 2^53 is exact" {
    example seen_of_a_large_token
}

@test "inspect: Redisson's mutex and its queue" {
    example seen_of_redissons_mutex
}

@test "inspect: a waiter that beats no more is none" {
    example seen_of_dead_waiters
}

@test "inspect: read: each reader's own lease, the dead left out, writers first in line" {
    example seen_of_readers
}

@test "inspect: write: a writer that reads too is one holder; a downgrade reads" {
    example seen_of_a_writer
}

@test "inspect: sem: permits by holder, those that have expired are available" {
    example seen_of_a_semaphore
}

@test "inspect: sem --plain: permits by holder; Redisson's are only counted" {
    example seen_of_plain_permits
}

@test "inspect: latch: its count" {
    example seen_of_a_latch
}

@test "inspect: a key that is no lock is of the wrong kind" {
    example seen_of_what_is_no_lock
}

@test "inspect: whatever stands where a holder is described does no harm" {
    example seen_of_odd_descriptions
}

@test "inspect: a crowd comes in pages, each once, also while some leave" {
    example seen_of_a_crowd_in_pages
}

@test "inspect: 3,000 permits of one hold are not looked at one by one" {
    example seen_of_many_permits
}

@test "inspect: of long texts the front is read, whatever character it ends in" {
    example seen_of_long_texts
}

@test "inspect: the last run with --once-per, whatever is noted of it" {
    example seen_of_the_last_run
}

# --- Redisson's --------------------------------------------------------------------------------

@test "Redisson's mutex is respected, and not touched" {
    example foreign_mutex
}

@test "Redisson's mutex without a lease is waited for" {
    example foreign_mutex_without_lease
}

@test "Redisson's readers are joined, and waited for one by one" {
    example foreign_readers
}

@test "Redisson's reader beside a longer hold of ours: the lock stands as long as the reader's" {
    example foreign_reader_outlives_ours
}

@test "Redisson's writer is respected, and not touched" {
    example foreign_writer
}

@test "Redisson's writer that also reads" {
    example foreign_writer_that_also_reads
}

@test "Redisson's waiter at the head keeps its turn, its score and its queue" {
    example foreign_head_is_respected
}

@test "Redisson's stale waiters at the head go, the others' times stay" {
    example stale_foreign_heads_go
}

@test "who leaves the queue moves those behind by 300,000" {
    example who_leaves_moves_those_behind
}

@test "foreign: a dead waiter of rlock's that has come to the front is passed over by Redisson in its time" {
    example who_comes_to_the_front_dead_is_no_longer_in_the_way_than_redissons
}

@test "Redisson's late waiter does not make those of rlock's behind it late" {
    example late_redisson_waiter_makes_nobody_late
}

@test "Redisson's waiter is woken on its channel" {
    example foreign_waiter_is_woken
}

@test "a place without a score, a score without a place: mended" {
    example score_without_a_place
}

@test "Redisson's permits count, expire and come back" {
    example foreign_permits
}

@test "Redisson's plain permits" {
    example foreign_plain_permits
}

@test "Redisson's latch" {
    example foreign_latch
}

@test "Redisson has taken what ours let expire" {
    example foreign_holder_beside_our_notes
}

@test "a lock deleted by hand leaves no proof" {
    example broken_lock_proves_nothing
}

# --- what is wrong with Redisson's own scripts, and not with ours ------------------------------

@test "a reader's renewal keeps no dead reader alive (#7098)" {
    example renewal_keeps_no_dead_reader_alive
}

@test "a downgrade tells the readers that wait" {
    example downgrade_tells_the_readers
}

@test "a downgrade by expiry lets them in" {
    example downgrade_by_expiry_frees_the_readers
}

@test "re-entering a write lock sets the lease, and does not add to it" {
    example write_reentry_sets_the_lease
}

@test "a reader of Redisson's that came after a forced unlock stays" {
    example reader_after_a_forced_unlock
}

@test "live fair waiters stay, however long they wait (#3004, #3730, #1104)" {
    example live_waiters_stay_for_hours
}

@test "dead fair waiters go within seconds, wherever they stand" {
    example dead_waiters_go_within_seconds
}

@test "while the server is away nobody can beat, and nobody is dropped" {
    example server_away_drops_nobody
}

@test "who was taken for dead comes back to its place in the queue" {
    example comes_back_to_its_place
}

@test "the server's clock is set back: who dies is passed over all the same" {
    example clock_set_back
}

@test "the server's clock is set back: a writer that was stopped keeps readers out for seconds only" {
    example clock_set_back_readers
}

@test "after a silence a try that does not wait drops nobody; the dead do not block it for long" {
    example who_does_not_wait_buries_nobody_alive
}

@test "dead fair waiters among living ones: all of these enter in their order" {
    example dead_among_the_living
}

@test "a thousand dead fair waiters in front: a few at a time, within ten seconds" {
    example dead_crowd_is_passed_over
}

@test "a free lock is taken and given back by few commands" {
    example cost_of_a_free_lock
}

@test "a lock that is free: the short ways through the scripts do what the long ones do" {
    example what_comes_first_does_the_same
}

@test "what a script of run or fair costs does not grow with those who wait" {
    example cost_of_a_living_crowd
}

@test "the scores of the fair queue are Redisson's" {
    example scores_are_redissons
}

@test "fair --supersede: who of Redisson's stood behind the one that goes is nearer by a place" {
    example scores_where_one_is_superseded
}

@test "a reader re-enters beside a waiting writer" {
    example reader_reenters_beside_a_waiting_writer
}

@test "dead readers leave no fields while others keep coming" {
    example dead_readers_leave_no_fields
}

@test "dead holders of permits leave no fields while others keep coming" {
    example dead_permits_leave_no_fields
}

@test "a lock call repeated after a lost reply counts once, and has the lease that it promises" {
    example repeated_attempt_counts_once
}

@test "an unlock repeated takes no outer hold, nor the next one's" {
    example repeated_release_takes_no_outer_hold
}

@test "a release repeated makes no permits" {
    example repeated_release_makes_no_permits
}

@test "a count-down repeated counts once" {
    example repeated_count_down_counts_once
}

@test "a set repeated sets once, also when the latch has opened since" {
    example repeated_set_sets_once
}

@test "a renewal does not outlive the release (#7272)" {
    example renewal_does_not_outlive_the_release
}

@test "what has expired is not given back, though others keep its keys alive" {
    example expired_hold_is_not_given_back
}

@test "a write lease that is over stays over when an inner hold ends" {
    example expired_write_stays_expired
}

# --- crowds --------------------------------------------------------------------------------------

@test "readers: whoever comes, waits, renews or leaves runs as many commands among 1,000 as among ten" {
    example crowd_of_readers
}

@test "readers: 1,000 that are dead hold nobody up, and no script takes them all out" {
    example dead_crowd_of_readers
}

@test "Redisson's dead readers are taken out a few at a time" {
    example crowd_of_redissons_dead
}

@test "readers that wait are woken by those who come in, past the dead and past writers, in a few hops" {
    example readers_wake_readers
}

# --- keys of other kinds -----------------------------------------------------------------------

@test "run touches no key of another kind" {
    example run_on_another_kind
}

@test "fair touches no key of another kind" {
    example fair_on_another_kind
}

@test "read touches no key of another kind" {
    example read_on_another_kind
}

@test "write touches no key of another kind" {
    example write_on_another_kind
}

@test "sem touches no key of another kind" {
    example sem_on_another_kind
}

@test "sem --plain touches no key of another kind" {
    example plain_on_another_kind
}

@test "latch touches no key of another kind" {
    example latch_on_another_kind
}

# --- no memory ---------------------------------------------------------------------------------

@test "out of memory: all that is held is renewed and given back" {
    example out_of_memory_renews_and_gives_back
}

@test "out of memory: nothing is half taken" {
    example out_of_memory_takes_nothing
}

@test "out of memory: who waits has a place in line" {
    example out_of_memory_waits
}

@test "out of memory: a latch opens" {
    example out_of_memory_latch
}

# --- many --------------------------------------------------------------------------------------

@test "sem: one script runs 40 commands at most, however many wait" {
    example few_commands_beside_waiters
}

@test "sem: and whoever of them can enter, or has died" {
    example few_commands_where_some_fit
}

@test "sem: and however many hold permits, or have died with them, of this name or of {this}" {
    example few_commands_beside_holders
}

@test "sem: and however many are taken at once" {
    example few_commands_for_many_permits
}

@test "sem: who asks for several is not overtaken for ever" {
    example the_first_has_its_turn
}

@test "sem: but nobody waits for one that is dead, or asks for more than there is" {
    example nobody_has_a_turn_for_what_cannot_be
}

@test "sem --plain: nor for what may never come back" {
    example plain_turns_end
}

@test "sem: all permits that come back are used, though some of the waiters stand still" {
    example permits_wake_one_after_the_other
}

@test "a late request that takes it for one that waits takes it out of the line" {
    example late_request_of_a_waiter
}

@test "sem: permits that stand, though nobody knows whose they are, are not taken twice" {
    example permits_that_stand_are_not_taken_twice
}

@test "latch: a count-down that arrives late counts once, whatever has become of the latch" {
    example late_count_down
    example late_count_down_of_none
}

@test "sem: a resize that arrives late changes nothing" {
    example late_resize
}

# -----------------------------------------------------------------------------------------------

@test "every example is run" {
    local path
    for path in "$BATS_FILE_TMPDIR"/examples/*; do
        grep -qx "    example ${path##*/}" "$BATS_TEST_FILENAME" || fail "no test of ${path##*/}"
    done
}
