package corpus

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gemu/interp"
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
	launches, _, err := Launches("../../testdata")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		compared, differences := compareRecord(text, launches)
		for _, d := range differences {
			t.Errorf("%s: %s", filepath.Base(file), d)
		}
		t.Logf("%s: %d launches of %d compared", filepath.Base(file), compared, len(launches))
	}
}

// compareRecord compares launches with the lines that a GPU has left of them, and says where
// they differ. A line of a launch that there is not is a difference: it is to be recorded again.
// So is a failure, unless the driver did not load the module, which may be for another GPU.
func compareRecord(text []byte, launches []*Launch) (compared int, differences []string) {
	byID := map[string]*Launch{}
	for _, l := range launches {
		byID[l.ID] = l
	}
	differs := func(format string, args ...any) { differences = append(differences, fmt.Sprintf(format, args...)) }
	lines := json.NewDecoder(bytes.NewReader(text))
	var device struct{ SM int }
	if err := lines.Decode(&device); err != nil || device.SM == 0 {
		differs("the first line names no device of a generation: %v", err)
		return 0, differences
	}
	for lines.More() {
		var want Left
		if err := lines.Decode(&want); err != nil {
			differs("after %d launches: %v", compared, err)
			break
		}
		l := byID[want.ID]
		switch {
		case l == nil:
			differs("%s: there is no such launch any more", want.Name)
			continue
		case strings.HasPrefix(want.Error, "cuModuleLoadData"):
			continue
		case want.Error != "":
			differs("%s: the GPU failed: %s", want.Name, want.Error)
			continue
		}
		got, err := l.Run(device.SM)
		if err != nil || !slices.Equal(got.Buffers, want.Buffers) {
			differs("%s: got %+v, want %v, %v", want.Name, got, want.Buffers, err)
		}
		compared++
	}
	if compared == 0 {
		differs("nothing is compared")
	}
	return compared, differences
}

// TestCompareRecord: nothing in a record goes unnoticed, and the device's generation decides.
func TestCompareRecord(t *testing.T) {
	programs, err := Of("../../testdata", "insn/mma_half.ptx")
	if err != nil {
		t.Fatal(err)
	}
	list, _, err := launchesOf(programs)
	if err != nil || len(list) < 3 {
		t.Fatalf("%d launches, %v", len(list), err)
	}
	record := func(sm int) string {
		lines := fmt.Sprintf(`{"device": "this one", "sm": %d}`, sm)
		for _, l := range list {
			left, err := l.Run(sm)
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
		compared, differences := compareRecord([]byte(test.text), list)
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
	list, sources, err := launchesOf(programs[:1])
	if err != nil || len(list) != 1 || sources["@saxpy"] == "" {
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
	left, err := list[0].Run(0)
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
