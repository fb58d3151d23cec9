package machine

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"gemu/internal/notation"
	"gemu/machine/cache"
	"gemu/machine/core"
	"gemu/machine/dispatch"
	"gemu/machine/dram"
	"gemu/machine/memory"
	"gemu/machine/stream"
	"gemu/occupancy"
	"gemu/ptx"
)

// Spec is a machine: its multiprocessors and its caches.
type Spec struct {
	Name   string // name of the machine
	SMs    int    // number of multiprocessors
	SM     int    // compute capability, 70 for 7.0, which limits the CTAs of a multiprocessor
	L1     Level  // cache of each multiprocessor; its size includes shared memory, unless Shared is empty
	Shared []int  // sizes in KiB that shared memory can take of the L1, in ascending order; empty: shared memory is separate
	L2     Level  // cache of all multiprocessors

	SharedBytes   int              // shared memory of a multiprocessor; 0: that of its compute capability
	StoreBuffer   int              // lines that wait for an assist warp that compresses them, at most, in a multiprocessor; 0: those of the system
	CombineStores bool             // stores of parts of a line wait in this buffer for each other (core.Assist.CombineStores)
	Dispatcher    *dispatch.Policy // multiprocessors of CTAs; nil: dispatch.Rotation
	L1Lines       bool             // a miss of the L1 reads the whole line from the L2, not sectors
	StoresEvict   bool             // a store removes its line from the L1
	WholeLines    bool             // the L2 and memory transfer lines of 128 bytes, not sectors
	Metadata      Metadata         // cache of a memory that transfers compressed lines; zero: MetadataOfCABA
	DRAM          dram.Spec        // memory behind the L2; zero: dram.Default
	Clock         core.Spec        // multiprocessors with a clock; without a policy: core.Volta
	Timing        memory.Spec      // network, L2 and memory with a clock; without one: memory.Volta
	// Prefetch returns, when a launch begins on a machine with a clock, the line to read when a line misses the L1; nil: no prefetches. The L1
	// has some bytes, and a multiprocessor some CTAs at a time.
	Prefetch func(l1, resident int) func(line uint64) (next uint64, ok bool)
	// Registers returns the number of registers of a thread of a kernel without .maxnreg; 0: it is unknown. nil: it is unknown for all.
	Registers func(*ptx.Func) int
	Systems   []*System // replace parts of the machine, each another part (CombineParts)
}

// Metadata is a cache of the numbers of bursts of compressed lines, which are in memory (Vijaykumar et al. 2016, section 5.3.2). Its policy
// is LRU. A line of the cache has two bits for each line of data.
type Metadata struct {
	Bytes     int // size of the data in bytes
	Ways      int // lines of a set
	LineBytes int // size of a line in bytes
}

// MetadataOfCABA has the size and the ways of the paper. The size of a line is that of a burst; the paper does not have it.
var MetadataOfCABA = Metadata{8 << 10, 4, 32}

// Shape returns the lines of the cache.
func (m *Metadata) Shape() cache.Shape {
	return cache.Shape{Sets: m.Bytes / m.LineBytes / m.Ways, Ways: m.Ways, Index: cache.Modulo}
}

// metadata returns the cache of metadata of the machine, to change it.
func (s *Spec) metadata() *Metadata {
	if s.Metadata == (Metadata{}) {
		s.Metadata = MetadataOfCABA
	}
	return &s.Metadata
}

// clock returns the multiprocessors of the machine with a clock, to change them.
func (s *Spec) clock() *core.Spec {
	if s.Clock.Policy == nil {
		s.Clock = core.Volta
	}
	return &s.Clock
}

// timing returns the network, L2 and memory with a clock, to change them.
func (s *Spec) timing() *memory.Spec {
	if s.Timing.CoreMHz == 0 {
		s.Timing = memory.Volta
	}
	return &s.Timing
}

// memoryOf returns a memory with a number of channels.
func memoryOf(channels int) dram.Spec {
	s := dram.Default
	s.Channels = channels
	return s
}

// Lines returns the number of lines of data of a line of the cache.
func (m *Metadata) Lines() int { return m.LineBytes * 4 }

// check returns an error if the cache cannot be built.
func (m *Metadata) check() error {
	switch {
	case m.Bytes < 1 || m.Ways < 1 || m.LineBytes < 1:
		return fmt.Errorf("%d bytes in %d ways, lines of %d bytes: want at least 1 of each", m.Bytes, m.Ways, m.LineBytes)
	case m.LineBytes > maxBytes || m.Ways > maxBytes/m.LineBytes || m.Bytes%(m.LineBytes*m.Ways) != 0:
		return fmt.Errorf("%d bytes are not a whole number of sets of %d lines of %d bytes", m.Bytes, m.Ways, m.LineBytes)
	}
	return nil
}

// Level is a cache. A cache without bytes has no lines.
type Level struct {
	Bytes  int          // size of the data in bytes
	Ways   int          // lines of a set
	Policy *Replacement // choice of the line that leaves a set
	Index  string       // "modulo" or "xor"
}

// Specs are the machines that gemu knows. The sizes come from NVIDIA's descriptions of the architectures: "NVIDIA Tesla V100 GPU
// Architecture" (2017), "NVIDIA A100 Tensor Core GPU Architecture" (2020), "NVIDIA H100 Tensor Core GPU Architecture" (2022, SXM5). The
// sizes of shared memory come from the CUDA C++ Programming Guide, "Compute Capabilities". NVIDIA does not publish ways, replacement and
// index: they are assumptions. "gtx480" has the sizes of "NVIDIA's Next Generation CUDA Compute Architecture: Fermi" (2009), with 48 KiB of
// shared memory; its L1 reads whole lines, and a store removes its line (CUDA C Programming Guide 4.2, "Compute Capability 2.x"; GPGPU-Sim's
// configuration of this GPU, which also has its ways). "caba" is the machine of Vijaykumar et al. 2016, table 1, with 32 KiB of shared memory (docs/caba.md).
var Specs = []Spec{
	{Name: "v100", SMs: 80, SM: 70, L1: Level{128 << 10, 4, lru, "xor"}, Shared: []int{0, 8, 16, 32, 64, 96}, L2: Level{6 << 20, 16, lru, "xor"}, Clock: core.Volta, DRAM: memoryOf(32), Timing: memory.Volta},
	{Name: "a100", SMs: 108, SM: 80, L1: Level{192 << 10, 4, lru, "xor"}, Shared: []int{0, 8, 16, 32, 64, 100, 132, 164}, L2: Level{40 << 20, 16, lru, "xor"}, Clock: core.Ampere, DRAM: memoryOf(40), Timing: memory.Ampere},
	{Name: "h100", SMs: 132, SM: 90, L1: Level{256 << 10, 4, lru, "xor"}, Shared: []int{0, 8, 16, 32, 64, 100, 132, 164, 196, 228}, L2: Level{50 << 20, 16, lru, "xor"}, Clock: core.Hopper, DRAM: memoryOf(80), Timing: memory.Hopper},
	{Name: "gtx480", SMs: 15, SM: 20, L1: Level{16 << 10, 4, lru, "xor"}, L2: Level{768 << 10, 16, lru, "xor"}, L1Lines: true, StoresEvict: true, Clock: core.Fermi, DRAM: memoryOf(6), Timing: memory.Fermi},
	{Name: "caba", SMs: 15, SM: 20, L1: Level{16 << 10, 4, lru, "xor"}, L2: Level{768 << 10, 16, lru, "xor"}, SharedBytes: 32 << 10, WholeLines: true, Clock: core.Fermi, DRAM: memoryOf(6), Timing: memory.CABA},
}

// Memory returns the memory behind the L2.
func (s *Spec) Memory() dram.Spec {
	if s.DRAM == (dram.Spec{}) {
		return dram.Default
	}
	return s.DRAM
}

// limits returns the resources of a multiprocessor.
func (s *Spec) limits() *occupancy.Limits {
	l := *occupancy.LimitsOf(s.SM)
	if s.SharedBytes > 0 {
		l.Shared, l.PerBlock = s.SharedBytes, min(l.PerBlock, s.SharedBytes)
	}
	return &l
}

// NewMemory returns the memory with a clock behind the L1 of a machine. structure returns the buffer of an address, for a placement of pages
// that knows buffers; it may be nil. The spec must pass its Check.
func NewMemory(s Spec, structure func(addr uint64) dram.Structure) (*memory.System, error) {
	return newMemory(s, structure, nil)
}

// newMemory returns a memory with compressed lines; nil: none.
func newMemory(s Spec, structure func(addr uint64) dram.Structure, compression *memory.Compression) (*memory.System, error) {
	c := memory.Config{Compression: compression, SMs: s.SMs, L2: s.L2.shape(), Policy: s.L2.Policy.New, WholeLines: s.WholeLines, Memory: s.Memory(), Structure: structure, Timing: *s.timing()}
	if err := c.Check(); err != nil {
		return nil, err
	}
	return memory.New(c), nil
}

// l1 returns the L1 of a multiprocessor whose CTAs have some bytes of shared memory: without the smallest part for shared memory that
// suffices, or without the largest part if none does.
func (s *Spec) l1(shared int) Level {
	level := s.L1
	for i, kib := range s.Shared {
		if kib<<10 >= shared || i == len(s.Shared)-1 {
			level.Bytes -= kib << 10
			break
		}
	}
	return level
}

// Policies are policies of other modules.
type Policies struct {
	Replacements []*Replacement     // besides those of Replacements
	Dispatchers  []*dispatch.Policy // besides those that dispatch.Find knows by itself
	Schedulers   []*core.Policy     // besides core.Policies
}

// Replacement is a replacement policy. Another module can make one, for Extensions of package cli.
type Replacement struct {
	Name string // name in parameters
	Doc  string // the line that leaves a set, for help
	// New returns the policy of a cache.
	New func(cache.Shape) cache.Policy
}

// Replacements are the replacement policies of package cache.
var Replacements = []*Replacement{
	lru,
	{"plru", "the line to which a tree of bits points", cache.TreePLRU},
	{"srrip", "the first line whose next access is predicted in the distant future", cache.SRRIP},
	{"brrip", "as srrip, and nearly all new lines are predicted there", cache.BRRIP},
	{"drrip", "as srrip or brrip, whichever has fewer misses", cache.DRRIP},
}

var lru = &Replacement{"lru", "the least recently used line", cache.LRU}

// indices are the index functions, by name.
var indices = map[string]cache.Index{"modulo": cache.Modulo, "xor": cache.XOR}

func sortedKeys[V any](m map[string]V) (names []string) {
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// shape returns the shape of a cache with lines of 128 bytes.
func (l *Level) shape() cache.Shape {
	s := cache.Shape{Sets: 1, Ways: l.Ways, Index: indices[l.Index]}
	if l.Bytes == 0 {
		s.Ways = 0
		return s
	}
	s.Sets = l.Bytes / stream.LineBytes / l.Ways
	return s
}

// check returns an error if a cache cannot be built.
func (l *Level) check() error {
	switch {
	case l.Policy == nil:
		return errors.New("no replacement policy")
	case l.Ways < 1:
		return fmt.Errorf("%d ways: want at least 1", l.Ways)
	case l.Bytes < 0 || l.Bytes%(stream.LineBytes*l.Ways) != 0:
		return fmt.Errorf("%d bytes: want a multiple of %d, the bytes of a set of %d lines of %d bytes", l.Bytes, stream.LineBytes*l.Ways, l.Ways, stream.LineBytes)
	case indices[l.Index] == nil:
		return fmt.Errorf("unknown index %q; want one of %s", l.Index, strings.Join(sortedKeys(indices), ", "))
	case l.Policy.Name == "plru" && l.Ways > 32:
		return errors.New("policy plru has at most 32 ways")
	}
	return nil
}

// maxBytes is the maximum size of all caches of a machine: each line takes some tens of bytes of the host's memory.
const maxBytes = 1 << 30

// Check returns an error if the machine cannot be built. It names the part.
func (s *Spec) Check() error {
	switch {
	case s.SMs < 1 || s.SMs > 1<<12:
		return fmt.Errorf("sms = %d: want 1 to %d multiprocessors", s.SMs, 1<<12)
	case s.SharedBytes < 0 || s.SharedBytes > maxBytes:
		return fmt.Errorf("shared = %d: want 0, for that of the compute capability, to %s", s.SharedBytes, sizeText(maxBytes))
	case s.StoreBuffer < 0 || s.StoreBuffer > 1<<20:
		return fmt.Errorf("assist.stores = %d: want 0, for that of the system, to %d lines", s.StoreBuffer, 1<<20)
	case s.SM < occupancy.Generations[0].SM:
		return fmt.Errorf("sm = %d: want a compute capability from %d on", s.SM, occupancy.Generations[0].SM)
	}
	if d := s.Dispatcher; d != nil && s.SMs < d.Zones {
		return fmt.Errorf("dispatch = %s: want at least %d multiprocessors, not %d", d.Name, d.Zones, s.SMs)
	}
	behind := s.Memory()
	if err := behind.Check(); err != nil {
		return fmt.Errorf("dram: %w", err)
	}
	timing := *s
	if err := timing.timing().Check(); err != nil {
		return err
	}
	for _, kib := range append([]int{0}, s.Shared...) {
		level := s.L1
		level.Bytes -= kib << 10
		if err := level.check(); err != nil {
			return fmt.Errorf("l1, with %d KiB of shared memory: %w", kib, err)
		}
	}
	if err := s.L2.check(); err != nil {
		return fmt.Errorf("l2: %w", err)
	}
	if _, err := CombineParts(s.Systems); err != nil {
		return err
	}
	changed := *s
	if err := changed.clock().Check(); err != nil {
		return err
	}
	metadata := *s
	if err := metadata.metadata().check(); err != nil {
		return fmt.Errorf("md: %w", err)
	}
	if total := s.SMs*s.L1.Bytes + s.L2.Bytes + s.Metadata.Bytes; total > maxBytes {
		return fmt.Errorf("the caches have %s in all: want at most %s", sizeText(total), sizeText(maxBytes))
	}
	return nil
}

// Find returns the machine of Specs with a name; ok is false if there is none.
func Find(name string) (s Spec, ok bool) {
	for _, s := range Specs {
		if s.Name == name {
			return s, true
		}
	}
	return Spec{}, false
}

// parameters are the numbers and names of a machine that Set changes.
var parameters = []struct {
	name string
	set  func(s *Spec, value string, more Policies) error
}{
	{"sms", func(s *Spec, value string, _ Policies) error { return setNumber(&s.SMs, value) }},
	{"sm", func(s *Spec, value string, _ Policies) error {
		if err := setNumber(&s.SM, value); err != nil {
			return errors.New("want a compute capability without its point: 70 for 7.0")
		}
		return nil
	}},
	{"shared", func(s *Spec, value string, _ Policies) error { return setSize(&s.SharedBytes, value) }},
	{"l1", func(s *Spec, value string, _ Policies) error {
		s.Shared = nil
		return setSize(&s.L1.Bytes, value)
	}},
	{"l1.ways", func(s *Spec, value string, _ Policies) error { return setNumber(&s.L1.Ways, value) }},
	{"l1.policy", func(s *Spec, value string, more Policies) error { return setPolicy(&s.L1.Policy, value, more) }},
	{"l1.index", func(s *Spec, value string, _ Policies) error { s.L1.Index = value; return nil }},
	{"l2", func(s *Spec, value string, _ Policies) error { return setSize(&s.L2.Bytes, value) }},
	{"l2.ways", func(s *Spec, value string, _ Policies) error { return setNumber(&s.L2.Ways, value) }},
	{"l2.policy", func(s *Spec, value string, more Policies) error { return setPolicy(&s.L2.Policy, value, more) }},
	{"l2.index", func(s *Spec, value string, _ Policies) error { s.L2.Index = value; return nil }},
	{"dispatch", func(s *Spec, value string, more Policies) (err error) {
		s.Dispatcher, err = dispatch.Find(value, more.Dispatchers)
		return err
	}},
	{"l1.transfer", func(s *Spec, value string, _ Policies) error { return setChoice(&s.L1Lines, value, "lines", "sectors") }},
	{"l1.store", func(s *Spec, value string, _ Policies) error {
		return setChoice(&s.StoresEvict, value, "evict", "update")
	}},
	{"l2.transfer", func(s *Spec, value string, _ Policies) error {
		return setChoice(&s.WholeLines, value, "lines", "sectors")
	}},
	{"assist.stores", func(s *Spec, value string, _ Policies) error { return setNumber(&s.StoreBuffer, value) }},
	{"assist.partial", func(s *Spec, value string, _ Policies) error {
		return setChoice(&s.CombineStores, value, "combine", "send")
	}},
	{"md", func(s *Spec, value string, _ Policies) error { return setSize(&s.metadata().Bytes, value) }},
	{"md.ways", func(s *Spec, value string, _ Policies) error { return setNumber(&s.metadata().Ways, value) }},
	{"md.line", func(s *Spec, value string, _ Policies) error { return setSize(&s.metadata().LineBytes, value) }},
}

// ParameterNames returns the names of the parameters for Set.
func ParameterNames() (names []string) {
	for _, p := range parameters {
		names = append(names, p.name)
	}
	for _, name := range dram.ParameterNames {
		names = append(names, dramPrefix+name)
	}
	for i := range memory.Parameters {
		names = append(names, memory.Parameters[i].Name)
	}
	return append(names, core.ParameterNames()...)
}

// dramPrefix begins the names of the parameters of a memory.
const dramPrefix = "dram."

// Set changes a parameter of a machine: "sms" and "sm"; "shared", the size of shared memory; "l1" and "l2", sizes in bytes or with K or M; ".ways", ".policy" and ".index"
// of the two caches; "l1.transfer" and "l2.transfer", "lines" or "sectors"; "l1.store", "evict" or "update"; "assist.stores", the buffer of stores for assist warps; "assist.partial", "combine" or "send", for stores of parts of a line; "md", the size of the cache of metadata, with "md.ways" and "md.line"; "dispatch", a
// name for dispatch.Find; "dram." with the name of a parameter of the memory (dram.Spec.Set); and those of the timing (memory.Parameters) and
// of the multiprocessors (core.Spec.Set). more are further policies. A size for l1 is
// what loads can use: shared memory takes no part of it. Check must be called after all changes.
func (s *Spec) Set(name, value string, more Policies) error {
	for _, p := range parameters {
		if p.name == name {
			if err := p.set(s, value, more); err != nil {
				return fmt.Errorf("%s=%s: %w", name, value, err)
			}
			return nil
		}
	}
	if of, ok := strings.CutPrefix(name, dramPrefix); ok && slices.Contains(dram.ParameterNames, of) {
		behind := s.Memory()
		if err := behind.Set(of, value); err != nil {
			return fmt.Errorf("%s=%s: %w", name, value, err)
		}
		s.DRAM = behind
		return nil
	}
	if ok, err := s.timing().Set(name, value); ok {
		if err != nil {
			return fmt.Errorf("%s=%s: %w", name, value, err)
		}
		return nil
	}
	if slices.Contains(core.ParameterNames(), name) {
		if err := s.clock().Set(name, value, more.Schedulers); err != nil {
			return fmt.Errorf("%s=%s: %w", name, value, err)
		}
		return nil
	}
	guess, names := "", ParameterNames()
	near := strings.ToLower(strings.TrimSpace(name))
	if !slices.Contains(names, near) {
		near = notation.Nearest(near, names)
	}
	if near != "" {
		guess = fmt.Sprintf(" (did you mean %s?)", near)
	}
	return fmt.Errorf("unknown parameter %q%s; want one of %s", name, guess, strings.Join(names, ", "))
}

// setChoice sets a parameter that has two values: yes sets it, no clears it.
func setChoice(to *bool, value, yes, no string) error {
	if value != yes && value != no {
		return fmt.Errorf("want %s or %s", yes, no)
	}
	*to = value == yes
	return nil
}

func setNumber(to *int, value string) error {
	n, err := strconv.Atoi(value)
	if err != nil {
		return errors.New("want a number")
	}
	*to = n
	return nil
}

func setPolicy(to **Replacement, value string, more Policies) error {
	var names []string
	for _, r := range slices.Concat(Replacements, more.Replacements) {
		if r.Name == value {
			*to = r
			return nil
		}
		names = append(names, r.Name)
	}
	return fmt.Errorf("unknown policy; want one of %s", strings.Join(names, ", "))
}

func setSize(to *int, value string) error {
	n, err := notation.ParseSize(value)
	if err != nil || n > maxBytes {
		return fmt.Errorf("want a number of bytes, or a size such as 512K or 2M, at most %s", sizeText(maxBytes))
	}
	*to = int(n)
	return nil
}

// Parse reads a machine: lines "name = value" with the parameters of Set, and "base = NAME" first, a machine of Specs that it changes.
// Text after # is a comment. Errors name the line. The name of the machine is name. more are
// further policies.
func Parse(name, text string, more Policies) (Spec, error) {
	var s Spec
	known, lines := false, map[string]int{}
	for i, line := range strings.Split(text, "\n") {
		line, _, _ = strings.Cut(line, "#")
		if strings.TrimSpace(line) == "" {
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		var err error
		switch {
		case !ok:
			err = errors.New("want NAME = VALUE")
		case key == "base":
			if s, ok = Find(value); !ok || known {
				err = fmt.Errorf("base must be the first parameter, and name one of %s", strings.Join(Names(), ", "))
			}
			known = true
		case !known:
			err = fmt.Errorf("the first parameter must be base, one of %s", strings.Join(Names(), ", "))
		case lines[key] > 0:
			err = fmt.Errorf("%s has a value in line %d", key, lines[key])
		default:
			lines[key] = i + 1
			err = s.Set(key, value, more)
		}
		if err != nil {
			return Spec{}, fmt.Errorf("%s:%d: %w", name, i+1, err)
		}
	}
	if !known {
		return Spec{}, fmt.Errorf("%s: no machine: the first line must be base = NAME, one of %s", name, strings.Join(Names(), ", "))
	}
	s.Name = name
	if err := s.Check(); err != nil {
		return Spec{}, fmt.Errorf("%s: %w", name, err)
	}
	return s, nil
}

// Load returns the machine of Specs with a name, or reads it from the file with that name (Parse).
func Load(name string, more Policies) (Spec, error) {
	if s, ok := Find(name); ok {
		return s, nil
	}
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		return Spec{}, fmt.Errorf("it is a directory; want one of %s, or a file", strings.Join(Names(), ", "))
	}
	text, err := os.ReadFile(name)
	if errors.Is(err, os.ErrNotExist) {
		return Spec{}, fmt.Errorf("no such machine or file; want one of %s, or a file", strings.Join(Names(), ", "))
	}
	if err != nil {
		return Spec{}, err
	}
	return Parse(name, string(text), more)
}

// Names returns the names of Specs.
func Names() (names []string) {
	for _, s := range Specs {
		names = append(names, s.Name)
	}
	return names
}

// String describes the machine.
func (s *Spec) String() string {
	l1 := s.L1.String()
	if len(s.Shared) > 0 {
		l1 += " less the shared memory"
	}
	text := fmt.Sprintf("%s: %d SMs of compute capability %d.%d, L1 %s, L2 %s", s.Name, s.SMs, s.SM/10, s.SM%10, l1, s.L2.String())
	if s.Dispatcher != nil {
		text += ", dispatcher " + s.Dispatcher.Name
	}
	return text
}

// String describes a cache.
func (l *Level) String() string {
	return fmt.Sprintf("%s in %d ways (%s, %s)", sizeText(l.Bytes), l.Ways, l.Policy.Name, l.Index)
}

// sizeText writes a size with a unit, if it is a whole number of units.
func sizeText(n int) string {
	switch {
	case n >= 1<<20 && n%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", n>>20)
	case n >= 1<<10 && n%(1<<10) == 0:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d bytes", n)
}
