package cli

// This file is "gemu exec", which runs a program with gemu's libraries in place of NVIDIA's.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"gemu/driver"
	"gemu/internal/cleanup"
	"gemu/internal/input"
	"gemu/report"
	"gemu/sanitize/finding"
)

// Exit statuses of gemu exec, in addition to those of all commands. The status of the program is passed on otherwise.
const (
	exitFindings   = 3   // default of --findings-status
	exitCannotRun  = 126 // the program cannot be executed
	exitNotFound   = 127 // there is no such program
	exitSignalBase = 128 // 128+n: signal n has ended the program
)

type execCmd struct {
	Program []string `arg:"" optional:"" name:"PROGRAM" help:"The program and its arguments, after --."`

	Settings  kong.Plugins `embed:"" group:"settings"` // flags for settings of the driver: see newSettingFlags
	Libraries string       `env:"GEMU_LIBRARIES" type:"path" help:"Directory of gemu's libraries." unset:"where the command was installed" placeholder:"DIR"`
	Toolkit   string       `type:"existingdir" help:"A CUDA toolkit without a driver, as gemu toolkit makes: sets CUDA_PATH and the variables with the same meaning." placeholder:"DIR"`
	Python    string       `help:"Python interpreter whose packages have NVIDIA's nvJitLink, which translates LTO-IR to PTX." unset:"the program, or python3" placeholder:"PROGRAM"`

	Environment bool `help:"Print the variables that programs need, as NAME=VALUE lines, and run nothing."`
	Stats       bool `help:"Count the structure of values, for --json."`

	FindingsStatus  int  `default:"3" help:"Exit status if sanitizers have found errors, or if a launch has failed. With 0 the status is always that of the program." placeholder:"N"`
	RequireLaunches bool `help:"Fail with this status also if the program has run no kernel."`
	Quiet           bool `short:"q" help:"Print a summary only if there are findings, and no profile."`

	execProfileFlags `group:"profile"`

	findingsFlags
	SanitizeLimit int    `default:"100" help:"Print at most N findings; 0 prints all." placeholder:"N"`
	JSON          string `name:"json" help:"Write the reports of all processes, with their statistics, as JSON to FILE (- is standard output)." placeholder:"FILE"`
}

// settingFlags lists the flags of gemu exec that set a variable of the driver, with the placeholders of their values.
var settingFlags = []struct{ name, variable, placeholder string }{
	{"sanitize", "GEMU_SANITIZE", "TOOL,…"},
	{"mode", "GEMU_MODE", "MODE"},
	{"policy", "GEMU_POLICY", "POLICY"},
	{"reconverge", "GEMU_RECONVERGE", "POLICY"},
	{"engine", "GEMU_ENGINE", "ENGINE"},
	{"async", "GEMU_ASYNC", "TIME"},
	{"sm", "GEMU_SM", "MAJOR.MINOR"},
	{"devices", "GEMU_DEVICES", "N"},
	{"device-memory", "GEMU_MEMORY", "BYTES"},
	{"workers", "GEMU_WORKERS", "N"},
	{"steps", "GEMU_STEPS", "N"},
	{"time-limit", "GEMU_TIME_LIMIT", "TIME"},
	{"exit-wait", "GEMU_EXIT_WAIT", "TIME"},
	{"tolerate", "GEMU_TOLERATE", "FAULT,…"},
	{"on-fault", "GEMU_ON_FAULT", "ACTION"},
	{"machine", "GEMU_MACHINE", "NAME,…"},
	{"regfile", "GEMU_REGFILE", "MODEL,…"},
	{"profile", "GEMU_PROFILE", "LINES"},
	{"record", "GEMU_RECORD", "FILE"},
	{"record-with", "GEMU_RECORD_WITH", "PART,…"},
	{"log", "GEMU_LOG", "FILE"},
	{"dump", "GEMU_DUMP", "DIR"},
	{"trace", "GEMU_TRACE", "LEVEL"},
}

// newSettingFlags returns a pointer to a structure with a string for each of settingFlags. Help and default are those of the
// driver's variable.
func newSettingFlags() any {
	var fields []reflect.StructField
	for _, f := range settingFlags {
		v := driver.Variables[slices.IndexFunc(driver.Variables, func(v driver.Variable) bool { return v.Name == f.variable })]
		help := v.Doc
		if strings.Contains(v.Values, " ") { // more than a placeholder
			help += " Values: " + strings.TrimPrefix(v.Values, f.placeholder+", ") + "."
		}
		tag := fmt.Sprintf("name:%q help:%q unset:%q placeholder:%q", f.name, help, v.Default, f.placeholder)
		fields = append(fields, reflect.StructField{Name: "F" + v.Name, Type: reflect.TypeFor[string](), Tag: reflect.StructTag(tag)})
	}
	return reflect.New(reflect.StructOf(fields)).Interface()
}

// settings returns the variables of the driver that the flags set. The error names the flag.
func (c *execCmd) settings() (list []string, err error) {
	values := map[string]string{}
	fields := reflect.ValueOf(c.Settings[0]).Elem()
	for i, f := range settingFlags {
		if value := fields.Field(i).String(); value != "" {
			values[f.variable] = value
			list = append(list, f.variable+"="+value)
		}
	}
	// The settings of the environment are checked here, too: every process would print the same message. Run adds variables, so that
	// the report of each process has its statistics.
	if !c.Environment {
		values["GEMU_REPORT"] = "-"
		if values["GEMU_MACHINE"] != "" || values["GEMU_REGFILE"] != "" {
			values["GEMU_STATS"] = "-"
		}
	}
	s := driver.DefaultSettings()
	err = s.Environment(func(name string) string {
		if value, ok := values[name]; ok {
			return value
		}
		return os.Getenv(name)
	})
	if err != nil {
		text := err.Error()
		for _, f := range settingFlags {
			if rest, ok := strings.CutPrefix(text, f.variable+"="); ok && values[f.variable] != "" {
				text = "--" + f.name + " " + rest
			}
		}
		return nil, errors.New(text)
	}
	return list, nil
}

// Run runs the program and reports its processes.
func (c *execCmd) Run(a *app) error {
	if err := checkMinimums(minimum{"--findings-status", int64(c.FindingsStatus), 0}, minimum{"--sanitize-limit", int64(c.SanitizeLimit), 0}, minimum{"--top", int64(c.Top), 0}); err != nil {
		return err
	}
	if len(c.Program) == 0 && !c.Environment {
		return errors.New("no program: want gemu exec [FLAGS] -- PROGRAM [ARGUMENTS]")
	}
	if c.FindingsStatus > 255 {
		return fmt.Errorf("--findings-status %d: want a status up to 255", c.FindingsStatus)
	}
	settings, err := c.settings()
	if err != nil {
		return err
	}
	if c.Python != "" {
		if _, err := exec.LookPath(c.Python); err != nil {
			return fmt.Errorf("--python: %w", err)
		}
	}
	libraries, err := findLibraries(c.Libraries)
	if err != nil {
		return err
	}
	if c.Environment {
		if len(c.Program) > 0 {
			return errors.New("--environment runs no program")
		}
		for _, v := range slices.Concat(c.variables(a.ctx, libraries, ""), settings) {
			fmt.Fprintln(a.stdout, v)
		}
		return nil
	}
	if c.Pprof != "" && !slices.ContainsFunc(slices.Concat(os.Environ(), settings), func(s string) bool { return strings.HasPrefix(s, "GEMU_PROFILE=") }) {
		return errors.New("--pprof: there is no profile: want --profile source or --profile ptx")
	}
	rules, err := c.readRules(a, outputs{{"--json", c.JSON}, {"--pprof", c.Pprof}})
	if err != nil {
		return err
	}
	program, err := exec.LookPath(c.Program[0])
	if err != nil {
		status := exitNotFound
		if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EISDIR) {
			status = exitCannotRun
		}
		return &failure{fmt.Errorf("%s: %w", c.Program[0], errors.Unwrap(err)), status}
	}
	reports, remove, err := cleanup.Dir("", "gemu-exec")
	if err != nil {
		return err
	}
	defer remove()
	settings = append(settings, "GEMU_REPORT="+reports)
	if c.Stats || slices.ContainsFunc(settings, func(s string) bool {
		return strings.HasPrefix(s, "GEMU_MACHINE=") || strings.HasPrefix(s, "GEMU_REGFILE=")
	}) {
		settings = append(settings, "GEMU_STATS="+filepath.Join(reports, "statistics-%p"))
	}
	cmd := exec.Command(program, c.Program[1:]...)
	cmd.Args[0] = c.Program[0]
	cmd.Env = slices.Concat(os.Environ(), c.variables(a.ctx, libraries, program), settings)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = a.stdin, fileOf(a.stdout), fileOf(a.stderr)
	end, err := runProgram(cmd)
	if err != nil {
		return &failure{fmt.Errorf("%s: %w", program, err), exitCannotRun}
	}
	if around := os.Getenv("GEMU_REPORT"); around != "" {
		if err := copyReports(reports, around); err != nil {
			fmt.Fprintf(a.stderr, "gemu: GEMU_REPORT=%s: %v: a gemu exec around this one does not report its processes\n", around, err)
		}
	}
	processes, err := readProcesses(reports)
	if err != nil {
		return err
	}
	r := report.New(c.Program, end.status, processes)
	r.Signal, r.Seconds = end.signal, end.duration.Seconds()
	if end.survivorsErr != nil {
		fmt.Fprintf(a.stderr, "gemu: processes that run on after the program's end are not reported: %v\n", end.survivorsErr)
	}
	for _, p := range end.survivors {
		r.AddSurvivor(p.process, p.program)
	}
	if err := readAllowed(reports, r); err != nil {
		return err
	}
	return c.finish(a, r, rules)
}

// programEnd describes how a program has ended.
type programEnd struct {
	status       int           // exit status; 128+n if signal n has ended the program
	signal       int           // signal that has ended the program; 0: none
	duration     time.Duration // time from its start to its end
	survivors    []survivor
	survivorsErr error // reason for which survivors are not known
}

// survivor is a process that the program or its descendants have started, and that runs on after the program's end.
type survivor struct {
	process int      // its number
	program []string // its command line
}

// finish writes the reports, and returns a failure with the exit status.
func (c *execCmd) finish(a *app, r *report.Report, rules *rules) error {
	if err := c.apply(a, rules, r); err != nil {
		return err
	}
	a.sources = input.NewSources("-", c.Source...)
	if c.Pprof != "" {
		b, err := pprofOf(r.Processes, sourceFiles{a.sources})
		if err == nil {
			err = writeOutput(a, c.Pprof, b)
		}
		if err != nil {
			return err
		}
	}
	if !c.Quiet && len(r.Profile) > 0 {
		c.execProfileFlags.print(newScreen(a.stderr), r.Profile, sourceFiles{a.sources})
	}
	if !c.Quiet || r.Errors+r.Notices+len(r.Unused) > 0 {
		if err := r.Text(a.stderr, c.SanitizeLimit); err != nil {
			return err
		}
	}
	if c.JSON != "" {
		if err := writeJSON(a, c.JSON, r); err != nil {
			return err
		}
	}
	if err := c.findingsFlags.write(a, r); err != nil {
		return err
	}
	switch {
	case c.FindingsStatus != 0 && r.Errors > 0:
		return &exitStatus{c.FindingsStatus}
	case c.FindingsStatus != 0 && c.RequireLaunches && r.Launches == 0 && r.Status == 0:
		return &failure{errors.New("--require-launches: the program has run no kernel"), c.FindingsStatus}
	case r.Status != 0:
		return &exitStatus{r.Status}
	}
	return nil
}

// exitStatus is an error that only sets the exit status: everything has been printed.
type exitStatus struct{ status int }

func (e *exitStatus) Error() string { return fmt.Sprintf("exit status %d", e.status) }

// readProcesses reads the reports of processes, in the order of their first use of the driver.
func readProcesses(dir string) (list []*driver.ProcessReport, err error) {
	files, err := filepath.Glob(filepath.Join(dir, "process-*.json"))
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		p := new(driver.ProcessReport)
		if err := json.Unmarshal(b, p); err != nil || p.Schema != "gemu-process/1" || p.Findings == nil || p.Statistics == nil {
			return nil, fmt.Errorf("the report of a process is not of this version of gemu: libraries and command must have the same version")
		}
		list = append(list, p)
	}
	slices.SortFunc(list, func(p, q *driver.ProcessReport) int { return p.Started.Compare(q.Started) })
	return list, nil
}

// copyReports copies the files of a directory of reports to that of another gemu exec, under which this one runs.
func copyReports(from, to string) error {
	files, err := filepath.Glob(filepath.Join(from, "*-*.json"))
	if err != nil {
		return err
	}
	for _, file := range files {
		if err := copyReport(file, to); err != nil {
			return err
		}
	}
	return nil
}

// copyReport copies a file into a directory, which gets it as a whole or not at all. A file of the same name there keeps it: a process may have
// the number of an earlier one.
func copyReport(file, dir string) error {
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	part, err := os.CreateTemp(dir, ".part")
	if err != nil {
		return err
	}
	defer os.Remove(part.Name())
	_, err = part.Write(b)
	if err = errors.Join(err, part.Close()); err != nil {
		return err
	}
	base := strings.TrimSuffix(filepath.Base(file), ".json")
	name := base + ".json"
	for n := 1; ; n++ {
		if err = os.Link(part.Name(), filepath.Join(dir, name)); !errors.Is(err, fs.ErrExist) {
			return err
		}
		name = fmt.Sprintf("%s.%d.json", base, n)
	}
}

// allowedFile is a file that the plugin of pytest writes to the directory of reports: the findings that tests expect.
type allowedFile struct {
	Schema   string            `json:"schema"` // "gemu-allowed/1"
	Process  int               `json:"process"`
	Findings []finding.Finding `json:"findings"`
}

// readAllowed marks the findings that tests expect.
func readAllowed(dir string, r *report.Report) error {
	files, err := filepath.Glob(filepath.Join(dir, "allowed-*.json"))
	if err != nil {
		return err
	}
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		var f allowedFile
		if err := json.Unmarshal(b, &f); err != nil || f.Schema != "gemu-allowed/1" {
			return errors.New("the plugin of pytest is not of this version of gemu: install the Python package of the same version")
		}
		r.Allow(f.Process, f.Findings)
	}
	return nil
}

// driverName is the file name of gemu's driver.
const driverName = "libcuda.so.1"

// errOtherSystem is the error of gemu exec on systems without the libraries.
var errOtherSystem = fmt.Errorf("gemu's libraries need Linux, and this is %s: use WSL 2, a container or a virtual machine with Linux; gemu run, structure and all other commands work here", runtime.GOOS)

// findLibraries returns the directory of gemu's libraries. asked is the directory that the user names; "": the places in which
// installations have them, relative to the command.
func findLibraries(asked string) (string, error) {
	if runtime.GOOS != "linux" {
		return "", &failure{errOtherSystem, exitBad}
	}
	if asked != "" {
		dir, err := filepath.Abs(asked)
		if err == nil {
			_, err = os.Stat(filepath.Join(dir, driverName))
		}
		if err != nil {
			return "", fmt.Errorf("--libraries (GEMU_LIBRARIES) %s: there is no %s", asked, driverName)
		}
		return checkLibraries(dir)
	}
	self, err := os.Executable()
	if err == nil {
		self, err = filepath.EvalSymlinks(self)
	}
	if err != nil {
		return "", fmt.Errorf("gemu's libraries are next to the command, whose directory is not known: %w; name that of the libraries with --libraries DIR", err)
	}
	here := filepath.Dir(self)
	for _, dir := range []string{filepath.Join(here, "..", "lib", "gemu"), filepath.Join(here, "lib", "gemu"), filepath.Join(here, "..", "lib"), here} {
		if _, err := os.Stat(filepath.Join(dir, driverName)); err == nil {
			return checkLibraries(filepath.Clean(dir))
		}
	}
	return "", fmt.Errorf("gemu's libraries are not next to %s (../lib/gemu/%s): pip install gemu and the archives of releases have them, cmd/install.sh PREFIX builds them from the source, --libraries DIR or GEMU_LIBRARIES names their directory", self, driverName)
}

// checkLibraries returns the directory, or an error if the loader cannot take it from a variable.
func checkLibraries(dir string) (string, error) {
	if strings.ContainsAny(dir, ": ;") {
		return "", fmt.Errorf("the directory of gemu's libraries is %q: the loader takes no directory with a colon, semicolon or space from its variables; move or link it", dir)
	}
	return dir, nil
}

// variables returns the environment variables by which programs find gemu's libraries, as NAME=VALUE. program is the file of the
// program; "": it is not known. docs/libraries.md says which client needs which.
func (c *execCmd) variables(ctx context.Context, libraries, program string) []string {
	in := func(name string) string { return filepath.Join(libraries, name) }
	list := []string{
		"LD_LIBRARY_PATH=" + before(libraries, os.Getenv("LD_LIBRARY_PATH")),
		"PATH=" + before(libraries, os.Getenv("PATH")), // for ptxas
		"NUMBA_CUDA_DRIVER=" + in(driverName),
		"DRJIT_LIBCUDA_PATH=" + in(driverName),
		"TRITON_LIBCUDA_PATH=" + libraries,
		"TRITON_PTXAS_PATH=" + in(ptxasName),
		"TRITON_PTXAS_BLACKWELL_PATH=" + in(ptxasName),
		"CUPY_COMPILE_WITH_PTX=1",
	}
	// Programs that bring NVIDIA's libraries with them find those first. Libraries of an older version lack the library that
	// redirects the loader.
	if redirect := in("libredirect.so"); isFile(redirect) {
		list = append(list, "LD_AUDIT="+before(redirect, os.Getenv("LD_AUDIT")), "LD_PRELOAD="+before(redirect, os.Getenv("LD_PRELOAD")),
			"GLIBC_TUNABLES="+withStaticTLS(os.Getenv("GLIBC_TUNABLES")))
	}
	if os.Getenv("GEMU_NVJITLINK") == "" {
		if file := c.linkerOfNVIDIA(ctx, program); file != "" {
			list = append(list, "GEMU_NVJITLINK="+file)
		}
	}
	if c.Toolkit != "" {
		dir, _ := filepath.Abs(c.Toolkit)
		for _, name := range []string{"CUDA_PATH", "CUDA_HOME", "CUDA_ROOT", "CUDA_TOOLKIT_ROOT_DIR", "CUDAToolkit_ROOT"} {
			list = append(list, name+"="+dir)
		}
		list[0] = "LD_LIBRARY_PATH=" + before(libraries, before(filepath.Join(dir, "lib64"), os.Getenv("LD_LIBRARY_PATH")))
		list[1] = "PATH=" + before(libraries, before(filepath.Join(dir, "bin"), os.Getenv("PATH")))
	}
	return list
}

// withStaticTLS adds a size of the static thread-local storage of libraries, in bytes, to glibc's tunables, unless they have one. With
// LD_AUDIT the loader reserves this storage before it loads the libraries of the program, and glibc's 512 bytes are too few for
// rustc, which needs 23,688.
func withStaticTLS(tunables string) string {
	const name = "glibc.rtld.optional_static_tls="
	if strings.Contains(tunables, name) {
		return tunables
	}
	return strings.TrimPrefix(tunables+":"+name+"32768", ":")
}

// before puts a path at the beginning of a list of paths, unless it is there.
func before(path, list string) string {
	if list == "" || list == path || strings.HasPrefix(list, path+":") {
		return path + strings.TrimPrefix(list, path)
	}
	return path + ":" + list
}

func isFile(name string) bool {
	st, err := os.Stat(name)
	return err == nil && st.Mode().IsRegular()
}

// fileOf returns the file of an output, so that a program writes to it directly, or the writer if it is no file.
func fileOf(w io.Writer) io.Writer {
	if o, ok := w.(*output); ok && o.direct != nil {
		return o.direct
	}
	return w
}

// passSignal receives the signals that end the command, and passes them on to a program; nil: they end the command.
var passSignal atomic.Pointer[func(os.Signal)]

// linkerOfNVIDIA returns the file of NVIDIA's nvJitLink in the packages of the program's Python; "": there is none.
func (c *execCmd) linkerOfNVIDIA(ctx context.Context, program string) string {
	python := c.Python
	if python == "" {
		python = pythonOf(program)
	}
	if python == "" {
		return ""
	}
	for _, site := range sitePackages(ctx, python) {
		for _, name := range []string{"nvidia/cu13/lib/libnvJitLink.so.13", "nvidia/nvjitlink/lib/libnvJitLink.so.12"} {
			if file := filepath.Join(site, name); isFile(file) {
				return file
			}
		}
	}
	return ""
}

// pythonOf returns the Python interpreter of a program: itself, that of its first line, or python3; "" if there is none.
func pythonOf(program string) string {
	if strings.HasPrefix(filepath.Base(program), "python") {
		return program
	}
	if f, err := os.Open(program); err == nil {
		defer f.Close()
		head := make([]byte, 256)
		n, _ := f.Read(head)
		line, _, _ := strings.Cut(string(head[:n]), "\n")
		if fields := strings.Fields(strings.TrimPrefix(line, "#!")); strings.HasPrefix(line, "#!") && len(fields) > 0 && strings.HasPrefix(filepath.Base(fields[0]), "python") {
			return fields[0]
		}
	}
	python, err := exec.LookPath("python3")
	if err != nil {
		return ""
	}
	return python
}

// sitePackages returns the directories in which a Python interpreter finds packages.
func sitePackages(ctx context.Context, python string) (list []string) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, python, "-c", "import json, sys; print(json.dumps([p for p in sys.path if p]))").Output()
	if err != nil || json.Unmarshal(out, &list) != nil {
		return nil
	}
	return list
}
