package corpus

// This file extracts launches from programs in a form that a GPU can run. tools/hardware/record.py runs them and
// records their results.

import (
	"bytes"
	"cmp"
	"compress/zlib"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gemu/internal/tensormap"
	"gemu/interp"
	"gemu/ptx"
)

// Launch is a launch with all its inputs.
type Launch struct {
	ID          string   `json:"id"`     // a hash of all inputs, in hexadecimal
	Name        string   `json:"name"`   // the program, and the number of the launch in it
	Module      string   `json:"module"` // its file: see Program.File
	Kernel      string   `json:"kernel"`
	Grid        [3]int   `json:"grid"`
	Block       [3]int   `json:"block"`
	Shared      int      `json:"shared"` // dynamic, in bytes
	Cooperative bool     `json:"cooperative"`
	Cluster     [3]int   `json:"cluster,omitzero"` // cluster size in CTAs; zero: none
	Args        []Arg    `json:"args"`
	Buffers     [][]byte `json:"buffers"` // their initial contents

	Vars map[string][]byte `json:"vars,omitempty"` // values that the host has written to variables of the module

	Source string `json:"-"` // of the module
}

// Arg is an argument: bytes, the address of a buffer, or a tensor map over a buffer.
type Arg struct {
	Bytes  []byte  `json:"bytes,omitempty"`
	Buffer int     `json:"buffer"` // -1: bytes
	Tensor *Tensor `json:"tensor,omitempty"`
}

// Tensor is a tensor map by the parameters of CUDA's driver. Enumerations have the driver's numbers.
type Tensor struct {
	Im2col     bool     `json:"im2col"`
	Type       int      `json:"type"`
	Offset     uint64   `json:"offset"` // in the buffer, in bytes
	Dims       []uint64 `json:"dims"`   // the innermost first
	Strides    []uint64 `json:"strides"`
	Box        []uint32 `json:"box"` // im2col: channels and pixels
	Steps      []uint32 `json:"steps"`
	Lower      []int32  `json:"lower"` // corners, for im2col
	Upper      []int32  `json:"upper"`
	Interleave int      `json:"interleave"`
	Swizzle    int      `json:"swizzle"`
	NaN        int      `json:"nan"`
}

// describeTensor converts a map. ok is false for a map that GPUs of 9.0 do not support.
func describeTensor(m *tensormap.Map) (t *Tensor, ok bool) {
	t = &Tensor{
		Im2col: m.Mode == tensormap.Im2col, Type: slices.Index(tensormap.Types, m.Type), Offset: m.Address,
		Dims: m.Dim[:m.Rank], Strides: m.Stride[:m.Rank-1], Box: m.Box[:m.Rank], Steps: m.Step[:m.Rank],
		Interleave: int(m.Interleave), Swizzle: slices.Index(tensormap.Swizzles, m.Swizzle),
	}
	if t.Im2col {
		t.Box, t.Lower, t.Upper = m.Box[:2], m.Lower[:m.Rank-2], m.Upper[:m.Rank-2]
	}
	if m.NaN {
		t.NaN = 1
	}
	return t, (m.Mode == tensormap.Tiled || t.Im2col) && t.Type >= 0 && t.Swizzle >= 0
}

// encode returns the map in gemu's own bytes; addr is the address of the buffer.
func (t *Tensor) encode(addr uint64) ([]byte, error) {
	rank := len(t.Dims)
	if rank < 1 || rank > tensormap.Rank || t.Type < 0 || t.Type >= len(tensormap.Types) || t.Swizzle < 0 || t.Swizzle >= len(tensormap.Swizzles) {
		return nil, fmt.Errorf("a tensor of %d dimensions, type %d and swizzle %d", rank, t.Type, t.Swizzle)
	}
	m := &tensormap.Map{
		Type: tensormap.Types[t.Type], Rank: rank, Address: addr + t.Offset,
		Interleave: tensormap.Interleave(t.Interleave), Swizzle: tensormap.Swizzles[t.Swizzle], NaN: t.NaN != 0,
	}
	copy(m.Dim[:], t.Dims)
	copy(m.Stride[:], t.Strides)
	copy(m.Box[:], t.Box)
	copy(m.Step[:], t.Steps)
	if t.Im2col {
		m.Mode = tensormap.Im2col
		copy(m.Lower[:], t.Lower)
		copy(m.Upper[:], t.Upper)
	}
	if err := m.Check(); err != nil {
		return nil, err
	}
	b := m.Encode()
	return b[:], nil
}

// LaunchOutput holds the final contents of a launch's buffers.
type LaunchOutput struct {
	ID      string   `json:"id"`
	Name    string   `json:"name"`
	Buffers []string `json:"buffers,omitempty"` // first 8 bytes of the SHA-256 of each, in hexadecimal
	Data    [][]byte `json:"data,omitempty"`    // the contents, compressed by zlib
	Header  string   `json:"as,omitempty"`      // the version, the target, or both, in place of the module header's
	Error   string   `json:"error,omitempty"`   // error of the launch, instead of the buffers
}

// Launches lists the launches of the programs that run without a trap, in warps of 32 lanes.
func Launches(testdata string) (list []*Launch, err error) {
	programs, err := Programs(testdata)
	if err != nil {
		return nil, err
	}
	return RecordLaunches(programs)
}

// RecordLaunches lists the launches of the given programs.
func RecordLaunches(programs []*Program) (list []*Launch, err error) {
	var id identifier
	for _, p := range programs {
		if p.Width != 32 {
			continue
		}
		var launches []*Launch
		o := p.RunModule(func(m *interp.Module, l *interp.Launch) {
			if usesTextures(m, l) {
				return // textures cannot be described by bytes
			}
			launch, e := recordLaunch(p, len(launches), m, l, &id)
			if e != nil {
				err = e
			}
			if launch != nil {
				launches = append(launches, launch)
			}
		})
		if err != nil {
			return nil, err
		}
		if o.Err == nil {
			list = append(list, launches...)
		}
	}
	return list, nil
}

// usesTextures reports whether a launch has textures, surfaces or samplers.
func usesTextures(m *interp.Module, l *interp.Launch) bool {
	isObject := func(a any) bool { _, ok := a.(*interp.Object); return ok }
	return slices.ContainsFunc(l.Args, isObject) || slices.ContainsFunc(m.Vars(), func(v *ptx.Var) bool { return v.Type.Kind() == ptx.Opaque })
}

// recordLaunch copies a launch that is about to begin; nil if a GPU cannot run it.
func recordLaunch(p *Program, n int, m *interp.Module, l *interp.Launch, id *identifier) (*Launch, error) {
	k, err := m.Kernel(l.Kernel)
	if err != nil {
		return nil, err
	}
	launch := &Launch{
		Name: fmt.Sprintf("%v #%d", p, n), Module: p.File, Kernel: k.Name, Grid: extent(l.Grid), Block: extent(l.Block),
		Shared: l.Shared, Cooperative: l.Cooperative, Cluster: extent(l.Cluster), Source: m.Source(),
	}
	index := map[uint64]int{} // index of buffers by address
	buffer := func(addr uint64, data []byte) int {
		if _, ok := index[addr]; !ok {
			index[addr] = len(launch.Buffers)
			launch.Buffers = append(launch.Buffers, slices.Clone(data))
		}
		return index[addr]
	}
	for i, a := range l.Args {
		if b, ok := a.(*interp.Buffer); ok {
			launch.Args = append(launch.Args, Arg{Buffer: buffer(b.Addr(), b.Bytes())})
			continue
		}
		bytes, err := interp.ArgBytes(k.Params[i], a)
		if err != nil {
			return nil, err
		}
		arg := Arg{Bytes: bytes, Buffer: -1}
		if tensor := decodeMap(bytes); tensor != nil {
			alloc := m.Device().Find(tensor.Address)
			if alloc == nil {
				return nil, nil
			}
			tensor.Address -= alloc.Base
			described, ok := describeTensor(tensor)
			if !ok {
				return nil, nil
			}
			arg = Arg{Buffer: buffer(alloc.Base, alloc.Data), Tensor: described}
		}
		launch.Args = append(launch.Args, arg)
	}
	if launch.Vars, err = changedVars(p, m); err != nil {
		return nil, err
	}
	return launch, id.identify(launch)
}

// ignoredText matches comments and blanks; entryPattern matches the beginning of a kernel.
var (
	ignoredText  = regexp.MustCompile(`(?://.*|(?s:/\*.*?\*/)|\s)+`)
	entryPattern = regexp.MustCompile(`(?:\.(?:visible|weak|extern) )?\.entry ([\w$%]+)`)
)

// textSegment is a part of a module without comments: a kernel, or the text between two kernels.
type textSegment struct {
	kernel string // "" between kernels
	text   string
}

// splitModule splits a module into segments.
func splitModule(source string) (list []textSegment) {
	text := ignoredText.ReplaceAllString(source, " ")
	add := func(kernel, text string) {
		if text = strings.TrimSpace(text); text != "" {
			list = append(list, textSegment{kernel, text})
		}
	}
	for at := entryPattern.FindStringSubmatchIndex(text); at != nil; at = entryPattern.FindStringSubmatchIndex(text) {
		depth, end := 0, at[1]
		for ; end < len(text); end++ {
			switch text[end] {
			case '{':
				depth++
			case '}':
				depth--
			}
			if depth == 0 && (text[end] == '}' || text[end] == ';') { // end of an entry or a declaration
				end++
				break
			}
		}
		add("", text[:at[0]])
		add(text[at[2]:at[3]], text[at[0]:end])
		text = text[end:]
	}
	add("", text)
	return list
}

// identifier computes the IDs of launches. It caches the last module, because many launches share a module.
type identifier struct {
	source   string
	segments []textSegment
}

// identify sets the ID of a launch; its remaining fields must be set. Of its module, the kernel and the text between
// kernels count; comments and blanks do not.
func (id *identifier) identify(l *Launch) error {
	if id.source != l.Source {
		id.source, id.segments = l.Source, splitModule(l.Source)
	}
	var essence []string
	for _, p := range id.segments {
		if p.kernel == "" || p.kernel == l.Kernel {
			essence = append(essence, p.text)
		}
	}
	all, err := json.Marshal([]any{strings.Join(essence, " "), l.Kernel, l.Grid, l.Block, l.Shared, l.Cooperative, l.Cluster, l.Args, l.Buffers, l.Vars})
	l.ID = digest64(all)
	return err
}

// Identify sets the ID of the launch. All remaining fields must be set.
func (l *Launch) Identify() error { return new(identifier).identify(l) }

// changedVars returns the variables of a workload's module whose values differ from the initial values.
func changedVars(p *Program, m *interp.Module) (map[string][]byte, error) {
	if !strings.HasPrefix(p.File, "@") {
		return nil, nil // only workloads write to variables; variables elsewhere may hold addresses
	}
	fresh, err := interp.NewDevice(interp.Config{Workers: 1}).Load(m.Name, []byte(m.Source()))
	if err != nil {
		return nil, err
	}
	var vars map[string][]byte
	for _, v := range m.Vars() {
		b, original := m.Var(v.Name), fresh.Var(v.Name)
		if b == nil || bytes.Equal(b.Bytes(), original.Bytes()) {
			continue
		}
		if vars == nil {
			vars = map[string][]byte{}
		}
		vars[v.Name] = slices.Clone(b.Bytes())
	}
	return vars, nil
}

// decodeMap decodes a tensor map; nil if the bytes are no tensor map.
func decodeMap(bytes []byte) *tensormap.Map {
	if len(bytes) != tensormap.Size {
		return nil
	}
	m, err := tensormap.Decode(bytes)
	if err != nil {
		return nil
	}
	return m
}

func extent(d ptx.Dim3) [3]int { return [3]int{d.X, d.Y, d.Z} }

// Run runs the launch on a new device of generation sm; 0 is the default. With withData, the output includes the
// contents of the buffers.
func (l *Launch) Run(sm int, withData bool) (*LaunchOutput, error) {
	dev := interp.NewDevice(interp.Config{Workers: 1, SM: sm})
	m, err := dev.Load(l.Module, []byte(l.Source))
	if err != nil {
		return nil, err
	}
	buffers := make([]*interp.Buffer, len(l.Buffers))
	for i, data := range l.Buffers {
		if buffers[i], err = interp.NewBuffer(dev, data); err != nil {
			return nil, err
		}
	}
	for name, data := range l.Vars {
		v := m.Var(name)
		if v == nil || v.Size() != len(data) {
			return nil, fmt.Errorf("%s: no variable %s of %d bytes", l.Module, name, len(data))
		}
		v.Write(0, data)
	}
	args := make([]any, len(l.Args))
	for i, a := range l.Args {
		switch {
		case a.Buffer >= len(buffers) || a.Buffer < 0 && a.Tensor != nil:
			return nil, fmt.Errorf("%s: argument %d is of buffer %d of %d", l.Name, i, a.Buffer, len(buffers))
		case a.Tensor != nil:
			if args[i], err = a.Tensor.encode(buffers[a.Buffer].Addr()); err != nil {
				return nil, fmt.Errorf("%s: argument %d: %w", l.Name, i, err)
			}
		case a.Buffer >= 0:
			args[i] = buffers[a.Buffer]
		default:
			args[i] = a.Bytes
		}
	}
	_, err = m.Run(context.Background(), &interp.Launch{
		Kernel: l.Kernel, Grid: ptx.Dim(l.Grid[:]...), Block: ptx.Dim(l.Block[:]...), Shared: l.Shared, Cooperative: l.Cooperative, Cluster: dim3(l.Cluster), Args: args,
	})
	if err != nil {
		return nil, err
	}
	result := &LaunchOutput{ID: l.ID, Name: l.Name}
	for _, b := range buffers {
		result.Buffers = append(result.Buffers, digest64(b.Bytes()))
		if withData {
			result.Data = append(result.Data, compressed(b.Bytes()))
		}
	}
	return result, nil
}

// Known is an explained difference between GPUs and gemu.
type Known struct {
	Launches int            // number of launches that differ for this reason, in all records
	Name     *regexp.Regexp // pattern of their names
	Matched  int            // number of launches found by Compare
}

// ReadKnown parses lines of a number of launches, a pattern for their names and, after at least two blanks, a reason.
// Empty lines and lines that begin with # are skipped.
func ReadKnown(text string) (list []*Known, err error) {
	for i, line := range strings.Split(text, "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		front, reason, _ := strings.Cut(line, "  ")
		number, name, ok := strings.Cut(front, " ")
		if !ok || strings.TrimSpace(reason) == "" {
			return nil, fmt.Errorf("line %d: a known difference has a number of launches, an expression and, after two blanks, a reason", i+1)
		}
		n, err := strconv.Atoi(number)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		re, err := regexp.Compile(name)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		list = append(list, &Known{Launches: n, Name: re})
	}
	return list, nil
}

// Compare compares launches with the records of a GPU, and lists the differences, except known ones. A record without a
// launch is a difference: it must be recorded again. A failure is a difference, unless the driver could not load the
// module, which may be for another GPU. If all is set, a launch without a record is a difference.
func Compare(text []byte, launches []*Launch, known []*Known, all bool) (compared int, differences []string) {
	byID := map[string]*Launch{}
	for _, l := range launches {
		byID[l.ID] = l
	}
	differs := func(format string, args ...any) { differences = append(differences, fmt.Sprintf(format, args...)) }
	lines := json.NewDecoder(bytes.NewReader(text))
	var device struct{ SM int }
	if err := lines.Decode(&device); err != nil || device.SM == 0 {
		differs("the first line names no device of a generation: %v", cmp.Or(err, errors.New(`it has no "sm"`)))
		return 0, differences
	}
	seen := map[string]bool{}
	for lines.More() {
		var want LaunchOutput
		if err := lines.Decode(&want); err != nil {
			differs("after %d launches: %v", compared, err)
			break
		}
		l := byID[want.ID]
		seen[want.ID] = true
		knownIndex := slices.IndexFunc(known, func(k *Known) bool { return k.Name.MatchString(want.Name) })
		switch {
		case l == nil:
			differs("%s: there is no such launch any more: record it again, or take its line out", want.Name)
			continue
		case strings.HasPrefix(want.Error, "cuModuleLoadData"):
			continue
		case want.Error != "" && knownIndex >= 0:
			known[knownIndex].Matched++
			continue
		case want.Error != "":
			differs("%s: the GPU failed: %s", want.Name, want.Error)
			continue
		}
		got, err := l.Run(device.SM, false)
		switch same := err == nil && slices.Equal(got.Buffers, want.Buffers); {
		case !same && err == nil && knownIndex >= 0:
			known[knownIndex].Matched++
		case !same:
			differs("%s: got %+v, want %v, %v", want.Name, got, want.Buffers, err)
		}
		compared++
	}
	for _, l := range launches {
		if all && !seen[l.ID] {
			differs("%s: there is no line of it", l.Name)
		}
	}
	if compared == 0 {
		differs("nothing is compared")
	}
	return compared, differences
}

// line is a line of WriteLaunches: a module, or a launch of an earlier module.
type line struct {
	Source string `json:"source,omitempty"` // name of the module
	Text   string `json:"text,omitempty"`
	*Launch
}

// WriteLaunches writes launches as lines of JSON, each after its module.
func WriteLaunches(w io.Writer, list []*Launch) error {
	write, written := json.NewEncoder(w), map[string]bool{}
	for _, l := range list {
		if !written[l.Module] {
			written[l.Module] = true
			if err := write.Encode(line{Source: l.Module, Text: l.Source}); err != nil {
				return err
			}
		}
		if err := write.Encode(l); err != nil {
			return err
		}
	}
	return nil
}

// ReadLaunches reads the output of WriteLaunches.
func ReadLaunches(r io.Reader) (list []*Launch, err error) {
	sources := map[string]string{}
	for lines := json.NewDecoder(r); ; {
		l := line{Launch: new(Launch)}
		switch err := lines.Decode(&l); {
		case err == io.EOF:
			return list, nil
		case err != nil:
			return nil, fmt.Errorf("after %d launches: %w", len(list), err)
		case l.Source != "":
			sources[l.Source] = l.Text
			continue
		}
		source, ok := sources[l.Module]
		if !ok {
			return nil, fmt.Errorf("%s: there is no source of %q", l.Name, l.Module)
		}
		l.Launch.Source = source
		list = append(list, l.Launch)
	}
}

// compressed compresses data by zlib.
func compressed(data []byte) []byte {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	w.Write(data)
	w.Close()
	return b.Bytes()
}

// digest64 returns the first 8 bytes of a hash in hexadecimal.
func digest64(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:8])
}
