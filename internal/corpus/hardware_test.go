package corpus

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gemu/interp"
	"gemu/interp/fuzz"
	"gemu/ptx"
)

// TestHardware compares what launches leave with what GPUs have: testdata/hw/*.jsonl.
func TestHardware(t *testing.T) {
	files, err := filepath.Glob("../../testdata/hw/*.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Skip("no GPU's results are recorded")
	}
	launches, err := Launches("../../testdata")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		compared, differences := Compare(text, launches)
		for _, d := range differences {
			t.Errorf("%s: %s", filepath.Base(file), d)
		}
		t.Logf("%s: %d launches of %d compared", filepath.Base(file), compared, len(launches))
	}
}

// TestCompare: nothing in a record goes unnoticed, and the device's generation decides.
func TestCompare(t *testing.T) {
	programs, err := Of("../../testdata", "insn/mma_half.ptx")
	if err != nil {
		t.Fatal(err)
	}
	list, err := launchesOf(programs)
	if err != nil || len(list) < 3 {
		t.Fatalf("%d launches, %v", len(list), err)
	}
	record := func(sm int) string {
		lines := fmt.Sprintf(`{"device": "this one", "sm": %d}`, sm)
		for _, l := range list {
			left, err := l.Run(sm, false)
			if err != nil {
				t.Fatal(err)
			}
			line, err := json.Marshal(left)
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
		compared, differences := Compare([]byte(test.text), list)
		if all := strings.Join(differences, "\n"); compared != test.compared || (all == "") != (test.want == "") || !strings.Contains(all, test.want) {
			t.Errorf("%d compared, want %d; %q, want %q", compared, test.compared, all, test.want)
		}
	}
}

// TestLaunches: a launch taken out of its program leaves what it leaves there.
func TestLaunches(t *testing.T) {
	programs, err := Of("../../testdata", "@saxpy")
	if err != nil {
		t.Fatal(err)
	}
	list, err := launchesOf(programs[:1])
	if err != nil || len(list) != 1 || list[0].Source == "" {
		t.Fatalf("%d launches, %v", len(list), err)
	}
	var buffers []*interp.Buffer
	programs[0].Run(func(l *interp.Launch) {
		for _, a := range l.Args {
			if b, ok := a.(*interp.Buffer); ok {
				buffers = append(buffers, b)
			}
		}
	})
	left, err := list[0].Run(0, false)
	if err != nil || len(left.Buffers) != len(buffers) {
		t.Fatalf("%d buffers, want %d: %v", len(left.Buffers), len(buffers), err)
	}
	changed := false
	for i, b := range buffers {
		if left.Buffers[i] != digest32(b.Bytes()) {
			t.Errorf("buffer %d is %s, and in the program %s", i, left.Buffers[i], digest32(b.Bytes()))
		}
		changed = changed || left.Buffers[i] != digest32(list[0].Buffers[i])
	}
	if !changed {
		t.Error("it changes nothing")
	}
}

// TestVary: variations have other operands, and all of them run.
func TestVary(t *testing.T) {
	programs, err := Of("../../testdata", "insn/mma_half.ptx")
	if err != nil {
		t.Fatal(err)
	}
	list, err := launchesOf(programs[:1])
	if err != nil {
		t.Fatal(err)
	}
	varied, err := Vary(list, 6)
	if err != nil || len(varied) != 6*len(list) {
		t.Fatalf("%d variations of %d launches: %v", len(varied), len(list), err)
	}
	lefts := map[string]bool{}
	for _, l := range varied {
		left, err := l.Run(90, false)
		if err != nil {
			t.Fatal(err)
		}
		lefts[left.Buffers[0]] = true
	}
	if len(lefts) != len(varied) {
		t.Errorf("%d variations leave %d results", len(varied), len(lefts))
	}
}

// TestRandom: a random program leaves what it is verified to leave.
func TestRandom(t *testing.T) {
	list, err := Random(2, 7, 90)
	if err != nil {
		t.Fatal(err)
	}
	g, err := fuzz.New(fuzz.Options{Version: ptx.Version{Major: 8}, SM: 90, Grid: 2, Block: interp.Dim(64), Length: 100, Features: must(fuzz.ParseFeatures("all"))})
	if err != nil {
		t.Fatal(err)
	}
	for i, l := range list {
		want, err := g.Program(7 + uint64(i)).Verify(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		left, err := l.Run(90, false)
		if err != nil || left.Buffers[1] != digest32(want) {
			t.Errorf("%s leaves %+v, want %s: %v", l.Name, left, digest32(want), err)
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
