// Package cleanup ends a process without its deferred calls, for example after a second interrupt, and still removes
// temporary files and child processes. All functions are safe for concurrent use.
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

// Add registers an action for the end of the process. forget removes it.
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

// Dir makes a directory like os.MkdirTemp. The directory is removed by remove or by Exit.
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

// Exit runs the registered actions and ends the process. Meanwhile Add and forget block.
func Exit(status int) {
	mu.Lock()
	run()
	os.Exit(status)
}

// run runs the actions. The caller must hold mu.
func run() {
	for _, action := range actions {
		action()
	}
}
