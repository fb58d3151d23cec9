package driver

// This file implements launches whose results are returned as data.

import (
	"bytes"
	"slices"

	"gemu/internal/document"
	"gemu/interp"
	"gemu/models/catalog"
	"gemu/probe"
	"gemu/profile"
	"gemu/record"
	"gemu/sanitize"
)

// Outcome holds the results of a launch as data.
type Outcome struct {
	Result     *interp.Result      // nil if the launch has failed
	Statistics *Statistics         // counts of the launch, with its models and machines; without counts if it has failed
	Run        *document.Run       // counts, and the trap, with the findings
	Findings   *sanitize.Report    // findings of the launch's own sanitizers, up to its end or trap; nil without them
	Structure  *document.Structure // value structure; nil if it was not counted or the launch has failed
	Profile    *document.Profile   // profile, up to the end or trap; nil if the launch was not profiled
	Recording  []byte              // recording, up to the end or trap; nil if the launch was not recorded
}

// launchWatch holds the observers of one launch, which its options select.
type launchWatch struct {
	sanitizer *sanitize.Sanitizer
	stats     *statistics
	profile   *profile.Probe   // nil: none
	recorder  *record.Recorder // nil: none
	recording bytes.Buffer
}

// newLaunchWatch makes the observers of a launch.
func newLaunchWatch(o *LaunchOptions) (*launchWatch, []probe.Probe, error) {
	w := &launchWatch{sanitizer: sanitize.New(o.settings.Sanitize, sanitize.Options{}), stats: newStatistics(&o.settings)}
	probes := slices.Clone(w.sanitizer.Probes)
	if len(o.settings.Models) > 0 {
		w.stats.models = catalog.Watch(o.settings.Models)
		probes = append(probes, w.stats.models)
	}
	if len(o.settings.Machines) > 0 {
		probes = append(probes, w.stats.addMachines(o.settings.Machines, o.settings.MachineValues, func(error) {})) // the report has the error
	}
	if o.profile {
		w.profile = profile.New()
		probes = append(probes, w.profile)
	}
	if o.record {
		var err error
		if w.recorder, err = record.NewRecorder(&w.recording, record.Options{Contents: o.settings.RecordWith}); err != nil {
			return nil, nil, err
		}
		probes = append(probes, w.recorder)
	}
	return w, probes, nil
}

// outcome returns the results of a launch that has ended, with the error err.
func (w *launchWatch) outcome(l *launch, r *interp.Result, err error) *Outcome {
	file := l.f.kernel.Module().Name
	counted := *r
	if err != nil {
		counted.Structure = nil
	}
	results := []*interp.Result{&counted}
	facts, groups := document.LaunchOf(file, results), document.Groups(results)
	o := &Outcome{Run: document.NewRun(facts, &counted, nil, err)}
	if err == nil {
		o.Result = r
		w.stats.add(l.f.kernel, r) // another thread may have unloaded the module
	}
	o.Statistics = w.stats.snapshot()
	if counted.Structure != nil {
		o.Structure = document.NewStructure(facts, groups, counted.Structure)
	}
	if w.profile != nil {
		p := w.profile.Profile()
		o.Profile = document.NewProfile(facts, groups, p, document.ClassesOf(counted.Structure), document.Blocks(p, 0), false)
	}
	if len(w.sanitizer.Probes) > 0 {
		w.sanitizer.Finish()
		o.Findings = w.sanitizer.Report()
		o.Run.Findings = o.Findings
		if o.Run.Exit == "ok" && o.Findings.Errors > 0 {
			o.Run.Exit = "findings"
		}
	}
	if w.recorder != nil {
		w.recorder.Close() // a buffer in memory has no errors
		o.Recording = w.recording.Bytes()
	}
	return o
}

// RunForOutcome is Run with the results as data. If the launch has begun and then failed, the outcome is returned together
// with the error. The outcome is nil if the launch did not begin.
func (t *Thread) RunForOutcome(p *LaunchParams) (*Outcome, error) {
	params := *p
	if params.Options == nil {
		params.Options = t.d.defaultOptions()
	}
	watch, probes, err := newLaunchWatch(params.Options)
	if err != nil {
		return nil, err
	}
	params.Probes = slices.Concat(p.Probes, probes)
	l, r, err := t.runLaunch(&params)
	if r == nil {
		return nil, err
	}
	return watch.outcome(l, r, err), err
}
