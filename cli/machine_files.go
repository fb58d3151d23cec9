package cli

// This file writes the counts of "gemu machine" as CSV, the events for models of energy, and the address trace for simulators of DRAM.

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"strconv"
	"strings"

	"gemu/internal/input"
	"gemu/internal/wholefile"
	"gemu/machine"
	"gemu/machine/stream"
	"gemu/machine/timeline"
)

// machineFiles are the flags for files besides JSON.
type machineFiles struct {
	CSV            string     `name:"csv" help:"Write all counts of all machines as CSV to FILE (- for standard output, instead of the text), a line for each count." placeholder:"FILE"`
	Events         string     `help:"Write the events of each launch as CSV to FILE (- for standard output, instead of the text), for models of energy: reads and writes of L1, L2 and DRAM, hits and misses." placeholder:"FILE"`
	Timeline       string     `help:"Write a timeline of the first machine with a clock to FILE, for Perfetto or chrome://tracing: what each warp issues and waits for, CTAs, the L2 and the channels of memory." placeholder:"FILE"`
	TimelineCycles cycleRange `name:"timeline-cycles" help:"Limit --timeline to cycles A to B, counted from the start of its first launch." unset:"all cycles" placeholder:"A-B"`
	Addresses      string     `help:"Write the address trace of the first machine's DRAM to FILE (- for standard output, instead of the text), for simulators of DRAM: a line for each sector that the L2 reads (R) or writes (W), in order." placeholder:"FILE"`

	WriteDescriptors string `help:"Infer Locality Descriptors and atoms from the addresses, and write them to FILE (- for standard output, instead of the text). --with ldesc=FILE and --with xmem=FILE read it, also after changes by hand." placeholder:"FILE"`
}

func (f *machineFiles) outputs() outputs {
	return outputs{{"--csv", f.CSV}, {"--events", f.Events}, {"--timeline", f.Timeline}, {"--addresses", f.Addresses}, {"--write-descriptors", f.WriteDescriptors}}
}

// write writes the CSV files.
func (f *machineFiles) write(a *app, r *machineReport, machines []*machine.Machine) error {
	var errs []error
	if f.CSV != "" {
		errs = append(errs, writeOutput(a, f.CSV, r.csv()))
	}
	if f.Events != "" {
		errs = append(errs, writeOutput(a, f.Events, r.events(machines)))
	}
	return all(errs...)
}

// csvOf formats records as CSV.
func csvOf(records [][]string) []byte {
	var b bytes.Buffer
	csv.NewWriter(&b).WriteAll(records)
	return b.Bytes()
}

// csv returns all counts of all machines: a record for each count of the total, of a line, and of a buffer.
func (r *machineReport) csv() []byte {
	records := [][]string{{"machine", "part", "name", "count", "value"}}
	for i := range r.Machines {
		m := &r.Machines[i]
		add := func(part, name string, c *machine.Counts) {
			v := reflect.ValueOf(*c)
			for k := range v.NumField() {
				count, _, _ := strings.Cut(v.Type().Field(k).Tag.Get("json"), ",")
				records = append(records, []string{m.Name, part, name, count, strconv.FormatInt(v.Field(k).Int(), 10)})
			}
		}
		for _, x := range m.Refused {
			records = append(records, []string{m.Name, "refused", x.Part, "", x.Reason})
		}
		if m.refusal("total") != "" {
			continue
		}
		add("total", "", &m.Total)
		for k := range m.Lines {
			l := &m.Lines[k]
			add("line", fmt.Sprintf("%s:%d", l.File, l.Line), &l.Counts)
		}
		for k := range m.Buffers {
			b := &m.Buffers[k]
			name := b.Name
			if b.Bytes > 0 {
				name = fmt.Sprintf("%s at %#x", b.Name, b.Base)
			}
			add("buffer", name, &b.Counts)
		}
	}
	return csvOf(records)
}

// machineEvents are the events of a launch, in the words of models of energy: read hits (RH), read misses (RM), write hits (WH) and write
// misses (WM) of the caches; reads and writes of DRAM. The unit is a sector. Atomics are writes of the L2.
var machineEvents = []struct {
	name  string
	count func(c *machine.Counts) int64
}{
	{"L1_RH", func(c *machine.Counts) int64 { return c.L1Hits }},
	{"L1_RM", func(c *machine.Counts) int64 { return c.L1Misses - c.L1Bypasses }},
	{"L1_WH", func(c *machine.Counts) int64 { return c.L1StoreHits }},
	{"L1_WM", func(c *machine.Counts) int64 { return c.Stores - c.L1StoreHits }},
	{"L2_RH", func(c *machine.Counts) int64 { return c.L2Hits - c.L2WriteHits }},
	{"L2_RM", func(c *machine.Counts) int64 { return c.L2Misses - (c.Stores + c.Atomics - c.L2WriteHits) }},
	{"L2_WH", func(c *machine.Counts) int64 { return c.L2WriteHits }},
	{"L2_WM", func(c *machine.Counts) int64 { return c.Stores + c.Atomics - c.L2WriteHits }},
	{"DRAM_R", func(c *machine.Counts) int64 { return c.Reads }},
	{"DRAM_W", func(c *machine.Counts) int64 { return c.WriteBacks }},
}

// events returns the events of each reported launch on each machine as CSV.
func (r *machineReport) events(machines []*machine.Machine) []byte {
	head := []string{"machine", "launch", "kernel"}
	for _, e := range machineEvents {
		head = append(head, e.name)
	}
	records := [][]string{head}
	for i, m := range machines {
		for n, l := range m.Launches() {
			if r.Only > 0 && n != r.Only-1 {
				continue
			}
			record := []string{r.specs[i].Name, strconv.Itoa(n + 1), l.Kernel.Name}
			for _, e := range machineEvents {
				record = append(record, strconv.FormatInt(e.count(&l.Counts), 10))
			}
			records = append(records, record)
		}
	}
	return csvOf(records)
}

// addressTrace writes transfers as lines of an address and R or W, as Ramulator reads them.
type addressTrace struct {
	name string
	file *wholefile.File // nil: standard output
	w    *bufio.Writer
}

// openAddresses begins the file of --addresses; nil without the flag.
func (f *machineFiles) openAddresses(a *app, in *machineRun) (*addressTrace, error) {
	if f.Addresses == "" {
		return nil, nil
	}
	t := &addressTrace{name: f.Addresses}
	var to io.Writer = dataOf(a.stdout)
	if f.Addresses != "-" {
		file, err := wholefile.Create(a.ctx, f.Addresses)
		if err != nil {
			return nil, fmt.Errorf("--addresses: %w", input.FileError("write", f.Addresses, err))
		}
		t.file, to = file, file
	}
	t.w = bufio.NewWriter(to)
	reported := in.flags.Launch == 0
	in.onReported(func() { reported = true })
	in.machines[0].OnTransfer(func(x *machine.Transfer) {
		if !reported {
			return
		}
		kind := "R"
		if x.Write {
			kind = "W"
		}
		for s := range uint64(stream.LineBytes / stream.SectorBytes) {
			if x.Sectors>>s&1 != 0 {
				fmt.Fprintf(t.w, "%#x %s\n", x.Line*stream.LineBytes+s*stream.SectorBytes, kind)
			}
		}
	})
	return t, nil
}

// commit completes the file.
func (t *addressTrace) commit() error {
	if t == nil {
		return nil
	}
	err := t.w.Flush()
	if t.file != nil && err == nil {
		err = t.file.Commit()
	}
	if err != nil {
		return fmt.Errorf("--addresses: %w", input.FileError("write", t.name, err))
	}
	return nil
}

// discard removes an incomplete file.
func (t *addressTrace) discard() {
	if t != nil && t.file != nil {
		t.file.Discard()
	}
}

// cycleRange is a range of cycles, the value A-B of a flag; zero: all cycles.
type cycleRange struct{ from, to int64 }

// UnmarshalText parses a range.
func (c *cycleRange) UnmarshalText(text []byte) error {
	first, last, ok := strings.Cut(string(text), "-")
	from, err1 := strconv.ParseInt(first, 10, 64)
	to, err2 := strconv.ParseInt(last, 10, 64)
	if !ok || err1 != nil || err2 != nil || from < 0 || to <= from || to == math.MaxInt64 {
		return fmt.Errorf("%s: want A-B, cycles from 0 on with A below B, as in 1000-5000", text)
	}
	*c = cycleRange{from, to}
	return nil
}

// openTimeline returns the timeline of --timeline; nil without the flag.
func (f *machineFiles) openTimeline(in *machineRun) (*timeline.Timeline, error) {
	if f.Timeline == "" {
		if f.TimelineCycles != (cycleRange{}) {
			return nil, errors.New("--timeline-cycles needs --timeline FILE")
		}
		return nil, nil
	}
	var clock *machine.Clock
	if in.clocks != nil {
		clock = in.clocks[0][0]
	} else {
		var err error
		if clock, err = machine.NewClock(in.specs[0], in.flags.Regs); err != nil {
			return nil, err
		}
		in.feed(clock)
		in.instructions = true
	}
	return timeline.New(clock, timeline.Options{Launch: in.flags.Launch, From: f.TimelineCycles.from, To: f.TimelineCycles.to, Listing: in.flags.PTX}), nil
}

// writeTimeline writes the file of --timeline, and reports what it leaves out.
func (f *machineFiles) writeTimeline(a *app, t *timeline.Timeline) error {
	if err := t.Err(); err != nil {
		return fmt.Errorf("--timeline: %w", err)
	}
	if n := t.Cycles(); f.TimelineCycles.from >= n {
		return fmt.Errorf("--timeline-cycles %d-%d: the timeline has cycles 0 to %d", f.TimelineCycles.from, f.TimelineCycles.to, n-1)
	}
	if left := t.Omitted(); left != "" {
		if t.Shortened() {
			left += "; --timeline-cycles A-B has all spans of some cycles"
		}
		fmt.Fprintf(a.stderr, "gemu: --timeline: %s\n", left)
	}
	var b bytes.Buffer
	if err := t.Write(&b); err != nil {
		return err
	}
	return writeOutput(a, f.Timeline, b.Bytes())
}
