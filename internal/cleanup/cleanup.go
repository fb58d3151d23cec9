// Package cleanup ends a process without its deferred calls, as after a second interrupt, and leaves nothing behind: neither
// temporary files nor child processes. All functions are safe for concurrent use.
package cleanup

import (
	"os"
	"sync"
)

var (
	mu      sync.Mutex
	actions = map[int]func(){}
	next    int
)

// Add registers an action for the end of the process. The function that it returns takes the action back.
func Add(action func()) (forget func()) {
	mu.Lock()
	defer mu.Unlock()
	next++
	id := next
	actions[id] = action
	return func() {
		mu.Lock()
		defer mu.Unlock()
		delete(actions, id)
	}
}

// Dir makes a directory as os.MkdirTemp does. The function that it returns removes the directory, and so does Exit.
func Dir(parent, pattern string) (dir string, remove func(), err error) {
	dir, err = os.MkdirTemp(parent, pattern)
	if err != nil {
		return "", nil, err
	}
	forget := Add(func() { os.RemoveAll(dir) })
	return dir, func() {
		os.RemoveAll(dir)
		forget()
	}, nil
}

// Exit runs the registered actions and ends the process. Another goroutine that registers an action, or takes one back, waits
// until then.
func Exit(status int) {
	mu.Lock()
	run()
	os.Exit(status)
}

// run runs the actions. mu is held.
func run() {
	for _, action := range actions {
		action()
	}
}
