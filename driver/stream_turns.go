package driver

// This file decides which operation runs: ready operations take turns.
//
// Of all ready tasks, one has the turn and runs. A turn ends when the task ends, or at a point where the task may depend on
// another task: a kernel yields after a round in which none of its CTAs has ended, and a wait for a value yields while the value is
// not there. In a lap each task has one turn. The next turn goes to the task that was submitted first, among all tasks without a
// turn in this lap. So a kernel that spins on a flag yields, and the kernel that sets the flag runs, on whatever streams they are.
//
//	stream 1   A (spins on x)     lap 1: A yields, B sets x and ends, C yields
//	stream 2   B (sets x)         lap 2: A ends, C yields
//	stream 3   C (long)           lap 3: C ends
//
// The order depends on the order of submissions only, not on the time of the host: a task that is submitted later has a later turn
// in the lap, whether or not the earlier tasks have had theirs. For the same reason the schedule does not begin a lap, with a
// second turn for tasks in flight, while the host may still submit a task that belongs to the current lap. It begins a lap if a
// thread of the host waits for a task, if the host polls, if no task has become ready or ended for a while (turns.idle), or if the context
// has a single stream.
//
// A function of the host runs while other tasks have turns. The next turn waits for its end, for at most hostFunctionTime, because the function's
// successors may come first in the order.

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"gemu/interp"
)

const (
	// idleTime is the default of turns.idle.
	idleTime = 10 * time.Millisecond
	// hostFunctionTime is the time for which turns wait for a function of the host.
	hostFunctionTime = 100 * time.Millisecond
	// memoryWaitGrace is the time for which a thread of the host waits while no kernel in flight can continue, before this is a
	// deadlock: meanwhile another thread of the host may write the awaited value, or launch a kernel that does.
	memoryWaitGrace = 500 * time.Millisecond
	// noticeTime is the default of turns.noticeTime.
	noticeTime = 10 * time.Second
)

// turns is the schedule of ready tasks. The driver's mutex guards it.
type turns struct {
	submitted uint64  // number of submitted tasks
	ready     []*task // ready tasks that have not ended, in the order of their submission
	holder    *task   // task that has the turn; nil: none
	lap       uint64  // number of the current lap, from 1
	changes   uint64  // number of changes of memory: turns and ended tasks
	advances  uint64  // number of changes, and of turns without a change in which a task was not stalled

	waiting    int           // threads of the host that wait for tasks
	noticeTime time.Duration // time after which a message names stalled kernels for which no thread waits, or a function for which turns wait
	idle       time.Duration // time without a ready or ended task after which laps begin although no thread waits
	released   bool          // laps may begin although no thread waits, until the next submission
	polled     time.Time     // time of the host's last query of unfinished work

	timer *time.Timer // next decision; nil: none

	// State while all tasks in flight are stalled:
	stalledSince time.Time     // zero: they are not stalled
	waitedSince  time.Time     // since when a thread of the host waits meanwhile; zero: none waits
	stalledAt    uint64        // value of changes
	interval     time.Duration // time between two retries; a retry is a turn of every task
	retryAt      time.Time     // time of the next retry; zero: it is not chosen yet
	noticed      bool          // a message has named the stalled kernels
}

// taskTurns is a task's part of the schedule. The driver's mutex guards it.
type taskTurns struct {
	number   uint64        // number of the task in the order of submission, from 1
	lap      uint64        // last lap in which the task had a turn; 0: none
	granted  chan struct{} // closed when the task gets the turn; nil: no goroutine waits for it
	inHost   bool          // the task runs a function of the host, or waits for another process
	hostFrom time.Time     // time at which this function began
	noticed  bool          // a message has named this function
	awaited  int           // waits of the host for this task alone
	waits    []*hostWait   // waits of the host for several tasks

	// State between two turns:
	stalled   bool            // only a change of memory lets the task continue
	stalledAt uint64          // value of turns.changes at the end of the turn
	yieldedAt uint64          // value of turns.advances at the end of the turn
	kernel    string          // name of the kernel; "": a wait for a value
	places    func() []string // describes where the task waits
	deadlock  bool            // the next turn ends the task, because it is in a deadlock
}

// hostWait is a wait of a thread of the host for several tasks.
type hostWait struct{ remaining int }

// beginWait records that a thread of the host waits for tasks; nil tasks are skipped. The wait ends with the last of the tasks. It
// reports whether there is a task to wait for.
func (d *Driver) beginWait(tasks []*task) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	var last *task
	remaining := 0
	for _, t := range tasks {
		if !t.ended() {
			last = t
			remaining++
		}
	}
	switch remaining {
	case 0:
		return false
	case 1:
		last.awaited++
	default:
		w := &hostWait{remaining}
		for _, t := range tasks {
			if !t.ended() {
				t.waits = append(t.waits, w)
			}
		}
	}
	d.turns.waiting++
	d.schedule()
	return true
}

// waitWhile records that a thread of the host waits while wait runs. The caller must not hold d.mu.
func (d *Driver) waitWhile(wait func()) {
	d.mu.Lock()
	d.turns.waiting++
	d.schedule()
	d.mu.Unlock()
	defer func() {
		d.mu.Lock()
		d.turns.waiting--
		d.mu.Unlock()
	}()
	wait()
}

// notePoll records that the host has queried unfinished work. The caller must hold d.mu.
func (d *Driver) notePoll() {
	d.turns.released, d.turns.polled = true, time.Now()
	d.schedule()
}

// addReady adds a ready task to the schedule. The caller must hold d.mu, and call schedule unless it goes on to run the task.
func (d *Driver) addReady(t *task) {
	u := &d.turns
	i := len(u.ready)
	for i > 0 && u.ready[i-1].number > t.number {
		i--
	}
	u.ready = slices.Insert(u.ready, i, t)
}

// removeTask removes an ended task from the schedule. The caller must hold d.mu, and call schedule afterwards.
func (d *Driver) removeTask(t *task) {
	u := &d.turns
	if u.holder == t {
		u.holder = nil
	}
	if i := slices.Index(u.ready, t); i >= 0 {
		u.ready = slices.Delete(u.ready, i, i+1)
	}
	u.noteChange()
	u.waiting -= t.awaited
	t.awaited = 0
	for _, w := range t.waits {
		if w.remaining--; w.remaining == 0 {
			u.waiting--
		}
	}
	t.waits = nil
}

// takeTurn waits until a ready task gets the turn. The caller must hold d.mu, which takeTurn releases while it waits.
func (d *Driver) takeTurn(t *task) {
	u := &d.turns
	granted := make(chan struct{})
	t.granted = granted
	if d.schedule(); u.holder == t {
		return
	}
	d.mu.Unlock()
	<-granted
	d.mu.Lock()
}

// noteChange records that memory may have changed. The driver's mutex must be held.
func (u *turns) noteChange() {
	u.changes++
	u.advances++
}

// grant gives a task the turn. The caller must hold d.mu.
func (d *Driver) grant(t *task) {
	d.turns.holder, t.lap = t, d.turns.lap
}

// schedule gives the turn to the next task, if no task has it and the task's goroutine waits for it. The caller must hold d.mu.
func (d *Driver) schedule() {
	u := &d.turns
	if u.holder != nil || len(u.ready) == 0 {
		return
	}
	if t := d.chooseTask(); t != nil && t.granted != nil {
		d.grant(t)
		close(t.granted)
		t.granted = nil
	}
}

// chooseTask returns the task whose turn is next; nil if there is none now. It may begin a lap. The caller must hold d.mu, and no task
// may have the turn.
func (d *Driver) chooseTask() *task {
	u := &d.turns
	if u.timer != nil {
		u.timer.Stop()
		u.timer = nil
	}
	for {
		var inHost *task // first task before the next one for whose function turns wait
		inFlight, stalled := 0, 0
		for _, t := range u.ready {
			switch {
			case t.inHost:
				if inHost == nil && (d.ordering.enabled || time.Since(t.hostFrom) < hostFunctionTime) {
					inHost = t
				}
				continue
			case t.lap < u.lap && inHost == nil:
				return t
			}
			if inFlight++; t.stalled && t.stalledAt == u.changes {
				stalled++
			}
		}
		switch {
		case inHost != nil:
			if d.ordering.enabled {
				d.reportFunction(inHost)
			} else {
				d.decideIn(hostFunctionTime-time.Since(inHost.hostFrom), func() {})
			}
			return nil
		case inFlight == 0:
			return nil
		case stalled == inFlight:
			if t, beginLap := d.nextStalled(); !beginLap {
				return t
			}
		case u.waiting == 0 && !u.released && d.hasSeveralStreams():
			d.decideIn(u.idle, func() { u.released = true })
			return nil
		}
		u.lap++
	}
}

// reportFunction prints a message, once, if the function of a task has not ended after turns.noticeTime and other tasks wait for it. The
// caller must hold d.mu.
func (d *Driver) reportFunction(t *task) {
	othersWait := slices.ContainsFunc(d.turns.ready, func(r *task) bool { return !r.inHost })
	switch rest := d.turns.noticeTime - time.Since(t.hostFrom); {
	case !othersWait || t.noticed:
	case rest > 0:
		d.decideIn(rest, func() {})
	default:
		t.noticed = true
		d.message("a function of the program on %s has not ended after %v, and other operations wait for it. "+
			"With GEMU_SANITIZE=race or GEMU_ACCELSIM, operations run in the order of the calls, so the function must not wait for a later operation.%s",
			t.stream.name(), d.turns.noticeTime, d.placesText())
	}
}

// decideIn makes the next decision after a time, at which it first calls change. The caller must hold d.mu.
func (d *Driver) decideIn(delay time.Duration, change func()) {
	var timer *time.Timer
	timer = time.AfterFunc(delay, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.turns.timer == timer {
			change()
			d.schedule()
		}
	})
	d.turns.timer = timer
}

// hasSeveralStreams reports whether a context with a ready task has streams other than the default stream, or ready tasks belong to
// several contexts. The caller must hold d.mu.
func (d *Driver) hasSeveralStreams() bool {
	ready := d.turns.ready
	return slices.ContainsFunc(ready, func(t *task) bool {
		return len(t.stream.ctx.streams) > 1 || t.stream.ctx != ready[0].stream.ctx
	})
}

// nextStalled is chooseTask while all tasks in flight are stalled: only the host can change memory. beginLap is true if all tasks must have a
// further turn, because the host may have changed memory. The caller must hold d.mu.
func (d *Driver) nextStalled() (t *task, beginLap bool) {
	const minInterval, maxInterval = 20 * time.Microsecond, time.Millisecond
	u := &d.turns
	now := time.Now()
	if u.stalledSince.IsZero() || u.stalledAt != u.changes {
		u.stalledSince, u.waitedSince, u.stalledAt, u.interval, u.retryAt, u.noticed = now, time.Time{}, u.changes, minInterval, time.Time{}, false
	}
	runsFunction := slices.ContainsFunc(u.ready, func(t *task) bool { return t.inHost })
	switch isWaited := (u.waiting > 0 || now.Sub(u.polled) < memoryWaitGrace) && !runsFunction; {
	case !isWaited:
		u.waitedSince = time.Time{}
	case u.waitedSince.IsZero():
		u.waitedSince = now
	}
	if !u.retryAt.IsZero() && !now.Before(u.retryAt) {
		u.retryAt = time.Time{}
		return nil, true
	}
	kernel := slices.IndexFunc(u.ready, func(t *task) bool { return t.kernel != "" && !t.inHost })
	if kernel >= 0 {
		t = u.ready[kernel]
		// A deadlock needs a retry just before it: the host may have changed memory since an earlier retry.
		if u.retryAt.IsZero() && !u.waitedSince.IsZero() && now.Sub(u.waitedSince) >= memoryWaitGrace {
			t.deadlock, u.stalledSince = true, time.Time{}
			return t, false
		}
		if u.waitedSince.IsZero() && !u.noticed && now.Sub(u.stalledSince) >= u.noticeTime {
			u.noticed = true
			d.message("kernel %s has waited for %v for a change of memory that no operation in flight can make. "+
				"It continues when the program makes the change; a call that waits for the kernel reports a deadlock instead.%s", t.kernel, u.noticeTime, d.placesText())
		}
	}
	if u.retryAt.IsZero() { // another decision before the retry, such as one for a query of the host, does not postpone it
		u.retryAt = now.Add(u.interval)
		u.interval = min(2*u.interval, maxInterval)
	}
	d.decideIn(u.retryAt.Sub(now), func() {})
	return nil, false
}

// placesText lists the tasks in flight with their places, each on a line of its own. The caller must hold d.mu.
func (d *Driver) placesText() (text string) {
	for _, n := range d.inFlight(nil) {
		text += "\n  " + n
	}
	return text
}

// inFlight describes the tasks that have yielded, except t. The caller must hold d.mu.
func (d *Driver) inFlight(except *task) (list []string) {
	for _, t := range d.turns.ready {
		if t == except || t.places == nil {
			continue
		}
		what := "operation"
		if t.kernel != "" {
			what = "kernel " + t.kernel
		}
		for _, place := range t.places() {
			list = append(list, fmt.Sprintf("in flight: %s on %s: %s", what, t.stream.name(), place))
		}
	}
	return list
}

// errStopped is the error of a kernel in flight in a context with a lasting fault.
var errStopped = errors.New("it was stopped, because another operation of its context failed")

// yield ends the turn of the running task, and returns when the task has the turn again. kernel is the name of the task's kernel; ""
// for a wait for a value. It is the function interp.Launch.Yield. The caller must not hold d.mu.
func (d *Driver) yield(kernel string, turn *interp.Turn) interp.Resumption {
	d.mu.Lock()
	defer d.mu.Unlock()
	u := &d.turns
	t := u.holder
	if turn.Changed {
		u.noteChange()
	} else if !turn.Stalled {
		u.advances++
	}
	t.kernel, t.places, t.stalled, t.stalledAt, t.yieldedAt = kernel, turn.Places, turn.Stalled, u.changes, u.advances
	u.holder = nil
	d.takeTurn(t)
	r := interp.Resumption{Changed: u.changes != t.stalledAt, OthersRan: u.advances != t.yieldedAt}
	r.Deadlock = t.deadlock && !r.Changed
	t.places, t.deadlock = nil, false
	if r.Deadlock {
		if others := d.inFlight(t); len(others) > 0 {
			r.Notes = append([]string{fmt.Sprintf("kernel %s is on %s", kernel, t.stream.name())}, others...)
		}
	}
	if t.stream.ctx.err != nil && !t.always {
		r.Err = fmt.Errorf("kernel %s on %s: %w", kernel, t.stream.name(), errStopped)
	}
	return r
}

// runInHost calls f, which runs a function of the host or waits for another process, while other tasks have turns. The caller must be
// the running task, and must not hold d.mu.
func (d *Driver) runInHost(f func()) {
	u := &d.turns
	d.mu.Lock()
	t := u.holder
	t.inHost, t.hostFrom, t.noticed, u.holder = true, time.Now(), false, nil
	d.schedule()
	d.mu.Unlock()
	defer func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		t.inHost, t.lap = false, 0
		u.noteChange()
		d.takeTurn(t)
	}()
	f()
}
