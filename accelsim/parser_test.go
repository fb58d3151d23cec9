package accelsim

// This file reads traces like gpu-simulator/trace-parser/trace_parser.cc of accel-sim-framework
// (parse_commandlist_file, parse_kernel_info, get_next_threadblock_traces, parse_from_string), and reports errors where
// that code asserts or silently misreads.

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// traced is a parsed trace of a kernel.
type traced struct {
	name                     string
	grid, block              [3]int
	shmem, nregs             int
	binary, tracer, lineinfo int
	sharedBase, localBase    uint64
	ctas                     map[[3]int][][]tracedInstr // by id, by warp
}

// tracedInstr is an instruction of a warp.
type tracedInstr struct {
	pc      uint64
	mask    uint32
	dests   []int
	opcode  string
	sources []int
	width   int
	mode    int
	addrs   [32]uint64
	imm     int64
}

// commands reads a kernelslist.g: copies, as address and bytes, and files of kernels.
func commands(dir string) (copies [][2]uint64, files []string, err error) {
	text, err := os.ReadFile(filepath.Join(dir, "kernelslist.g"))
	if err != nil {
		return nil, nil, err
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "MemcpyHtoD"):
			parts := strings.Split(line, ",")
			if len(parts) != 3 {
				return nil, nil, fmt.Errorf("%q", line)
			}
			addr, err1 := strconv.ParseUint(strings.TrimPrefix(parts[1], "0x"), 16, 64)
			count, err2 := strconv.ParseUint(parts[2], 10, 64)
			if err1 != nil || err2 != nil {
				return nil, nil, fmt.Errorf("%q", line)
			}
			copies = append(copies, [2]uint64{addr, count})
		case strings.HasPrefix(line, "kernel"):
			if !strings.HasSuffix(line, ".traceg") && !strings.HasSuffix(line, ".tracez") {
				return nil, nil, fmt.Errorf("%q: none of .traceg, .xz and .tracez", line)
			}
			files = append(files, line)
		default:
			return nil, nil, fmt.Errorf("%q", line)
		}
	}
	return copies, files, nil
}

// readKernel reads the file of a kernel.
func readKernel(file string) (*traced, error) {
	f, err := opened(file)
	if err != nil {
		return nil, err
	}
	r := bufio.NewReader(f)
	k := &traced{ctas: map[[3]int][][]tracedInstr{}}
	n := 0
	next := func() (line string, ok bool, err error) {
		line, err = r.ReadString('\n')
		n++
		if err == io.EOF && line == "" {
			return "", false, nil
		}
		if err != nil {
			return "", false, fmt.Errorf("line %d does not end", n)
		}
		return strings.TrimSuffix(line, "\n"), true, nil
	}
	seen := map[string]bool{}
	for { // the header, up to the line that begins with #
		line, ok, err := next()
		if err != nil || !ok {
			return nil, fmt.Errorf("no instruction stream: %v", err)
		}
		if strings.HasPrefix(line, "#") {
			break
		}
		if line == "" {
			continue
		}
		key, value, ok := strings.Cut(line, " = ")
		if !ok || !strings.HasPrefix(key, "-") {
			return nil, fmt.Errorf("line %d: %q", n, line)
		}
		seen[key] = true
		scan := func(format string, to ...any) {
			if c, err2 := fmt.Sscanf(value, format, to...); c != len(to) || err2 != nil {
				err = fmt.Errorf("line %d: %q", n, line)
			}
		}
		var id int
		switch key {
		case "-kernel name":
			k.name = value
		case "-kernel id":
			scan("%d", &id)
		case "-grid dim":
			scan("(%d,%d,%d)", &k.grid[0], &k.grid[1], &k.grid[2])
		case "-block dim":
			scan("(%d,%d,%d)", &k.block[0], &k.block[1], &k.block[2])
		case "-shmem":
			scan("%d", &k.shmem)
		case "-nregs":
			scan("%d", &k.nregs)
		case "-binary version":
			scan("%d", &k.binary)
		case "-cuda stream id":
			scan("%d", &id)
		case "-shmem base_addr":
			scan("0x%x", &k.sharedBase)
		case "-local mem base_addr":
			scan("0x%x", &k.localBase)
		case "-nvbit version":
		case "-accelsim tracer version":
			scan("%d", &k.tracer)
		case "-enable lineinfo":
			scan("%d", &k.lineinfo)
		default:
			err = fmt.Errorf("line %d: %q", n, line)
		}
		if err != nil {
			return nil, err
		}
	}
	for _, key := range []string{"-kernel name", "-kernel id", "-grid dim", "-block dim", "-shmem", "-nregs", "-binary version", "-cuda stream id", "-shmem base_addr", "-local mem base_addr", "-accelsim tracer version"} {
		if !seen[key] {
			return nil, fmt.Errorf("the header has no %s", key)
		}
	}
	var id [3]int
	var warps [][]tracedInstr
	inside, warp, want := false, -1, 0
	complete := func() error {
		if warp >= 0 && len(warps[warp]) != want {
			return fmt.Errorf("line %d: warp %d has %d instructions, said to be %d", n, warp, len(warps[warp]), want)
		}
		return nil
	}
	for {
		line, ok, err := next()
		if err != nil {
			return nil, err
		}
		if !ok {
			break
		}
		words := strings.Fields(line)
		switch {
		case line == "":
		case words[0] == "#BEGIN_TB" && !inside:
			inside, warp, id = true, -1, [3]int{-1, -1, -1}
			warps = make([][]tracedInstr, (k.block[0]*k.block[1]*k.block[2]+31)/32)
		case !inside:
			return nil, fmt.Errorf("line %d is of no thread block: %q", n, line)
		case words[0] == "#END_TB":
			if err := complete(); err != nil {
				return nil, err
			}
			if k.ctas[id] != nil {
				return nil, fmt.Errorf("line %d: thread block %v a second time", n, id)
			}
			inside, k.ctas[id] = false, warps
		case words[0] == "thread":
			if _, err := fmt.Sscanf(line, "thread block = %d,%d,%d", &id[0], &id[1], &id[2]); err != nil {
				return nil, fmt.Errorf("line %d: %q", n, line)
			}
		case words[0] == "warp":
			if err := complete(); err != nil {
				return nil, err
			}
			if _, err := fmt.Sscanf(line, "warp = %d", &warp); err != nil || warp >= len(warps) {
				return nil, fmt.Errorf("line %d: %q", n, line)
			}
		case words[0] == "insts":
			if _, err := fmt.Sscanf(line, "insts = %d", &want); err != nil {
				return nil, fmt.Errorf("line %d: %q", n, line)
			}
		default:
			in, err := readInstr(words)
			if err != nil {
				return nil, fmt.Errorf("line %d: %q: %w", n, line, err)
			}
			warps[warp] = append(warps[warp], *in)
		}
	}
	if inside {
		return nil, fmt.Errorf("a thread block does not end")
	}
	return k, nil
}

// readInstr parses the words of an instruction.
func readInstr(words []string) (in *tracedInstr, err error) {
	in = &tracedInstr{}
	position := 0
	word := func() string {
		if position++; position > len(words) {
			if err == nil {
				err = fmt.Errorf("it ends early")
			}
			return "0"
		}
		return words[position-1]
	}
	fail := func(e error) {
		if err == nil {
			err = e
		}
	}
	hex := func() uint64 {
		v, e := strconv.ParseUint(strings.TrimPrefix(word(), "0x"), 16, 64)
		if e != nil {
			fail(e)
		}
		return v
	}
	dec := func() int64 {
		v, e := strconv.ParseInt(word(), 10, 64)
		if e != nil {
			fail(e)
		}
		return v
	}
	regs := func(maximum int) (list []int) {
		n := int(dec())
		if n < 0 || n > maximum {
			fail(fmt.Errorf("%d registers, at most %d can be", n, maximum))
			return nil
		}
		for range n {
			name, ok := strings.CutPrefix(word(), "R")
			r, e := strconv.Atoi(name)
			if e != nil || !ok {
				fail(fmt.Errorf("register %q", name))
			}
			list = append(list, r)
		}
		return list
	}
	in.pc, in.mask = hex(), uint32(hex())
	in.dests = regs(1) // MAX_DST
	in.opcode = word()
	in.sources = regs(4) // MAX_SRC
	if strings.Contains(in.opcode, "GMMA") && dec() != 0 {
		fail(fmt.Errorf("a group of wgmma is closed"))
	}
	in.width = int(dec())
	if in.width > 0 && err == nil {
		in.mode = int(dec())
		switch in.mode {
		case 0: // all addresses
			for s := range 32 {
				if in.mask>>s&1 != 0 {
					in.addrs[s] = hex()
				}
			}
		case 1: // base and stride, up to the first gap
			addr, stride := hex(), dec()
			if stride != int64(int32(stride)) {
				fail(fmt.Errorf("a stride of more than 32 bits"))
			}
			first, gap := false, false
			for s := range 32 {
				switch {
				case in.mask>>s&1 != 0 && !first:
					first, in.addrs[s] = true, addr
				case in.mask>>s&1 != 0 && gap:
					fail(fmt.Errorf("a stride over a gap of lanes"))
				case in.mask>>s&1 != 0:
					addr += uint64(stride)
					in.addrs[s] = addr
				case first:
					gap = true
				}
			}
		case 2: // base and differences
			addr, first := hex(), false
			for s := range 32 {
				if in.mask>>s&1 == 0 {
					continue
				}
				if first {
					addr += uint64(dec())
				}
				first, in.addrs[s] = true, addr
			}
		default:
			fail(fmt.Errorf("address mode %d", in.mode))
		}
	}
	in.imm = dec()
	if position != len(words) {
		fail(fmt.Errorf("%d words more", len(words)-position))
	}
	return in, err
}
