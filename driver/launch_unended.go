package driver

// This file handles launches that have not ended at the end of the process. Sanitizers, statistics and logs need complete
// launches: Exit waits for a limited time, then stops the remaining launches and reports them. For the report of the process
// alone, it waits only for stopTimeout.

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"gemu/interp"
	"gemu/sanitize/finding"
)

// taskLaunches holds the launches of a task. The driver's mutex guards it.
type taskLaunches struct {
	waiting []string // kernels that have not begun
	running string   // the running kernel; "": none
}

// conditionalKernels stands for the kernels of a conditional node: their number is not known in advance.
const conditionalKernels = "kernels of a conditional node"

// unendedLaunches tracks the unended launches. The driver's mutex guards all fields except ctx and stop.
type unendedLaunches struct {
	ctx     context.Context // context of all launches
	stop    context.CancelCauseFunc
	tasks   map[*task]bool // tasks with launches; nil if Exit does not wait for launches
	refusal error          // error of each launch that would begin now; nil: launches may begin

	notBegunReason string // if refusal is set: the reason why launches that have not begun are not judged
}

// launchesByID holds the launches in flight that can be interrupted.
type launchesByID struct {
	mu       sync.Mutex
	launches map[*launchByID]bool
}

// launchByID is a launch to which the client has given a number.
type launchByID struct {
	id   uint64
	stop context.CancelCauseFunc
}

// errInterrupted is the cause for which Interrupt stops a launch.
var errInterrupted = errors.New("the program has interrupted the launch")

// Interrupt stops the launches whose launch option id is a number, also launches that wait for earlier ones. It does not wait for
// their end. A stopped launch fails with the result LaunchTimeout: it executes no instruction if it has not begun. The error has
// the result NotFound if there is no such launch.
func (d *Driver) Interrupt(id uint64) error {
	l := &d.byID
	l.mu.Lock()
	defer l.mu.Unlock()
	err := fail(NotFound, "no launch in flight has the number %d", id)
	for launch := range l.launches {
		if launch.id == id {
			launch.stop(errInterrupted)
			err = nil
		}
	}
	return err
}

// contextOf returns the context of a launch with a number, which Interrupt ends, and a function that the caller must call
// when the launch has ended. 0 is no number.
func (d *Driver) contextOf(id uint64) (ctx context.Context, end func()) {
	if id == 0 {
		return d.unended.ctx, func() {}
	}
	ctx, stop := context.WithCancelCause(d.unended.ctx)
	launch := &launchByID{id, stop}
	l := &d.byID
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.launches == nil {
		l.launches = map[*launchByID]bool{}
	}
	l.launches[launch] = true
	return ctx, func() {
		stop(nil)
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.launches, launch)
	}
}

// errProcessEnds is the cause for which launches are stopped at the end of the process.
var errProcessEnds = errors.New("the process ended without waiting for the launch")

// stopTimeout is the time for which Exit waits for stopped launches.
const stopTimeout = 2 * time.Second

// needsCompleteLaunches reports whether a setting requires that all launches end before the process ends. The report of the process
// alone does not.
func (s *Settings) needsCompleteLaunches() bool {
	return len(s.Sanitize) > 0 || s.Stats != "" || s.Log != "" || s.Record != "" || s.Accelsim != "" || len(s.Models) > 0 || len(s.Machines) > 0 || len(s.Probes) > 0 || s.Profile != ""
}

// exitWait returns the time for which Exit waits for launches.
func (s *Settings) exitWait() time.Duration {
	if s.needsCompleteLaunches() {
		return s.ExitWait
	}
	return min(s.ExitWait, stopTimeout)
}

func newUnendedLaunches(s *Settings) unendedLaunches {
	if !s.needsCompleteLaunches() && s.Report == "" {
		return unendedLaunches{ctx: context.Background(), stop: func(error) {}}
	}
	ctx, stop := context.WithCancelCause(context.Background())
	return unendedLaunches{ctx: ctx, stop: stop, tasks: map[*task]bool{}}
}

// expectLaunches records the future kernel launches of a task, in order. The task must not have begun. The caller must
// hold d.mu.
func (d *Driver) expectLaunches(t *task, kernels ...string) {
	if d.unended.tasks == nil || len(kernels) == 0 {
		return
	}
	t.launches = &taskLaunches{waiting: kernels}
	d.unended.tasks[t] = true
}

// noteLaunch records the begin of the next launch of the task. It returns an error if no launch may begin any more.
func (t *task) noteLaunch(d *Driver) error {
	if d.unended.tasks == nil {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.unended.refusal != nil {
		return d.unended.refusal
	}
	if p := t.launches; p != nil && len(p.waiting) > 0 {
		p.running, p.waiting = p.waiting[0], p.waiting[1:]
	}
	return nil
}

// noteEnd records the end of a task, and reports its launches that have not begun. The caller must hold d.mu.
func (t *task) noteEnd(d *Driver) {
	if t.launches == nil || !d.unended.tasks[t] {
		return
	}
	delete(d.unended.tasks, t)
	reason := "it did not begin, because an earlier operation of the context failed"
	if d.unended.refusal != nil {
		reason = d.unended.notBegunReason
	}
	for _, k := range t.launches.waiting {
		d.reportNotJudged(k, reason)
	}
}

// reportNotJudged reports a launch that sanitizers could not observe. The report is an error. After an earlier error it is
// a notice, because it may be a consequence of that error, unless the process is ending. Without sanitizers it is a notice. The caller must hold d.mu.
func (d *Driver) reportNotJudged(kernel, reason string) {
	severity := finding.Error
	if d.sanitizer.Errors() > 0 && d.unended.refusal == nil || len(d.settings.Sanitize) == 0 {
		severity = finding.Notice
	}
	d.sanitizer.Miss(kernel, 1, severity, reason)
}

// exitWaitHint says in messages how to change the time of exitWait.
func (s *Settings) exitWaitHint() string {
	if s.needsCompleteLaunches() {
		return "; GEMU_EXIT_WAIT sets this time"
	}
	return ", which is the time for processes without sanitizers, statistics and logs"
}

// notEndedReason returns the reason why a running launch is not judged at the end of the process.
func (d *Driver) notEndedReason() string {
	return fmt.Sprintf("it was still running %v after the end of the process%s", d.settings.exitWait(), d.settings.exitWaitHint())
}

// awaitLaunches waits until all launches have ended, for at most Settings.exitWait. inStream must be true if a
// function called from a stream ends the process: this stream makes no progress, so awaitLaunches gives up as soon as
// nothing runs.
func (d *Driver) awaitLaunches(inStream bool) {
	if d.unended.tasks == nil {
		return
	}
	d.waitWhile(func() { d.awaitOrStopLaunches(inStream) })
}

// awaitOrStopLaunches is awaitLaunches while the exit of the process counts as a wait of the host.
func (d *Driver) awaitOrStopLaunches(inStream bool) {
	deadline := time.NewTimer(d.settings.exitWait())
	defer deadline.Stop()
	reason := fmt.Sprintf("it had not begun %v after the end of the process%s", d.settings.exitWait(), d.settings.exitWaitHint())
	for {
		next, runs := d.nextUnendedLaunch()
		if next == nil {
			return
		}
		var idle <-chan time.Time
		if inStream && !runs {
			idle = time.After(idlePollInterval)
		}
		select {
		case <-next.done:
			continue
		case <-idle:
			if _, runs := d.nextUnendedLaunch(); runs {
				continue
			}
			reason = "it waited for a stream whose host function ended the process"
		case <-deadline.C:
		}
		break
	}
	d.mu.Lock()
	d.unended.refusal, d.unended.notBegunReason = fail(LaunchTimeout, "%v", errProcessEnds), reason
	d.mu.Unlock()
	d.unended.stop(errProcessEnds)
	stopDeadline := time.NewTimer(stopTimeout)
	defer stopDeadline.Stop()
	for {
		next, runs := d.nextUnendedLaunch()
		if !runs {
			break
		}
		select {
		case <-next.done:
			continue
		case <-stopDeadline.C:
		}
		break
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for t := range d.unended.tasks {
		if t.launches.running != "" {
			d.reportNotJudged(t.launches.running, d.notEndedReason())
		}
		for _, k := range t.launches.waiting {
			d.reportNotJudged(k, d.unended.notBegunReason)
		}
	}
	clear(d.unended.tasks)
}

// idlePollInterval is the time without a running launch after which awaitLaunches gives up.
const idlePollInterval = 200 * time.Millisecond

// nextUnendedLaunch returns a task with unended launches, preferably a running task; nil if all have ended.
func (d *Driver) nextUnendedLaunch() (next *task, runs bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for t := range d.unended.tasks {
		if t.launches.running != "" {
			return t, true
		}
		next = t
	}
	return next, false
}

// reportRefused reports to the sanitizers a launch that the driver has refused, and returns the error.
func (t *Thread) reportRefused(kernel Handle, err error) error {
	d := t.d
	if !d.settings.keepsFailures() {
		return err
	}
	d.mu.Lock()
	name := "a kernel"
	switch k := d.objects[kernel].(type) {
	case *Function:
		name = k.kernel.Name
	case *Kernel:
		name = k.name
	}
	d.mu.Unlock()
	t.reportRefusedKernel(name, err)
	return err
}

// LaunchRefused reports to the sanitizers a launch that a client's library has refused before a call of the driver.
func (t *Thread) LaunchRefused(kernel, reason string) {
	if t.d.settings.keepsFailures() {
		t.reportRefusedKernel(kernel, &interp.LaunchError{Msg: reason})
	}
}

// reportRefusedKernel reports a refused launch of a kernel. After a fault of the context, the launch counts as not judged,
// because the refusal is only a consequence of the fault.
func (t *Thread) reportRefusedKernel(kernel string, err error) {
	d := t.d
	d.mu.Lock()
	defer d.mu.Unlock()
	if c := t.top(); c != nil && c.err != nil {
		d.reportNotJudged(kernel, "it was refused, because an earlier operation of the context failed")
		return
	}
	d.sanitizer.Fail(kernel, err)
}

// reportRefusedGraph reports the kernels of a graph after the driver has refused its launch.
func (t *Thread) reportRefusedGraph(exec Handle, err error) {
	d := t.d
	if !d.settings.keepsFailures() {
		return
	}
	var kernels []string
	d.mu.Lock()
	if x, ok := d.objects[exec].(*GraphExec); ok {
		for _, n := range x.nodes {
			if l, ok := n.enabled().(*launch); ok {
				kernels = append(kernels, l.f.kernel.Name)
			}
		}
	}
	d.mu.Unlock()
	for _, k := range kernels {
		t.reportRefusedKernel(k, err)
	}
}
