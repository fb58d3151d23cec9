package fuzz

// This file runs rivals.

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"gemu/internal/input"
	"gemu/internal/random"
	"gemu/internal/wholefile"
	"gemu/interp"
	"gemu/probe"
	"gemu/ptx"
	"gemu/trace"
)

// Kind is the kind of a program's outcome on a rival.
type Kind string

// The kinds.
const (
	Same       Kind = "same"       // the expected result
	Difference Kind = "difference" // another result
	Crash      Kind = "crash"      // nonzero exit status, or no result
	Timeout    Kind = "timeout"    // stopped after the time limit
	Refusal    Kind = "refusal"    // the rival reports that it does not run the program
)

// Failures are the kinds except Same.
var Failures = []Kind{Difference, Crash, Timeout, Refusal}

// Rival is another implementation: a shell command with placeholders. {ptx}, {in}, {json} and {out} are names of
// files: the files of Program.Write, and the result to write. {grid} and {block} are the extents, X,Y,Z; {bytes} is
// the size of the result; {n} and {m} are the last arguments.
type Rival struct {
	Command       string         // command line for the shell, with placeholders
	Timeout       time.Duration  // time limit of a program; must be positive
	RefusalStatus int            // exit status of a refusal
	RefusalText   *regexp.Regexp // text on standard error that must come with that status; nil: any
}

// Check returns the error of an invalid command.
func (r *Rival) Check() error {
	switch {
	case !strings.Contains(r.Command, "{out}"):
		return fmt.Errorf("%q lacks {out}, the file for the result", r.Command)
	case !strings.Contains(r.Command, "{ptx}") && !strings.Contains(r.Command, "{json}"):
		return fmt.Errorf("%q contains neither {ptx} nor {json}, the program to run", r.Command)
	case !r.KnowsExtents() && (strings.Contains(r.Command, "{grid}") || strings.Contains(r.Command, "{block}")):
		return fmt.Errorf("%q must contain {grid} and {block} together", r.Command)
	case r.Timeout <= 0:
		return errors.New("the time limit of a program must be above 0")
	}
	return nil
}

// KnowsExtents reports whether the command has placeholders for the number of threads, or needs none.
func (r *Rival) KnowsExtents() bool {
	return strings.Contains(r.Command, "{json}") || strings.Contains(r.Command, "{grid}") && strings.Contains(r.Command, "{block}")
}

// knowsSize reports whether the command has a placeholder for the size of the result.
func (r *Rival) knowsSize() bool {
	return strings.Contains(r.Command, "{json}") || strings.Contains(r.Command, "{bytes}")
}

// Outcome is the result of a program on a rival.
type Outcome struct {
	Kind       Kind     // decides which of the other fields are set
	Reason     string   // in words: "exit status 1", "signal: segmentation fault"
	Status     string   // status of a crash or refusal, without parts that differ between programs
	Stderr     string   // end of the rival's standard error
	firstWords []string // words of its first line, without parts that differ between runs

	Offset    int      // Difference: the first byte of the word that differs
	Got, Want uint32   // Difference: the rival's word, and the expected word
	Culprit   *Culprit // culprit of that word, if Find has searched for it

	result, want []byte // results of a Difference
}

// Matches reports whether two outcomes are the same failure: the same kind; differences in the same word, with the
// same culprit if both are known; crashes and refusals with the same exit status or signal, and the same first line
// on standard error except for numbers, paths and words that differed between runs.
func (o *Outcome) Matches(other *Outcome) bool {
	switch {
	case o.Kind != other.Kind:
		return false
	case o.Kind == Difference:
		return o.wordDiffers(other.Offset) && (o.Culprit == nil || other.Culprit == nil || o.Culprit.Same(other.Culprit))
	case o.Kind == Crash || o.Kind == Refusal:
		return o.Status == other.Status && sameWords(o.firstWords, other.firstWords)
	}
	return true
}

// Merge compares the outcome with another run of the same program, which must have the same kind of failure. It
// excludes words of the first line on standard error that differ from later comparisons. It reports whether the
// failure is the same.
func (o *Outcome) Merge(second *Outcome) bool {
	if o.Kind == second.Kind && o.Status == second.Status && (o.Kind == Crash || o.Kind == Refusal) {
		if len(o.firstWords) != len(second.firstWords) {
			o.firstWords = nil
		}
		for i := range o.firstWords {
			if o.firstWords[i] != second.firstWords[i] {
				o.firstWords[i] = anyWord
			}
		}
	}
	return o.Matches(second) || o.Kind == second.Kind && o.Kind == Difference && o.Offset == second.Offset
}

// SameFault reports whether two failures seem to have the same reason: the same kind, and the same opcode of the
// culprit or the same exit status and first line on standard error.
func (o *Outcome) SameFault(other *Outcome) bool {
	switch {
	case o.Kind != other.Kind:
		return false
	case o.Kind == Difference:
		return o.Culprit.Same(other.Culprit)
	}
	return o.Matches(other)
}

// Fault returns the reason of a failure: the opcode of the culprit, or the first line on standard error.
func (o *Outcome) Fault() string {
	switch {
	case o.Kind == Difference && o.Culprit != nil:
		return o.Culprit.Instr.Text
	case len(o.firstWords) > 0:
		return strings.Join(o.firstWords, " ")
	}
	return string(o.Kind)
}

// Text returns all facts of the outcome as text, for searches.
func (o *Outcome) Text() string {
	text := fmt.Sprintf("%s: %s\n", o.Kind, o.Reason)
	if o.Kind == Difference {
		text += o.Culprit.String() + "\n"
	}
	return text + o.Stderr
}

// wordDiffers reports whether the word at a byte of the result differs.
func (o *Outcome) wordDiffers(at int) bool {
	return o.Kind == Difference && at+4 <= len(o.want) && at+4 <= len(o.result) && !bytes.Equal(o.result[at:at+4], o.want[at:at+4])
}

// selectWord makes the word at a byte the outcome's difference.
func (o *Outcome) selectWord(at int) {
	o.Offset = at
	o.Got, o.Want = wordAt(o.result, at), wordAt(o.want, at)
	o.Reason = fmt.Sprintf("word at byte %d is %#x, want %#x", at, o.Got, o.Want)
}

func wordAt(b []byte, at int) (w uint32) {
	for i, c := range b[at:min(at+4, len(b))] {
		w |= uint32(c) << (8 * i)
	}
	return w
}

// anyWord stands for a word that differs between runs.
const anyWord = "*"

// sameWords compares lines; an empty line equals any line.
func sameWords(a, b []string) bool {
	if len(a) == 0 || len(b) == 0 {
		return len(a) == len(b) || a == nil || b == nil
	}
	return slices.EqualFunc(a, b, func(v, w string) bool { return v == w || v == anyWord || w == anyWord })
}

// varying are parts of a line that differ between runs of the same program: numbers, addresses, paths.
var varying = regexp.MustCompile(`0[xX][0-9a-fA-F]+|\b[0-9a-fA-F]{6,}\b|/[^\s:'"]+|[0-9]+`)

// firstLineWords returns the words of the first nonempty line, with # for parts that differ between runs.
func firstLineWords(s string) []string {
	for line := range strings.Lines(s) {
		if line = strings.TrimSpace(line); line != "" {
			return strings.Fields(varying.ReplaceAllString(line, "#"))
		}
	}
	return []string{}
}

// Find runs a program as Run does, and finds the culprit of a difference in the word at a byte; at -1 is the first
// difference.
func (r *Rival) Find(ctx context.Context, p *Program, want []byte, at int, dir string) (*Outcome, error) {
	o, err := r.Run(ctx, p, want, dir)
	if err != nil || o.Kind != Difference {
		return o, err
	}
	if at >= 0 && o.wordDiffers(at) {
		o.selectWord(at)
	}
	o.Culprit, err = r.Blame(ctx, p, o.Offset, dir)
	return o, err
}

// ErrNoRival is the error of a command that the shell cannot run.
var ErrNoRival = errors.New("the command cannot be run")

// stderrBytes is the number of last bytes that are kept of a rival's standard error, headBytes the number of first
// bytes.
const (
	stderrBytes = 4 << 10
	headBytes   = 512
)

// headAndTail keeps the first and the last bytes written to it.
type headAndTail struct{ head, tail []byte }

func (t *headAndTail) Write(b []byte) (int, error) {
	t.head = append(t.head, b[:min(len(b), headBytes-len(t.head))]...)
	t.tail = append(t.tail, b...)
	if len(t.tail) > 2*stderrBytes {
		t.tail = append(t.tail[:0], t.tail[len(t.tail)-stderrBytes:]...)
	}
	return len(b), nil
}

func (t *headAndTail) String() string { return string(t.tail[max(0, len(t.tail)-stderrBytes):]) }

// Run runs a program with a known result; its files are in a directory. The error is ErrNoRival, the context's, or an
// error of the files.
func (r *Rival) Run(ctx context.Context, p *Program, want []byte, dir string) (*Outcome, error) {
	if err := p.Write(ctx, dir, "program", nil); err != nil {
		return nil, err
	}
	result := filepath.Join(dir, "result.bin")
	if err := os.Remove(result); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	file := func(ext string) string { return quote(filepath.Join(dir, "program"+ext)) }
	line := strings.NewReplacer("{ptx}", file(".ptx"), "{in}", file(".in.bin"), "{json}", file(".json"), "{out}", quote(result), "{grid}", extent(p.Grid), "{block}", extent(p.Block),
		"{bytes}", fmt.Sprint(p.OutBytes), "{n}", fmt.Sprint(ArgN), "{m}", fmt.Sprint(ArgM)).Replace(r.Command)

	limited, cancel := context.WithTimeout(ctx, r.Timeout)
	defer cancel()
	var stderr headAndTail
	cmd := exec.CommandContext(limited, "sh", "-c", line)
	cmd.Stderr = &stderr
	setProcessGroup(cmd)
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	o := &Outcome{Kind: Crash, Stderr: stderr.String(), firstWords: firstLineWords(string(stderr.head))}
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case limited.Err() != nil:
		o.Kind, o.Reason = Timeout, fmt.Sprintf("stopped after %v", r.Timeout)
		return o, nil
	case errors.As(err, &exit):
		o.Reason = exit.Error()
		switch status := exit.ExitCode(); {
		case status == 126 || status == 127: // the shell's statuses for a command that it cannot run
			return nil, fmt.Errorf("%w: %s: %s", ErrNoRival, line, strings.TrimSpace(o.Stderr))
		case status > 128 && status <= 128+64: // a process that the shell started was killed
			o.Reason += fmt.Sprintf(", signal: %v", syscall.Signal(status-128))
		case status == r.RefusalStatus, status >= 0 && r.RefusalText != nil && r.RefusalText.MatchString(o.Stderr):
			o.Kind = Refusal
		}
		o.Status = o.Reason
		return o, nil
	case err != nil && !errors.Is(err, exec.ErrWaitDelay): // ErrWaitDelay: a process that the command started is still running
		return nil, fmt.Errorf("%w: %w", ErrNoRival, err)
	}
	got, err := input.ReadRegular(result, input.MaxText)
	switch {
	case err != nil:
		o.Reason = "exit status 0, without a result"
		o.Status = o.Reason
	case len(got) != len(want):
		o.Reason = fmt.Sprintf("exit status 0, with a result of %d bytes, not %d", len(got), len(want))
		o.Status = "exit status 0, with a result of another size"
	case bytes.Equal(got, want):
		o.Kind = Same
	default:
		o.Kind, o.result, o.want = Difference, got, want
		o.selectWord(firstDifference(got, want) &^ 3)
	}
	return o, nil
}

// extent formats X,Y,Z.
func extent(d ptx.Dim3) string { return fmt.Sprintf("%d,%d,%d", d.X, d.Y, d.Z) }

// quote quotes a word for the shell.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// Description is the launch of a program, for programs that read it.
type Description struct {
	Schema    string   `json:"schema"`    // "gemu-fuzz/1"
	Seed      uint64   `json:"seed"`      // seed of the program's generator
	Features  []string `json:"features"`  // features the program may use
	Semantics string   `json:"semantics"` // "manual": the manual and GPUs agree on all results; "hardware": where they differ, results are those of GPUs
	Program   string   `json:"program"`   // name of the file with the PTX
	SM        int      `json:"sm"`        // compute capability of the device, 80 for 8.0
	Kernel    string   `json:"kernel"`    // name of the kernel to launch
	Grid      [3]int   `json:"grid"`      // numbers of CTAs in x, y and z
	Block     [3]int   `json:"block"`     // threads of a CTA in x, y and z
	Shared    int      `json:"shared"`    // bytes of dynamic shared memory
	Args      []Arg    `json:"args"`      // arguments of the kernel, in the order of its parameters
	Log       string   `json:"log"`       // name of the file with the commit log of the launch
}

// Arg is an argument of a kernel. A pointer is to memory of Bytes bytes.
type Arg struct {
	Name   string `json:"name"`             // name of the parameter
	Type   string `json:"type"`             // type of the argument: "pointer", "u32" or "u64"
	Value  uint64 `json:"value,omitempty"`  // value of a numeric argument
	Bytes  int    `json:"bytes,omitempty"`  // size of the memory of a pointer argument
	Input  string `json:"input,omitempty"`  // name of the file with the memory before the launch; missing if the memory is zero
	Output string `json:"output,omitempty"` // name of the file with the memory after the launch
}

// Describe returns the launch of a program whose files have a name.
func (p *Program) Describe(name string) *Description {
	return &Description{
		Schema: "gemu-fuzz/1", Seed: p.Seed, Features: names(p.Features), Semantics: random.SemanticsNames[p.Semantics], Program: name + ".ptx", Log: name + ".gtr", SM: p.SM, Kernel: Kernel,
		Grid: [3]int{p.Grid.X, p.Grid.Y, p.Grid.Z}, Block: [3]int{p.Block.X, p.Block.Y, p.Block.Z},
		Args: []Arg{
			{Name: "in", Type: "pointer", Bytes: len(p.Input), Input: name + ".in.bin"},
			{Name: "out", Type: "pointer", Bytes: p.OutBytes, Output: name + ".out.bin"},
			{Name: "n", Type: "u32", Value: uint64(ArgN)},
			{Name: "m", Type: "u64", Value: ArgM},
		},
	}
}

// Write writes a program to a directory: name.ptx, name.in.bin, name.json, which is its Description;
// and with a result name.out.bin and the log of the launch, name.gtr.
func (p *Program) Write(ctx context.Context, dir, name string, want []byte) error {
	text, err := json.MarshalIndent(p.Describe(name), "", "  ")
	if err != nil {
		return err
	}
	files := map[string][]byte{".ptx": []byte(p.Source), ".in.bin": p.Input, ".json": append(text, '\n')}
	if want != nil {
		files[".out.bin"] = want
	}
	for ext, data := range files {
		if err := wholefile.Write(ctx, filepath.Join(dir, name+ext), data); err != nil {
			return err
		}
	}
	if want == nil {
		return nil
	}
	return p.log(ctx, filepath.Join(dir, name+".gtr"))
}

// log runs the program and writes its log.
func (p *Program) log(ctx context.Context, file string) error {
	m, err := ptx.ParseString("program.ptx", p.Source)
	if err != nil {
		return err
	}
	f, err := wholefile.Create(ctx, file)
	if err != nil {
		return err
	}
	w, err := trace.NewWriter(f, trace.Binary, &trace.Header{Version: trace.Version})
	if err == nil {
		r := trace.NewRecorder(w, trace.Filter{})
		_, err = p.run(ctx, m, &interp.Launch{Mode: interp.Vector}, []probe.Probe{r})
		err = errors.Join(err, r.Err(), w.Close())
	}
	if err != nil {
		f.Discard()
		return err
	}
	return f.Commit()
}
