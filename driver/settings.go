package driver

// This file holds the settings of a driver and the environment variables for them.

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"gemu/affinetrack"
	"gemu/internal/notation"
	"gemu/internal/visible"
	"gemu/interp"
	"gemu/machine"
	"gemu/machine/systems"
	"gemu/models/catalog"
	"gemu/probe"
	"gemu/record"
	"gemu/sanitize"
)

// Settings holds the properties of a driver, and the options with which it runs kernels. DefaultSettings returns the
// usual values.
type Settings struct {
	SM      int    // compute capability: 86 is 8.6; also selects the arithmetic of tensor cores
	Version int    // CUDA version, as cuDriverGetVersion returns it: 12090 is 12.9
	Devices int    // number of devices
	Memory  uint64 // memory of each device, in bytes

	Mode       interp.Mode         // vector, affine or check
	Policy     *affinetrack.Policy // nil: the first of affinetrack.Policies
	Early      bool                // asynchronous effects happen at their instruction
	Engine     interp.Engine       // interp.DefaultEngine: portable
	Native     bool                // GEMU_ENGINE is native: a message names each reason for which Go executes a launch
	Reconverge *interp.Reconverger // nil: the first of interp.Reconvergers()
	Workers    int                 // host threads for CTAs; 0: as many as cores
	Steps      int64               // step limit: instructions that a warp may execute; 0: the default of package interp
	TimeLimit  time.Duration       // for a launch; 0: no limit
	Tolerate   probe.Tolerance     // faults after which kernels continue
	Host       uint64              // bytes of host memory for CTAs in flight; 0: the default of package interp

	Stats  string          // file for the statistics, which Close writes; "": none
	Models []catalog.Entry // models of register files for all launches; their reports are in the statistics

	// Profile selects the lines of the profile of all launches, which is in the statistics: those of the source where the PTX names
	// them ("source"), or those of the PTX ("ptx"). "": no profile.
	Profile string

	Machines []machine.Spec // machines that run the memory requests of all launches; their counts are in the statistics
	// MachineValues means that the machines compare the values of loads in their order with those of the execution.
	MachineValues bool

	Dump  string // directory for the PTX of loaded modules; "": none
	Trace int    // 0: silent; 1: failed or unsupported calls; 2: all calls

	Log string // file for the log of all launches, in text, or in binary if the name ends in .gtr; "": none

	Record     string          // file for the recording of all launches; "": none
	RecordWith record.Contents // optional parts of the recording

	// Accelsim is the directory for Accel-Sim traces of all launches. Each process makes its own directory there. A
	// prefix "tracez:" selects .tracez files. "": no traces.
	Accelsim string

	// Sanitize lists the sanitizers for all launches. Their findings are written to SanitizeLog when the driver ends,
	// as JSON if the name ends in .json; "" is Stderr. SanitizeExit is the exit status of the process if there are
	// errors among the findings; 0 leaves the status unchanged.
	Sanitize     []*sanitize.Tool
	SanitizeLog  string // see Sanitize
	SanitizeExit int    // see Sanitize

	Source []string // directories with source files that the debugger may show, in addition to the directory of the PTX

	// Report is the directory for the report of the process, which has the findings, too; "": none. Findings are not
	// printed on Stderr then.
	Report string

	// ExitWait is the time for which Exit waits for unended launches, if Sanitize, Stats, Profile, Log, Models or Probes
	// need them.
	ExitWait time.Duration

	Debug *Debugging // the debugger and the launches under its control; nil: none. It implies Blocking

	Blocking bool // a launch call returns when the kernel has ended

	// ContinueOnFault lets a context continue after a fault: the next call that waits for its work returns the fault,
	// and later calls do not. Memory stays as the fault left it.
	ContinueOnFault bool

	Probes []probe.Probe // observers of all launches and of the host's accesses to memory

	Stdout io.Writer // output of kernels, written at synchronisation; nil: discarded
	Stderr io.Writer // messages; nil: discarded
	Plain  bool      // messages, findings and the debugger print plain text: ASCII, with sets of lanes in words
}

// DefaultSettings returns the settings of a process without environment variables for gemu. Version is that of the newest
// runtime library, because a driver must not be older than the runtime.
func DefaultSettings() Settings {
	return Settings{SM: interp.DefaultSM, Version: 13050, Devices: 1, Memory: 16 << 30, Mode: interp.Vector, Engine: interp.Auto, ExitWait: time.Minute}
}

// Values of Settings.Profile.
const (
	profileSource = "source"
	profilePTX    = "ptx"
)

// Variable is an environment variable for a setting.
type Variable struct {
	Name    string // such as "GEMU_SM"
	Values  string // allowed values
	Default string // effect of an unset or empty variable, in words
	Doc     string // meaning, in sentences for documents

	set func(s *Settings, value string) error
}

// Variables lists the environment variables in the order of the documentation.
var Variables = []Variable{
	{"GEMU_SM", "MAJOR.MINOR", "8.6", "Compute capability that the device reports. Its tensor cores add as those of such a device.", func(s *Settings, v string) error {
		major, minor, ok := version(v)
		if !ok || major < 3 {
			return fmt.Errorf("want a compute capability such as 8.6")
		}
		s.SM = 10*major + minor
		return nil
	}},
	{"GEMU_DRIVER", "MAJOR.MINOR", "13.5", "Version of CUDA that the driver reports.", func(s *Settings, v string) error {
		major, minor, ok := version(v)
		if !ok || major < 11 {
			return fmt.Errorf("want a version of CUDA such as 12.9, from 11.0 on")
		}
		s.Version = 1000*major + 10*minor
		return nil
	}},
	{"GEMU_DEVICES", "N", "1", "Number of devices.", func(s *Settings, v string) (err error) {
		s.Devices, err = atoi(v, 0, 64)
		return err
	}},
	{"GEMU_MEMORY", "BYTES, with K, M or G", "16G", "Memory of each device. It bounds allocations; memory of the host is taken only when it is first used.", func(s *Settings, v string) (err error) {
		s.Memory, err = notation.ParseSize(v)
		return err
	}},
	{"GEMU_MODE", "vector, affine or check", "vector", "How instructions execute: on lanes only (vector), on compact operands where possible (affine), or in both ways with a comparison of the results (check).", func(s *Settings, v string) error {
		m, err := interp.ParseMode(v)
		if err != nil {
			return fmt.Errorf("want vector, affine or check")
		}
		s.Mode = m
		return nil
	}},
	{"GEMU_ENGINE", "auto, portable or native", "auto", "Engine that executes instructions: Go (portable) or machine code of this host (native); auto selects native if gemu has machine code for the host. With native, a line on standard error gives each reason for which Go executes a launch, once.", func(s *Settings, v string) (err error) {
		s.Engine, err = interp.EngineNamed(v)
		s.Native = v == "native"
		return err
	}},
	{"GEMU_POLICY", "a name of `gemu run --policy`", "gemu", "The value policy, which decides which values are compact.", func(s *Settings, v string) error {
		if s.Policy = affinetrack.PolicyByName(v); s.Policy == nil {
			var names []string
			for _, p := range slices.Concat(affinetrack.Policies, affinetrack.Variants) {
				names = append(names, p.Name)
			}
			return fmt.Errorf("want one of %s", strings.Join(names, ", "))
		}
		return nil
	}},
	{"GEMU_RECONVERGE", "a name of `gemu run --reconverge`, such as stack or its:8", "auto", "The rule that decides which warp split of a warp runs next, and where warp splits reconverge.", func(s *Settings, v string) (err error) {
		s.Reconverge, err = interp.ParseReconverger(v)
		return err
	}},
	{"GEMU_ASYNC", "late or early", "late", "Time of asynchronous effects: late (at the wait that orders them) or early (where they are issued).", func(s *Settings, v string) error {
		if v != "late" && v != "early" {
			return fmt.Errorf("want late or early")
		}
		s.Early = v == "early"
		return nil
	}},
	{"GEMU_WORKERS", "N", "one per core", "Host threads that run a kernel. Results do not depend on their number.", func(s *Settings, v string) (err error) {
		s.Workers, err = atoi(v, 1, 4096)
		return err
	}},
	{"GEMU_STEPS", "N", "134217728", "Instructions that a warp may execute before the launch is stopped with CUDA_ERROR_LAUNCH_TIMEOUT.", func(s *Settings, v string) (err error) {
		n, err := atoi(v, 1, math.MaxInt)
		s.Steps = int64(n)
		return err
	}},
	{"GEMU_TIME_LIMIT", "TIME, such as 90s, 5m or 90 for seconds", "no limit", "Time that a launch may run before it is stopped with CUDA_ERROR_LAUNCH_TIMEOUT.", func(s *Settings, v string) (err error) {
		s.TimeLimit, err = notation.ParseSpan(v)
		return err
	}},
	{"GEMU_TOLERATE", "some of " + tolerables(), "none", "Let kernels continue after these faults, which GPUs ignore, and report each on standard error: see \"Faults that GPUs ignore\" in docs/libraries.md.", func(s *Settings, v string) (err error) {
		s.Tolerate, err = probe.ParseTolerance(v)
		return err
	}},
	{"GEMU_HOST_MEMORY", "BYTES, with K, M or G", "what the host allows", "Memory of the host that the CTAs in flight may use; further CTAs wait until some have ended. The default is three quarters of the physical memory, or less if the process has a lower limit.", func(s *Settings, v string) (err error) {
		s.Host, err = notation.ParseSize(v)
		return err
	}},
	{"GEMU_STATS", "FILE", "none are kept", "Write the value-structure statistics of all launches to FILE as JSON when the process ends. %p in the name of this and of any other FILE stands for the process ID.", func(s *Settings, v string) error {
		s.Stats = v
		return nil
	}},
	{"GEMU_REGFILE", "some of " + catalog.Names(), "none", "Observe all launches with models of register files, and add their reports to the file of GEMU_STATS: see docs/regfile.md.", func(s *Settings, v string) (err error) {
		s.Models, err = catalog.Select(v, warpSize)
		return err
	}},
	{"GEMU_PROFILE", "source or ptx", "none", "Profile all launches by kernel and line: executions, divergence, and accesses to memory. The lines are those of the source where the PTX names them (source), or those of the PTX (ptx). The counts are in the file of GEMU_STATS and in the report of GEMU_REPORT.", func(s *Settings, v string) error {
		if v != profileSource && v != profilePTX {
			return fmt.Errorf("want source or ptx")
		}
		s.Profile = v
		return nil
	}},
	{"GEMU_MACHINE", "some of " + strings.Join(machine.Names(), ", ") + ", or files, each with the systems of papers that it has: v100+ldesc=FILE+xmem=program", "none", "Run the memory requests of all launches on machines, and add the counts to the file of GEMU_STATS: see docs/machine.md.", func(s *Settings, v string) error {
		for name := range strings.SplitSeq(v, ",") {
			base, with := cutSystems(name)
			spec, err := machine.Load(base, machine.Policies{})
			if err == nil && with != "" {
				spec.Name = name
				spec.Systems, err = systems.Find(with[1:], nil)
			}
			if err == nil && machine.New(spec, 0).Infers() {
				err = errors.New("a program's launches run while they are recorded, so descriptors cannot be inferred: want a file; gemu machine --write-descriptors writes one")
			}
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			s.Machines = append(s.Machines, spec)
		}
		return nil
	}},
	{"GEMU_MACHINE_VALUES", "0 or 1", "0", "With 1, the machines of GEMU_MACHINE count the loads that would have seen another value in their order, and the bytes of memory that would differ: see docs/machine.md. Launches then run on a single host thread.", func(s *Settings, v string) (err error) {
		s.MachineValues, err = strconv.ParseBool(v)
		if err != nil {
			err = errors.New("want 0 or 1")
		}
		return err
	}},
	{"GEMU_LOG", "FILE", "none", "Write the commit log of all launches to FILE, one entry for each warp instruction: in binary if the name ends in .gtr, otherwise in text. FILE grows as kernels run. If the process ends without its exit handlers, FILE is incomplete, and readers report where it ends.", func(s *Settings, v string) error {
		s.Log = v
		return nil
	}},
	{"GEMU_RECORD", "FILE", "none", "Write the recording of all launches to FILE, for pages, models and other programs: see docs/recording.md. It ends after 10,000,000 events or 1 GiB.", func(s *Settings, v string) error {
		s.Record = v
		return nil
	}},
	{"GEMU_RECORD_WITH", "some of results, accesses, memory, stack, source, or all", "none", "Optional parts of the recording of GEMU_RECORD.", func(s *Settings, v string) (err error) {
		s.RecordWith, err = record.ParseContents(strings.Split(v, ","))
		return err
	}},
	{"GEMU_ACCELSIM", "DIRECTORY, or tracez:DIRECTORY", "none", "Write traces of all launches for Accel-Sim to a directory of the process in DIRECTORY, in text, or with each warp compressed separately (tracez): see docs/accelsim.md.", func(s *Settings, v string) error {
		if strings.TrimPrefix(v, packedTraces) == "" && v != "" {
			return fmt.Errorf("want a directory")
		}
		s.Accelsim = v
		return nil
	}},
	{"GEMU_SANITIZE", "some of " + sanitize.Names() + ", or all", "none", "Look for faults that do not stop kernels. When the process ends, report them and the launches that failed: see docs/sanitizers.md.", func(s *Settings, v string) (err error) {
		s.Sanitize, err = sanitize.Parse(v)
		return err
	}},
	{"GEMU_SANITIZE_LOG", "FILE", "standard error", "Write the findings of sanitizers to FILE, as JSON if the name ends in .json.", func(s *Settings, v string) error {
		s.SanitizeLog = v
		return nil
	}},
	{"GEMU_SANITIZE_EXIT", "N", "0", "End the process with status N if sanitizers have found errors, or if a launch has failed or was not judged. With 0 the process keeps its own status.", func(s *Settings, v string) (err error) {
		s.SanitizeExit, err = atoi(v, 0, 255)
		return err
	}},
	{"GEMU_REPORT", "DIRECTORY", "none", "Write a report of the process to a file of its own in DIRECTORY, which must exist, for `gemu exec`: launches, failed launches, findings of sanitizers, which are not printed then, and calls that gemu does not support. docs/json.md describes it (gemu-process).", func(s *Settings, v string) error {
		s.Report = v
		return nil
	}},
	{"GEMU_EXIT_WAIT", "TIME, such as 90s, 5m or 90 for seconds", "60s", "Time that an ending process waits for launches that have not ended, if sanitizers, statistics or a log need them. After that time they are stopped, and count as not judged.", func(s *Settings, v string) (err error) {
		s.ExitWait, err = notation.ParseSpan(v)
		return err
	}},
	{"GEMU_DEBUG", "1, a kernel, or dap:PORT", "none", "Debug all launches (1), or those of a kernel, on the terminal of the process; with dap:PORT, wait at this TCP port for a client of the Debug Adapter Protocol: see docs/debugger.md.", func(s *Settings, v string) (err error) {
		s.Debug, err = parseDebugging(v)
		return err
	}},
	{"GEMU_SOURCE", "DIRECTORIES, separated as in PATH", "none", "Let the debugger show source files below these directories, too. It always shows those below the directory of the PTX, which is the current directory for a module loaded from memory.", func(s *Settings, v string) error {
		s.Source = filepath.SplitList(v)
		return nil
	}},
	{"GEMU_DUMP", "DIRECTORY", "none is kept", "Write the PTX of every module to a file in DIRECTORY. Messages then name lines of that file.", func(s *Settings, v string) error {
		s.Dump = v
		return nil
	}},
	{"GEMU_PLAIN", "0 or 1", "0", "With 1, print messages, findings and the debugger's text without drawing characters and redrawing, and sets of lanes in words.", func(s *Settings, v string) (err error) {
		s.Plain, err = strconv.ParseBool(v)
		if err != nil {
			err = errors.New("want 0 or 1")
		}
		return err
	}},
	{"GEMU_TRACE", "0, 1 or 2", "0", "Print on standard error the driver calls that fail or are not supported (1), or all calls with their results (2).", func(s *Settings, v string) (err error) {
		s.Trace, err = atoi(v, 0, 2)
		return err
	}},
	{"GEMU_ON_FAULT", "stop or continue", "stop", "Behaviour of a context after a fault of a kernel: every later call fails, as on a GPU (stop), or the next call that waits returns the fault and the context remains usable (continue).", func(s *Settings, v string) error {
		if v != "stop" && v != "continue" {
			return fmt.Errorf("want stop or continue")
		}
		s.ContinueOnFault = v == "continue"
		return nil
	}},
	{"CUDA_LAUNCH_BLOCKING", "0 or 1", "0", "With 1, a launch call returns only when the kernel has ended, as with any CUDA driver.", func(s *Settings, v string) error {
		n, err := atoi(v, 0, 1)
		s.Blocking = n == 1
		return err
	}},
}

// tolerables returns the names of the tolerable faults.
func tolerables() string {
	var names []string
	for _, t := range probe.Tolerances() {
		names = append(names, t.Name)
	}
	return strings.Join(names, ", ")
}

// version parses a number like 8.6.
func version(v string) (major, minor int, ok bool) {
	a, b, _ := strings.Cut(v, ".")
	major, err1 := strconv.Atoi(a)
	minor, err2 := strconv.Atoi(b)
	return major, minor, err1 == nil && err2 == nil && major >= 0 && major <= 99 && minor >= 0 && minor <= 9
}

// atoi parses a number and checks that it is between low and high. A high of math.MaxInt means no upper limit.
func atoi(v string, low, high int) (int, error) {
	n, err := strconv.Atoi(v)
	switch {
	case err == nil && n >= low && n <= high:
		return n, nil
	case high == math.MaxInt:
		return 0, fmt.Errorf("want a number of at least %d", low)
	}
	return 0, fmt.Errorf("want a number from %d to %d", low, high)
}

// PlainText returns a writer for text to the user. It is w, or, if Plain is set, a writer that converts text to plain text
// and writes it to w.
func (s *Settings) PlainText(w io.Writer) io.Writer {
	if !s.Plain || w == nil {
		return w
	}
	return visible.NewPlainWriter(w)
}

// cutSystems cuts a value of GEMU_MACHINE into the machine, which is the longest that exists, since the path of a file may have a plus sign, and
// the systems with the plus sign before each.
func cutSystems(name string) (base, with string) {
	for end := len(name); end >= 0; end = strings.LastIndexByte(name[:end], '+') {
		base, with = name[:end], name[end:]
		_, known := machine.Find(base)
		if _, err := os.Stat(base); known || err == nil {
			break
		}
	}
	return base, with
}

// Environment changes the settings as the environment variables demand. lookup returns the value of a variable, or "" if
// it is not set. The error names the variable.
func (s *Settings) Environment(lookup func(name string) string) error {
	for _, v := range Variables {
		value := lookup(v.Name)
		if value == "" {
			continue
		}
		if err := v.set(s, value); err != nil {
			return fmt.Errorf("%s=%s: %w", v.Name, value, err)
		}
	}
	if len(s.Models) > 0 && s.Stats == "" {
		return fmt.Errorf("GEMU_REGFILE=%s: the reports of models go to the file of GEMU_STATS, which is not set", lookup("GEMU_REGFILE"))
	}
	if s.Profile != "" {
		switch {
		case s.Stats == "" && s.Report == "":
			return fmt.Errorf("GEMU_PROFILE=%s: the counts go to the file of GEMU_STATS, which is not set; gemu exec --profile prints them", s.Profile)
		case s.Debug != nil:
			return fmt.Errorf("GEMU_PROFILE=%s: a profile cannot go back with the debugger; unset GEMU_DEBUG", s.Profile)
		}
	}
	if s.MachineValues && len(s.Machines) == 0 {
		return errors.New("GEMU_MACHINE_VALUES=1: the machines are those of GEMU_MACHINE, which is not set")
	}
	if len(s.Machines) > 0 {
		switch name := lookup("GEMU_MACHINE"); {
		case s.Stats == "":
			return fmt.Errorf("GEMU_MACHINE=%s: the counts go to the file of GEMU_STATS, which is not set", name)
		case s.Debug != nil:
			return fmt.Errorf("GEMU_MACHINE=%s: a machine cannot go back with the debugger; unset GEMU_DEBUG", name)
		}
	}
	return nil
}
