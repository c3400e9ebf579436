// linearizable: could these acquisitions and releases have happened one after another, each at some instant of its
// own? Asked of Porcupine, which knows nothing of rlock.
//
//	linearizable MODEL <OPERATIONS
//
// MODEL is mutex, rw, or permits=N. Each line has an operation: "OWNER acquire|release read|write|- PERMITS TOKEN
// CALL RETURN", times in ns. Exit status: 0 yes, 1 no, 2 not known in time, 3 the input can't be read.
package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/anishathalye/porcupine"
)

const patience = 20 * time.Second

type operation struct {
	owner, verb, kind string
	permits           int
	token             int64
}

// What a lock that nobody breaks remembers: how many hold it, how much of it, and the largest tokens.
type state struct {
	holders, taken    int
	writer            bool
	writeToken, token int64
}

// A rule says whether an acquisition is allowed. A token is larger than those of all whom its holder excludes.
type rule func(now state, op operation) bool

func isMutex(now state, op operation) bool {
	return now.holders == 0 && op.token > now.token
}

func isRW(now state, op operation) bool {
	if op.kind == "write" {
		return isMutex(now, op)
	}
	return !now.writer && op.token > now.writeToken
}

func isPermits(number int) rule {
	return func(now state, op operation) bool { return now.taken+op.permits <= number }
}

func take(now state, op operation) state {
	now.holders++
	now.taken += op.permits
	now.writer = op.kind == "write"
	if op.token > now.token {
		now.token = op.token
	}
	if now.writer {
		now.writeToken = now.token
	}
	return now
}

func giveBack(now state, op operation) state {
	now.holders--
	now.taken -= op.permits
	now.writer = now.writer && op.kind != "write"
	return now
}

func model(allows rule) porcupine.Model {
	return porcupine.Model{
		Init: func() interface{} { return state{} },
		Step: func(before, input, _ interface{}) (bool, interface{}) {
			now, op := before.(state), input.(operation)
			if op.verb == "release" {
				return now.holders > 0, giveBack(now, op)
			}
			return allows(now, op), take(now, op)
		},
	}
}

func ruleOf(name string) (rule, error) {
	switch name {
	case "mutex":
		return isMutex, nil
	case "rw":
		return isRW, nil
	}
	var number int
	_, err := fmt.Sscanf(name, "permits=%d", &number)
	return isPermits(number), err
}

func read(input io.Reader) (history []porcupine.Operation, err error) {
	for words := bufio.NewReader(input); ; {
		var op operation
		next := porcupine.Operation{ClientId: len(history)}
		got, err := fmt.Fscan(words, &op.owner, &op.verb, &op.kind, &op.permits, &op.token, &next.Call, &next.Return)
		if got == 0 && err == io.EOF {
			return history, nil
		} else if err != nil {
			return nil, err
		}
		next.Input = op
		history = append(history, next)
	}
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: linearizable MODEL")
		os.Exit(3)
	}
	allows, err := ruleOf(os.Args[1])
	history, failure := read(os.Stdin)
	if err != nil || failure != nil {
		fmt.Fprintln(os.Stderr, err, failure)
		os.Exit(3)
	}
	switch porcupine.CheckOperationsTimeout(model(allows), history, patience) {
	case porcupine.Illegal:
		os.Exit(1)
	case porcupine.Unknown:
		os.Exit(2)
	}
}
