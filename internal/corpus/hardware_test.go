package corpus

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gemu/internal/part"
	"gemu/interp"
)

// TestResultsOfGPUs compares results with those of GPUs, testdata/hw/*.jsonl: of a third of the launches, or with GEMU_TEST=all of
// all.
func TestResultsOfGPUs(t *testing.T) {
	part.SkipLong(t)
	files, err := filepath.Glob("../../testdata/hw/*.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatal("no GPU's results are recorded")
	}
	launches, err := Launches("../../testdata")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("../../testdata/hw/known.txt")
	if err != nil {
		t.Fatal(err)
	}
	known, err := ReadKnown(string(text))
	if err != nil {
		t.Fatal(err)
	}
	all, failed := 0, 0
	isTried := part.Share(t, 3, 3, 1)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		lines := slices.Collect(bytes.Lines(text))
		tried := [][]byte{lines[0]} // the device
		for i, line := range lines[1:] {
			if isTried(i) {
				tried = append(tried, line)
			}
		}
		text = bytes.Join(tried, nil)
		compared, differences := Compare(text, launches, known, false)
		for _, d := range differences {
			t.Errorf("%s: %s", filepath.Base(file), d)
		}
		t.Logf("%s: %d launches of %d compared", filepath.Base(file), compared, len(launches))
		all += compared
		failed += bytes.Count(text, []byte(`"error": "`))
	}
	n := 0
	for _, k := range known {
		if n += k.Matched; k.Matched > k.Launches || k.Matched < k.Launches && part.TryAll() {
			t.Errorf("known.txt: %d launches differ that are %s, want %d", k.Matched, k.Name, k.Launches)
		}
	}
	t.Logf("%d are the same; %d differ and %d have failed there, which is known", all-(n-failed), n-failed, failed)
}

// launchesOf lists the launches of the programs of a file, of which there are at least three.
func launchesOf(t *testing.T, file string) []*Launch {
	programs, err := ProgramsOf("../../testdata", file)
	if err != nil {
		t.Fatal(err)
	}
	list, err := RecordLaunches(programs)
	if err != nil || len(list) < 3 {
		t.Fatalf("%d launches, %v", len(list), err)
	}
	return list
}

// TestCompareRecords: every change of a record is noticed, and the device's generation is used.
func TestCompareRecords(t *testing.T) {
	list := launchesOf(t, "insn/mma_half.ptx")
	record := func(sm int) string {
		lines := fmt.Sprintf(`{"device": "this one", "sm": %d}`, sm)
		for _, l := range list {
			result, err := l.Run(sm, false)
			if err != nil {
				t.Fatal(err)
			}
			line, err := json.Marshal(result)
			if err != nil {
				t.Fatal(err)
			}
			lines += "\n" + string(line)
		}
		return lines
	}
	own := record(86)
	first, rest, _ := strings.Cut(own, "\n")
	for _, test := range []struct {
		text, want string
		compared   int
	}{
		{own, "", len(list)},
		{record(70), "", len(list)},
		{`{"sm": 70}` + "\n" + rest, "got", len(list)}, // tensor cores of 7.0 add otherwise
		{rest, "no device", 0},
		{first, "nothing is compared", 0},
		{own[:len(own)-10], "after", len(list) - 1},
		{strings.Replace(own, `"buffers":["`, `"buffers":["0`, 1), "got", len(list)},
		{strings.Replace(own, list[1].ID, "0", 1), list[1].Name + ": there is no such launch", len(list) - 1},
		{own + "\n" + fmt.Sprintf(`{"id": %q, "error": "cuCtxSynchronize: CUDA_ERROR_ILLEGAL_ADDRESS"}`, list[0].ID), "the GPU failed", len(list)},
		{own + "\n" + fmt.Sprintf(`{"id": %q, "error": "cuModuleLoadData: CUDA_ERROR_INVALID_PTX"}`, list[0].ID), "", len(list)},
	} {
		compared, differences := Compare([]byte(test.text), list, nil, false)
		if all := strings.Join(differences, "\n"); compared != test.compared || (all == "") != (test.want == "") || !strings.Contains(all, test.want) {
			t.Errorf("%d compared, want %d; %q, want %q", compared, test.compared, all, test.want)
		}
	}
	if _, differences := Compare([]byte(own), list, nil, true); len(differences) > 0 {
		t.Errorf("of all: %q", differences)
	}
	without := strings.Join(slices.Delete(strings.Split(own, "\n"), 2, 3), "\n")
	if _, differences := Compare([]byte(without), list, nil, true); len(differences) != 1 || !strings.Contains(differences[0], list[1].Name+": there is no line") {
		t.Errorf("without a line: %q", differences)
	}
}

// TestLaunchID: the ID of a launch depends on its kernel, functions and variables, and not on comments and other
// kernels.
func TestLaunchID(t *testing.T) {
	const source = ".version 8.0\n.target sm_90\n.func f() { ret; }\n.global .u32 v[2] = {1, 2};\n.visible .entry k(.param .u64 p)\n{\n\t{ call f, (); }\n\tret;\n}\n// run: k()\n.entry other() { { ret; } }\n.entry k2() { exit; }\n"
	id := func(source, kernel string) string {
		l := &Launch{Source: source, Kernel: kernel}
		if err := l.Identify(); err != nil {
			t.Fatal(err)
		}
		return l.ID
	}
	for _, test := range []struct {
		old, new string
		same     bool
	}{
		{"// run: k()", "// run: k(1)\n\n/* and\nmore */", true},
		{"\tret;\n}", "\tret; // out\n}", true},
		{"{ { ret; } }", "{ exit; }", true},
		{".entry k2() { exit; }\n", "", true},
		{".entry other", ".visible .entry more() { ret; }\n.entry other", true},
		{"\tret;\n}", "\texit;\n}", false},
		{"{ ret; }\n.global", "{ exit; }\n.global", false},
		{"{1, 2}", "{1, 3}", false},
		{"sm_90", "sm_80", false},
	} {
		if got := id(strings.Replace(source, test.old, test.new, 1), "k"); (got == id(source, "k")) != test.same {
			t.Errorf("with %q for %q the launch is the same: %v", test.new, test.old, !test.same)
		}
	}
	if id(source, "k") == id(source, "k2") {
		t.Error("launches of two kernels are the same")
	}
}

// TestKnownDifferences: a known difference is counted and not reported; a launch that fails here is reported anyway.
func TestKnownDifferences(t *testing.T) {
	list := launchesOf(t, "insn/mma_half.ptx")[:1]
	l := list[0]
	broken := *l
	broken.Kernel = "none"
	const device = `{"sm": 90}` + "\n"
	differs := device + fmt.Sprintf(`{"id": %q, "name": %q, "buffers": ["0"]}`, l.ID, l.Name)
	fails := device + fmt.Sprintf(`{"id": %q, "name": %q, "error": "cuCtxSynchronize: CUDA_ERROR_ILLEGAL_ADDRESS"}`, l.ID, l.Name)
	for _, test := range []struct {
		text     string
		launch   *Launch
		known    string
		n, wrong int
	}{
		{differs, l, "1 ^insn/mma  why", 1, 0},
		{differs, l, "1 ^insn/wmma  why", 0, 1},
		{differs, &broken, "1 ^insn/mma  why", 0, 1},
		{fails, l, "# a comment\n\n1 ^insn/mma  why", 1, 1}, // and nothing is compared
		{fails, l, "1 ^insn/wmma  why", 0, 2},
	} {
		known, err := ReadKnown(test.known)
		if err != nil {
			t.Fatal(err)
		}
		_, differences := Compare([]byte(test.text), []*Launch{test.launch}, known, false)
		if known[0].Matched != test.n || len(differences) != test.wrong {
			t.Errorf("%s with %q: %d are known, want %d; %q, want %d", test.text, test.known, known[0].Matched, test.n, differences, test.wrong)
		}
	}
	for text, want := range map[string]string{"1 ^insn": "line 1: a known difference has a number", "1 ^insn  ": "line 1: a known difference has a number", "\nx ^insn  why": "line 2", "1 ^insn(  why": "line 1: error parsing"} {
		if _, err := ReadKnown(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// TestLaunchesRoundTrip: a launch that is extracted from its program, written and read, gives the same results. One has
// tensor maps, and one has variables that the host has written.
func TestLaunchesRoundTrip(t *testing.T) {
	for _, file := range []string{"@saxpy", "@cfd", "insn/tensor_load.ptx", "insn/tensor_store.ptx", "insn/tensor_im2col.ptx"} {
		programs, err := ProgramsOf("../../testdata", file)
		if err != nil {
			t.Fatal(err)
		}
		programs = slices.DeleteFunc(programs, func(p *Program) bool { return p.Width != 32 })
		tensors, vars, changed := 0, 0, 0
		for _, p := range programs[:min(12, len(programs))] {
			list, err := RecordLaunches([]*Program{p})
			if err != nil {
				t.Fatal(err)
			}
			if len(list) == 0 {
				continue // it traps
			}
			list = list[:1]
			var text bytes.Buffer
			if err := WriteLaunches(&text, list); err != nil {
				t.Fatal(err)
			}
			read, err := ReadLaunches(&text)
			if err != nil || !reflect.DeepEqual(read, list) {
				t.Fatalf("%v: read %+v, want %+v, %v", p, read, list, err)
			}
			result, err := read[0].Run(p.SM, false)
			if err != nil {
				t.Errorf("%v: %v", p, err)
				continue
			}
			want := resultsOf(p)
			for i, b := range result.Buffers[:min(len(want), len(result.Buffers))] {
				if !slices.Contains(want, b) {
					t.Errorf("%v: buffer %d is %s, and in the program %v", p, i, b, want)
				}
				if b != digest64(list[0].Buffers[i]) {
					changed++
				}
			}
			vars += len(list[0].Vars)
			for _, a := range list[0].Args {
				if a.Tensor != nil {
					tensors++
				}
			}
		}
		if changed == 0 {
			t.Errorf("%s changes nothing", file)
		}
		if (tensors > 0) != strings.Contains(file, "tensor") || (vars > 0) != (file == "@cfd") {
			t.Errorf("%s has %d tensor maps and %d variables", file, tensors, vars)
		}
	}
}

// resultsOf returns the results of the first launch of a program in its buffers.
func resultsOf(p *Program) (list []string) {
	launches := 0
	var buffers []*interp.Buffer
	read := func() {
		for _, b := range buffers {
			list = append(list, digest64(b.Bytes()))
		}
	}
	p.Run(func(l *interp.Launch) {
		if launches++; launches == 2 {
			read()
		}
		for _, a := range l.Args {
			if b, ok := a.(*interp.Buffer); ok && launches == 1 {
				buffers = append(buffers, b)
			}
		}
	})
	if launches == 1 {
		read()
	}
	return list
}

// TestMalformedLaunches: errors in the input are reported.
func TestMalformedLaunches(t *testing.T) {
	for text, want := range map[string]string{
		`{"source":`:                "unexpected EOF",
		`{"name":"x","module":"m"}`: "x: there is no source of \"m\"",
	} {
		if _, err := ReadLaunches(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	const source = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p) { ret; }"
	for _, test := range []struct {
		launch Launch
		want   string
	}{
		{Launch{Args: []Arg{{Buffer: 1}}, Buffers: [][]byte{{0}}}, "of buffer 1 of 1"},
		{Launch{Args: []Arg{{Buffer: -1, Tensor: &Tensor{}}}}, "of buffer -1 of 0"},
		{Launch{Args: []Arg{{Buffer: 0, Tensor: &Tensor{}}}, Buffers: [][]byte{{0}}}, "a tensor of 0 dimensions"},
		{Launch{Vars: map[string][]byte{"v": {0}}}, "no variable v of 1 bytes"},
	} {
		l := test.launch
		l.Module, l.Kernel, l.Source, l.Grid, l.Block = "m", "k", source, [3]int{1, 1, 1}, [3]int{1, 1, 1}
		if _, err := l.Run(90, false); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: %v, want %s", test.launch, err, test.want)
		}
	}
}

// TestVariedOperands: variations have different operands, and all of them run.
func TestVariedOperands(t *testing.T) {
	list := launchesOf(t, "insn/mma_half.ptx")[:1]
	varied, err := VaryLaunches(list, 6)
	if err != nil || len(varied) != 6*len(list) {
		t.Fatalf("%d variations of %d launches: %v", len(varied), len(list), err)
	}
	lefts := map[string]bool{}
	for _, l := range varied {
		result, err := l.Run(90, false)
		if err != nil {
			t.Fatal(err)
		}
		lefts[result.Buffers[0]] = true
	}
	if len(lefts) != len(varied) {
		t.Errorf("%d variations leave %d results", len(varied), len(lefts))
	}
}
