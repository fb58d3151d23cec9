package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"testing"
	"time"
)

// childVariable makes the program of the tests a process that TestBounded runs.
const childVariable = "MUTATE_TEST_CHILD"

func TestMain(m *testing.M) {
	switch os.Getenv(childVariable) {
	case "":
		os.Exit(m.Run())
	case "hang":
		time.Sleep(time.Hour)
	case "memory":
		list := make([]byte, 128<<20)
		for i := 0; i < len(list); i += 4096 {
			list[i] = 1
		}
		if os.Getenv(childVariable+"_WAIT") != "" {
			time.Sleep(time.Hour)
		}
	case "fail":
		os.Exit(7)
	}
}

// TestBounded: a process ends at its limits of time and memory, and the usage of a process is known.
func TestBounded(t *testing.T) {
	child := func(kind string, env ...string) func(context.Context) *exec.Cmd {
		return func(ctx context.Context) *exec.Cmd {
			cmd := exec.CommandContext(ctx, os.Args[0])
			cmd.Env = append(os.Environ(), append(env, childVariable+"="+kind)...)
			return cmd
		}
	}
	if _, err := runBounded(usage{time: 100 * time.Millisecond}, child("hang")); !errors.Is(err, errTime) {
		t.Errorf("a process that does not end: %v", err)
	}
	if _, err := runBounded(usage{time: time.Minute, memory: 64 << 20}, child("memory", childVariable+"_WAIT=1")); !errors.Is(err, errMemory) {
		t.Errorf("a process that takes more memory than its limit: %v", err)
	}
	used, err := runBounded(usage{time: time.Minute, memory: 1 << 30}, child("memory"))
	if err != nil || used.memory < 128<<20 || used.memory > 512<<20 || used.time <= 0 {
		t.Errorf("a process of 128 MB: %+v, %v", used, err)
	}
	var exit *exec.ExitError
	if _, err := runBounded(usage{time: time.Minute}, child("fail")); !errors.As(err, &exit) || exit.ExitCode() != 7 {
		t.Errorf("a process with exit status 7: %v", err)
	}
	if got, want := (usage{time.Minute, 5}).limit(3), (usage{3 * time.Minute, memoryMargin + 5}); got != want {
		t.Errorf("the limit is %v, not %v", got, want)
	}
	if got := (usage{}).limit(3).time; got != minTime {
		t.Errorf("the smallest limit is %v", got)
	}
}
