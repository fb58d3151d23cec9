// Package assist has assist routines: functions of PTX that a warp executes for the machine, and not for its program. Vijaykumar et al., "A
// Framework for Accelerating Bottlenecks in GPU Execution with Assist Warps" (2016; "CABA" below), compress and decompress lines of memory
// with them. docs/caba.md describes how a routine is written.
//
// A Routine is a .func whose body has the directive .pragma "gemu.assist …". Other tools ignore such a pragma. A Sandbox executes routines
// apart from any program, and counts their instructions.
package assist

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gemu/machine/codec"
	"gemu/ptx"
)

// Priority is the priority of a routine relative to its parent warp (section 4.2.3 of the paper).
type Priority uint8

// The priorities.
const (
	Low  Priority = iota // the routine is issued in cycles in which no other warp can issue
	High                 // the parent waits for the end of the routine
)

var priorityNames = [...]string{"low", "high"}

// String returns "low" or "high".
func (p Priority) String() string { return priorityNames[p] }

// Event is a kind of event of the machine that begins a routine.
type Event uint8

// The events.
const (
	Fill  Event = iota // a compressed line arrives in the L1
	Store              // a line of the L1 is to be sent to the L2
	Miss               // a load misses the L1, or is the first to access a line that was read ahead
	Point              // the program comes to a label
)

var eventNames = [...]string{"fill", "store", "miss", "pc"}

// String returns "fill", "store", "miss" or "pc".
func (e Event) String() string { return eventNames[e] }

// Trigger is an event that begins a routine.
type Trigger struct {
	Event    Event          // the kind of event
	Codec    codec.Codec    // of Fill and Store: algorithm of the form
	Encoding codec.Encoding // of Fill: encoding of the form
	Label    string         // of Point: LABEL, or FUNCTION:LABEL
}

// missTrigger is the trigger of a miss in a pragma.
const missTrigger = "miss:l1"

// String returns the trigger as in a pragma: "fill:bdi:8-1", "store:bdi", "miss:l1", "pc:LABEL".
func (t Trigger) String() string {
	switch t.Event {
	case Fill:
		return fmt.Sprintf("fill:%s:%s", t.Codec, t.Encoding)
	case Store:
		return fmt.Sprintf("store:%s", t.Codec)
	case Point:
		return "pc:" + t.Label
	default:
		return missTrigger
	}
}

// Routine is an assist routine. The parameters of a routine for Fill are the addresses of a form and of the line that the routine writes. Those
// of a routine for Store are the addresses of a line and of the form that it writes, and, if there is a third one, the number of the encoding
// of the previous form (codec.Encoding); its result is the number of bytes of the form. Form and line have codec.LineBytes bytes each.
//
// The parameters of a routine for Miss are the addresses of the warp's register for such routines and of the addresses that it writes, the
// address of the line that the load misses, and the index of the load in the program. Its result is the number of addresses, at most
// MaxAhead, whose lines are read ahead. The register has 4 bytes for each lane, which are 0 when the warp begins.
//
// A routine for Point has values of the program: Insert calls it with the registers LiveIn, and its results are the registers LiveOut, after
// a first result of 32 bits if Skip is set.
type Routine struct {
	File     string    // name of its module
	Func     *ptx.Func // the function
	Priority Priority  // its priority relative to the parent warp
	Triggers []Trigger // at least one; all have the same event and codec
	LiveIn   []string  // of Point: registers of the program that are the parameters
	LiveOut  []string  // of Point: registers of the program that take the results
	Skip     string    // of Point: label at which a lane goes on if the first result is not 0; only such lanes take the other results. "": none
	Most     int       // bound of Registers, which the text states; 0: none
}

// Name returns the name of the function.
func (r *Routine) Name() string { return r.Func.Name }

// Event returns the event of the routine's triggers.
func (r *Routine) Event() Event { return r.Triggers[0].Event }

// Codec returns the algorithm of the routine's triggers, of Fill or Store.
func (r *Routine) Codec() codec.Codec { return r.Triggers[0].Codec }

// Registers returns the number of registers of 4 bytes that a thread of a block needs in addition to its program's: the maximum number of
// words of the routine that are live at the same time, and for Miss the register that the warp keeps. Predicates do not count.
func (r *Routine) Registers() int {
	n := r.Func.Liveness().Pressure()
	if r.Event() == Miss {
		n++
	}
	return n
}

// Length returns the number of instructions in the text of the routine.
func (r *Routine) Length() (n int) {
	r.Func.EachInstr(func(*ptx.Instr) { n++ })
	return n
}

// results returns the number of results that a routine for Point must have.
func (r *Routine) results() int {
	n := len(r.LiveOut)
	if r.Skip != "" {
		n++
	}
	return n
}

// takesHint reports whether the routine takes the encoding of the previous form.
func (r *Routine) takesHint() bool { return len(r.Func.Params) == 3 }

// Pragma is the first word of the pragma of a routine.
const Pragma = "gemu.assist"

// Routines returns the assist routines of a module, in the order of the text. An error names its place.
func Routines(m *ptx.Module) (list []*Routine, err error) {
	for _, d := range m.Decls {
		var pragmas []ptx.Pragma
		f, _ := d.(*ptx.Func)
		if f != nil {
			pragmas = f.AllPragmas()
		} else if p, ok := d.(ptx.Pragma); ok {
			pragmas = []ptx.Pragma{p}
		}
		for _, p := range pragmas {
			for _, text := range p.Text {
				words := strings.Fields(text)
				if len(words) == 0 || words[0] != Pragma {
					continue
				}
				r, err := newRoutine(f, words[1:])
				if err == nil && slices.ContainsFunc(list, func(other *Routine) bool { return other.Func == f }) {
					err = fmt.Errorf("%s has two of them", f.Name)
				}
				if err != nil {
					return nil, fmt.Errorf("%s:%d: .pragma %q: %w", filepath.Base(m.Name), p.Pos.Line, Pragma, err)
				}
				r.File = m.Name
				list = append(list, r)
			}
		}
	}
	return list, nil
}

// newRoutine reads the words of a pragma after its name. f is the function of the pragma; nil: the pragma is outside of functions.
func newRoutine(f *ptx.Func, words []string) (*Routine, error) {
	switch {
	case f == nil:
		return nil, errors.New("it is outside of functions: want it in a .func")
	case f.Entry:
		return nil, fmt.Errorf("%s is a kernel: want a .func", f.Name)
	}
	r := &Routine{Func: f}
	hasPriority, known := false, map[string]bool{}
	for _, word := range words {
		name, value, _ := strings.Cut(word, "=")
		switch name {
		case "priority":
			i := slices.Index(priorityNames[:], value)
			if i < 0 || hasPriority {
				return nil, fmt.Errorf("%s: want priority=low or priority=high, once", word)
			}
			r.Priority, hasPriority = Priority(i), true
		case "trigger":
			t, err := parseTrigger(value)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", word, err)
			}
			if len(r.Triggers) > 0 && (t.Event != r.Event() || t.Codec != r.Codec() || slices.Contains(r.Triggers, t)) {
				return nil, fmt.Errorf("%s: want triggers of the same event and codec, each once", word)
			}
			r.Triggers = append(r.Triggers, t)
			continue
		case "livein":
			r.LiveIn = strings.Split(value, ",")
		case "liveout":
			r.LiveOut = strings.Split(value, ",")
		case "skip":
			r.Skip = value
		case "regs":
			if n, err := strconv.Atoi(value); err != nil || n < 1 || n > 255 {
				return nil, fmt.Errorf("%s: want a number of registers from 1 to 255", word)
			} else {
				r.Most = n
			}
		default:
			return nil, fmt.Errorf("%s: want priority=…, trigger=…, livein=…, liveout=…, skip=… or regs=…", word)
		}
		if known[name] || value == "" {
			return nil, fmt.Errorf("%s: want a value, once", word)
		}
		known[name] = true
	}
	switch {
	case !hasPriority:
		return nil, fmt.Errorf("priority=low or priority=high is missing")
	case r.Triggers == nil:
		return nil, fmt.Errorf("trigger=… is missing")
	}
	switch isPoint := r.Event() == Point; {
	case !isPoint && (known["livein"] || known["liveout"] || known["skip"]):
		return nil, fmt.Errorf("livein=…, liveout=… and skip=… are for trigger=pc:LABEL: the parameters of other routines are fixed")
	case isPoint && r.Priority == Low:
		return nil, fmt.Errorf("priority=low: want priority=high, because the program goes on with the results of the routine")
	case r.Most > 0 && r.Registers() > r.Most:
		return nil, fmt.Errorf("regs=%d: %d registers are live at the same time", r.Most, r.Registers())
	}
	if err := r.checkInstructions(); err != nil {
		return nil, err
	}
	return r, r.checkSignature()
}

// checkInstructions returns an error for an instruction that a routine must not have. A routine shares the context of its parent warp: a barrier
// would count as an arrival of the parent, and an exit would end the parent's threads. The registers of a callee would not count (Registers).
func (r *Routine) checkInstructions() (err error) {
	r.Func.EachInstr(func(instr *ptx.Instr) {
		if err == nil && instr.Form.Effects.Any(ptx.Barrier|ptx.Exits|ptx.Calls) {
			err = fmt.Errorf("%s in line %d: a routine must not have barriers of its CTA, exits or calls", instr.Text, instr.Pos.Line)
		}
	})
	return err
}

// parseTrigger reads a trigger.
func parseTrigger(text string) (t Trigger, err error) {
	event, rest, _ := strings.Cut(text, ":")
	i := slices.Index(eventNames[:], event)
	if i < 0 {
		return t, fmt.Errorf("want fill:CODEC:ENCODING, store:CODEC, %s or pc:LABEL", missTrigger)
	}
	if t.Event = Event(i); t.Event == Point {
		if t.Label = rest; rest == "" {
			return t, errors.New("want pc:LABEL, or pc:FUNCTION:LABEL")
		}
		return t, nil
	}
	if t.Event == Miss {
		if rest != "l1" {
			return t, fmt.Errorf("want %s: loads that miss another cache begin no routine", missTrigger)
		}
		return t, nil
	}
	name, encoding, _ := strings.Cut(rest, ":")
	for t.Codec = 0; t.Codec < codec.Count && t.Codec.String() != name; t.Codec++ {
	}
	if t.Codec == codec.Count {
		return t, fmt.Errorf("there is no codec %q", name)
	}
	if t.Event == Store {
		if encoding != "" {
			return t, fmt.Errorf("a store has no encoding: want store:%s", name)
		}
		return t, nil
	}
	var names []string
	for e := range codec.Encodings {
		if !t.Codec.Has(e) {
			continue
		}
		if e.String() == encoding {
			t.Encoding = e
			return t, nil
		}
		names = append(names, e.String())
	}
	return t, fmt.Errorf("%s has no encoding %q: want one of %s", name, encoding, strings.Join(names, ", "))
}

// checkSignature returns an error if the function has other parameters or results than its event gives.
func (r *Routine) checkSignature() error {
	is := func(list []*ptx.Var, bits ...int) bool {
		return slices.EqualFunc(list, bits, func(v *ptx.Var, bits int) bool {
			return v.Reg != ptx.NoReg && v.Type.Bits() == bits && !v.Type.IsFloat()
		})
	}
	f := r.Func
	switch {
	case r.Event() == Fill && !(is(f.Params, 64, 64) && is(f.Rets)):
		return fmt.Errorf("want .func %s(.reg .b64 %%form, .reg .b64 %%line)", f.Name)
	case r.Event() == Store && !((is(f.Params, 64, 64) || is(f.Params, 64, 64, 32)) && is(f.Rets, 32)):
		return fmt.Errorf("want .func (.reg .b32 %%bytes) %s(.reg .b64 %%line, .reg .b64 %%form), with .reg .b32 %%hint or without", f.Name)
	case r.Event() == Point && (len(f.Params) != len(r.LiveIn) || len(f.Rets) != r.results()):
		return fmt.Errorf("%s has %d parameters and %d results: want %d for livein and %d for liveout and skip", f.Name, len(f.Params), len(f.Rets), len(r.LiveIn), r.results())
	case r.Event() == Point && r.Skip != "" && !is(f.Rets[:1], 32):
		return fmt.Errorf("want .reg .b32 as the first result of %s: with skip=… it is not 0 in the lanes that go on at %s", f.Name, r.Skip)
	case r.Event() == Miss && !(is(f.Params, 64, 64, 64, 32) && is(f.Rets, 32)):
		return fmt.Errorf("want .func (.reg .b32 %%count) %s(.reg .b64 %%register, .reg .b64 %%addresses, .reg .b64 %%address, .reg .b32 %%instruction)", f.Name)
	}
	return nil
}

// Check returns an error if the outcome of the routine for a line is not that of package codec. For Fill, the routine had the line's form; for
// Store, the line, and hint if it takes one. A routine for Miss has no such outcome.
func (r *Routine) Check(line *codec.Line, hint codec.Encoding, o *Outcome) error {
	want, n := *line, codec.LineBytes
	if r.Event() == Store {
		if n = r.encode(&want, line, hint); o.Bytes != n {
			return fmt.Errorf("%s: %d bytes for the line %x: want %d", r.Name(), o.Bytes, *line, n)
		}
		if n == codec.LineBytes {
			return nil // there is no form
		}
	}
	if !bytes.Equal(o.Out[:n], want[:n]) {
		return fmt.Errorf("%s: %x for the line %x: want %x", r.Name(), o.Out[:n], *line, want[:n])
	}
	return nil
}

// encode writes the form of a line that a routine for Store must write, and returns its bytes.
func (r *Routine) encode(form, line *codec.Line, hint codec.Encoding) (bytes int) {
	if c := r.Codec(); c != codec.BDI || !r.takesHint() {
		return c.Encode(form, line)
	}
	return codec.EncodeBDI(form, line, hint)
}

// begins reports whether a fill with an encoding begins the routine.
func (r *Routine) begins(e codec.Encoding) bool {
	return slices.ContainsFunc(r.Triggers, func(t Trigger) bool { return t.Event == Fill && t.Encoding == e })
}
