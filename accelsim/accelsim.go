package accelsim

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"gemu/internal/cleanup"
	"gemu/probe"
	"gemu/ptx"
)

// Limits of the format.
const (
	maxSources = 4
	warpSize   = 32
	pcStep     = 16 // size of a SASS instruction in bytes, since Volta
)

// Exporter is a probe that writes traces. It is safe for concurrent launches. Until Close, the files are in a temporary directory inside the target
// directory, and earlier exports stay unchanged.
type Exporter struct {
	// Packed selects .tracez files, in which the instructions of each warp are compressed separately, instead of
	// .traceg.
	Packed bool
	// Partial makes Close install the traces of all other launches if some launches have no trace, such as launches that
	// trap, and return the reasons. Without Partial, Close then installs nothing.
	Partial bool

	dir           string
	tempDir       string // directory of the files until Close; "" before the first file and after Close
	removeTempDir func() // removes tempDir
	version       int
	opcodes       map[string]bool // opcodes of the version

	mu           sync.Mutex                    // guards the following fields
	list         []string                      // lines of kernelslist.g
	lostLaunches []error                       // reasons for missing launches, with Partial
	kernel       int                           // number of launches so far
	launches     map[*probe.LaunchInfo]*launch // launches in flight
	err          error
}

// New makes an exporter to an existing directory for a binary version: see Versions. It returns an error if the
// kernelslist.g of the directory names files that gemu has not written.
func New(dir string, version int) (*Exporter, error) {
	supported := known[version]
	if supported == nil {
		return nil, fmt.Errorf("no opcodes for binary version %d; available: %v", version, Versions())
	}
	x := &Exporter{launches: map[*probe.LaunchInfo]*launch{}, dir: dir, version: version, opcodes: supported}
	if _, err := x.earlier(nil); err != nil {
		return nil, err
	}
	return x, nil
}

// Close writes kernelslist.g and moves it and the traces to the directory. It removes the traces of earlier exports.
// Files not written by gemu stay; if such a file has the name of a new file, this is an error. After an error, nothing
// is moved. The error is the first of these: a file that cannot be written, an instruction without a row, a launch that
// did not end, warps without 32 lanes.
func (x *Exporter) Close() error {
	defer x.Discard()
	if x.err == nil {
		x.err = x.makeTempDir()
	}
	if x.err != nil {
		return x.err
	}
	text := strings.Join(append(slices.Clone(x.list), ""), "\n")
	if err := os.WriteFile(filepath.Join(x.tempDir, listName), []byte(text), 0o666); err != nil {
		return err
	}
	var names []string
	for _, name := range x.list {
		if !strings.HasPrefix(name, memcpy) {
			names = append(names, name)
		}
	}
	return errors.Join(x.install(names), errors.Join(x.lostLaunches...))
}

// Kernels returns the number of launches that have a trace so far.
func (x *Exporter) Kernels() (n int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, name := range x.list {
		if !strings.HasPrefix(name, memcpy) {
			n++
		}
	}
	return n
}

// Discard removes the files written so far.
func (x *Exporter) Discard() {
	if x.tempDir != "" {
		x.removeTempDir()
		x.tempDir = ""
	}
}

// makeTempDir makes the temporary directory.
func (x *Exporter) makeTempDir() (err error) {
	if x.tempDir == "" {
		x.tempDir, x.removeTempDir, err = cleanup.Dir(x.dir, ".gemu-accelsim-*")
	}
	return err
}

// The file that lists the traces, and the beginning of its lines that name no file.
const (
	listName = "kernelslist.g"
	memcpy   = "MemcpyHtoD,"
)

// Subscription requests executed instructions with addresses, CTA by CTA in a single order.
func (x *Exporter) Subscription() probe.Subscription {
	return probe.Subscription{
		Events:    probe.OnLaunch | probe.OnLaunchEnd | probe.OnCTA | probe.OnCTAEnd | probe.OnBefore | probe.OnAfter | probe.OnUndo | probe.OnExit | probe.OnEffect | probe.OnHostWrite,
		Addresses: true, InOrder: true,
	}
}

// OnEvent handles launches and copies by the host.
func (x *Exporter) OnEvent(e *probe.Event) {
	x.mu.Lock()
	defer x.mu.Unlock()
	switch e.Kind {
	case probe.OnHostWrite:
		if e.Memory.Kind == probe.BufferMemory {
			x.list = append(x.list, fmt.Sprintf(memcpy+"0x%016x,%d", e.Memory.Base+e.Offset, e.Bytes))
		}
	case probe.OnLaunch:
		x.begin(e.Launch)
	case probe.OnLaunchEnd:
		x.end(e.Launch, e.Err)
	}
}

// CTA returns the sink for the events of a CTA.
func (x *Exporter) CTA(info *probe.LaunchInfo, _ int, id ptx.Dim3) probe.Sink {
	x.mu.Lock()
	l := x.launches[info]
	x.mu.Unlock()
	if l == nil || l.err != nil {
		return nil
	}
	return &cta{launch: l, id: id, warps: make([]warp, (l.info.Block.X*l.info.Block.Y*l.info.Block.Z+warpSize-1)/warpSize)}
}

// launch is the trace of a launch.
type launch struct {
	info          *probe.LaunchInfo
	id            int // number of the launch, from 1
	version       int // binary version
	file          *os.File
	out           *bufio.Writer
	packer        *packer  // writer of a .tracez file; nil for .traceg
	spill         *os.File // overflow of CTAs in flight
	spilledBytes  int64    // size of spill
	bytesInMemory int      // size of the text of warps in memory
	ops           []instr  // instructions, by index in the program
	endAddress    int      // address after the program
	regs          map[*ptx.Func][]int
	words         int // number of register numbers in use
	headerWritten bool
	err           error
}

// instr is a PTX instruction as SASS.
type instr struct {
	pc      int      // pc of the first opcode
	opcodes []string // SASS opcodes, in order
	places  int      // number of consecutive pcs reserved for the last opcode
	dest    int      // number of the result register; -1: none
	sources []int    // numbers of the source registers
	imm     int64    // for a wait: number of groups that may be pending
	jumps   bool     // a branch
	returns bool     // a return from a function, or from the kernel (which ends the lanes)
	exits   bool     // an exit
}

// count returns the number of consecutive pcs to reserve for the last opcode of an instruction. An access needs a pc for
// each 16 bytes of a lane; a copy or fragment, whose number of accesses is only known at run time, gets 4.
func (op *instr) count(in *ptx.Instr) int {
	if !addressOpcodes[stem(op.opcodes[len(op.opcodes)-1])] {
		return 1
	}
	switch in.Form.Family {
	case ptx.FamilyLoad, ptx.FamilyStore, ptx.FamilyAtomic:
		return max(1, (in.Type().Bits()*max(1, in.VecLen())+127)/128)
	}
	return 4
}

// begin opens the file of a launch. The caller must hold x.mu.
func (x *Exporter) begin(info *probe.LaunchInfo) {
	x.kernel++
	l := &launch{info: info, id: x.kernel, version: x.version, regs: map[*ptx.Func][]int{}}
	x.launches[info] = l
	if x.Packed {
		if l.packer, l.err = newPacker(nil); l.err != nil {
			return
		}
	}
	if info.WarpSize != warpSize {
		l.err = fmt.Errorf("%s: warps of %d lanes, but Accel-Sim traces need %d", info.Kernel.Name, info.WarpSize, warpSize)
		return
	}
	pc := 0
	for i := range info.Program.Len() {
		in, f := info.Program.At(i)
		op := instr{pc: pc, opcodes: opcodes(in, x.opcodes), dest: -1, jumps: in.Form.Effects.Any(ptx.Jumps), returns: in.Form.Effects.Any(ptx.Returns), exits: in.Form.Effects.Any(ptx.Exits)}
		if op.opcodes == nil {
			l.err = fmt.Errorf("%s:%d:%d: %s has no SASS in binary version %d", info.Module.Name, in.Pos.Line, in.Pos.Col, in.Text, x.version)
			return
		}
		for r := range in.Defs() {
			if n := l.number(f, r); n >= 0 && op.dest < 0 {
				op.dest = n
			}
		}
		for r := range in.Uses() {
			if n := l.number(f, r); n >= 0 && len(op.sources) < maxSources && !slices.Contains(op.sources, n) {
				op.sources = append(op.sources, n)
			}
		}
		if k := in.Form.Operand("a"); in.Has("wait_group") && k >= 0 && in.Ops[k].Kind == ptx.ImmOperand {
			op.imm = int64(in.Ops[k].Imm.Bits)
		}
		op.places = op.count(in)
		l.ops = append(l.ops, op)
		pc += (len(op.opcodes) - 1 + op.places) * pcStep
	}
	l.endAddress = pc
	if l.err = x.makeTempDir(); l.err != nil {
		return
	}
	if l.file, l.err = os.Create(filepath.Join(x.tempDir, l.name())); l.err != nil {
		return
	}
	l.out = bufio.NewWriterSize(l.file, 1<<16)
	if l.packer != nil {
		l.packer.out = l.out
	}
	l.spill, l.err = os.CreateTemp(x.tempDir, "cta-*")
	// The header is written when the first CTA reports the size of shared memory.
}

func (l *launch) name() string {
	if l.packer != nil {
		return fmt.Sprintf("kernel-%d.tracez", l.id)
	}
	return fmt.Sprintf("kernel-%d.traceg", l.id)
}

// number returns the number of a register, the even number of a pair; -1 for predicates. Functions do not share
// numbers.
func (l *launch) number(f *ptx.Func, r ptx.RegID) int {
	list := l.regs[f]
	if list == nil {
		for _, reg := range f.Regs {
			n := (reg.Type.Bits() + 31) / 32
			if reg.Type == ptx.Pred {
				list = append(list, -1)
				continue
			}
			l.words = (l.words + n - 1) / n * n
			list = append(list, l.words)
			l.words += n
		}
		l.regs[f] = list
	}
	return list[r]
}

// header writes the beginning of a file, before the CTAs.
func (l *launch) header(shared uint64) {
	i := l.info
	var b strings.Builder
	fmt.Fprintf(&b, "-kernel name = %s\n-kernel id = %d\n-grid dim = (%d,%d,%d)\n-block dim = (%d,%d,%d)\n", i.Kernel.Name, l.id, i.Grid.X, i.Grid.Y, i.Grid.Z, i.Block.X, i.Block.Y, i.Block.Z)
	fmt.Fprintf(&b, "-shmem = %d\n-nregs = %d\n-binary version = %d\n-cuda stream id = 0\n", shared, l.pressure(), l.version)
	fmt.Fprintf(&b, "-shmem base_addr = 0x%016x\n-local mem base_addr = 0x%016x\n%s\n-accelsim tracer version = 5\n-enable lineinfo = 0\n\n", probe.SharedWindow, probe.LocalWindow, madeBy)
	fmt.Fprint(&b, "#traces format = PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width [adrrescompress?] [mem_addresses] immediate\n\n")
	if l.packer == nil {
		l.out.WriteString(b.String()) // Flush returns the error
		return
	}
	if _, l.err = io.WriteString(l.packer, b.String()); l.err == nil {
		l.err = l.packer.begin()
	}
}

// The register count of a thread.
const (
	registerUnit = 8 // allocation unit of registers
	maxRegisters = 255
)

// pressure returns the maximum number of register words that are live at the beginning of a block in any function, plus
// the registers of an instruction, rounded up to the allocation unit.
func (l *launch) pressure() int {
	maximum := 0
	for f := range l.regs {
		live := f.Liveness()
		for b := range f.Blocks {
			n := 0
			for r := range live.EachLiveIn(b) {
				if t := f.Regs[r].Type; t != ptx.Pred {
					n += (t.Bits() + 31) / 32
				}
			}
			maximum = max(maximum, n)
		}
	}
	return min((maximum+2*registerUnit-1)/registerUnit*registerUnit, maxRegisters)
}

// end completes the file of a launch. The caller must hold x.mu.
func (x *Exporter) end(info *probe.LaunchInfo, err error) {
	l := x.launches[info]
	if l == nil {
		return
	}
	delete(x.launches, info)
	if l.file != nil {
		if l.err == nil && l.packer != nil {
			l.err = l.packer.end()
		}
		if l.err == nil {
			l.err = l.out.Flush()
		}
		l.err = errors.Join(l.err, l.file.Close())
	}
	if err != nil {
		l.err = errors.Join(l.err, fmt.Errorf("kernel %d, %s, has no trace: it did not end", l.id, l.info.Kernel.Name))
	}
	if l.spill != nil {
		l.spill.Close()
	}
	if l.err != nil {
		switch {
		case x.Partial:
			x.lostLaunches = append(x.lostLaunches, l.err)
			if l.file != nil {
				os.Remove(l.file.Name())
			}
		case x.err == nil:
			x.err = l.err
		}
		return
	}
	x.list = append(x.list, l.name())
}

// cta is the trace of a CTA. It is written when the CTA has ended, because in the file the number of a warp's
// instructions stands before the instructions. Until then the trace is in memory, and in a temporary file if it is long.
type cta struct {
	*launch
	id    ptx.Dim3
	warps []warp
}

// warp is the trace of a warp so far.
type warp struct {
	text    []byte      // instructions in memory, as text
	spilled []fileRange // earlier instructions, in launch.spill
	instrs  int         // number of instructions

	length, before int      // length of text, and instrs, before the last instruction
	effects        []effect // effects issued by the last instruction
}

// fileRange is a range of bytes in a file.
type fileRange struct{ offset, size int64 }

// maxBytesInMemory bounds the bytes of CTAs in flight in memory, and chunkBytes is the minimum size that a warp writes
// to the file; tests use smaller values.
var (
	maxBytesInMemory = 16 << 20
	chunkBytes       = 1 << 16
)

// spillWarp moves the warp's text to the file if there is too much in memory. It must be called before the warp writes
// more, when no written instruction can still be undone.
func (c *cta) spillWarp(w *warp) {
	if c.bytesInMemory < maxBytesInMemory || len(w.text) < chunkBytes {
		return
	}
	if _, err := c.spill.WriteAt(w.text, c.spilledBytes); err != nil {
		c.err = err
		return
	}
	w.spilled = append(w.spilled, fileRange{c.spilledBytes, int64(len(w.text))})
	c.spilledBytes += int64(len(w.text))
	c.bytesInMemory -= len(w.text)
	w.text = w.text[:0]
}

// effect is the source or destination of an asynchronous copy in global memory; for copies within shared memory, the
// destination.
type effect struct {
	lanes uint64
	addr  uint64
	bytes int
	store bool
}

// OnEvent handles the events of the CTA.
func (c *cta) OnEvent(e *probe.Event) {
	if c.err != nil {
		return
	}
	switch e.Kind {
	case probe.OnCTA:
		if !c.headerWritten {
			c.headerWritten = true
			shared := uint64(0)
			if s := e.Shared(); s != nil {
				shared = s.Size
			}
			c.header(shared)
		}
	case probe.OnBefore:
		w := &c.warps[e.Warp]
		c.spillWarp(w)
		w.length, w.before, w.effects = len(w.text), w.instrs, w.effects[:0]
	case probe.OnUndo:
		w := &c.warps[e.Warp]
		c.bytesInMemory -= len(w.text) - w.length
		w.text, w.instrs = w.text[:w.length], w.before
	case probe.OnEffect:
		c.effect(e)
	case probe.OnAfter:
		w := &c.warps[e.Warp]
		n := len(w.text)
		c.executed(e)
		c.bytesInMemory += len(w.text) - n
	case probe.OnExit:
		pc, w := c.endAddress, &c.warps[e.Warp]
		if e.Index >= 0 {
			pc = c.ops[e.Index].pc
		}
		n := len(w.text)
		w.add(pc, uint32(e.Lanes), -1, "EXIT", nil, "0", 0)
		c.bytesInMemory += len(w.text) - n
	case probe.OnCTAEnd:
		c.write()
	}
}
