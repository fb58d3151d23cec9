package kernels

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gemu/interp"
)

// TestMeasuredWorkloads runs the workloads of Measured at small sizes, the smallest in check mode, and their versions, and compares the
// results with the references.
func TestMeasuredWorkloads(t *testing.T) {
	var used []string
	for _, w := range Measured() {
		folder, _, _ := strings.Cut(w.Name, "/")
		if strings.Contains(w.source, "/") {
			used = append(used, w.source)
		}
		if w.Doc == "" || w.Origin == "" || w.SizeDoc == "" || w.N < 1 || w.Max < w.N || !slices.Contains([]string{"caba", "gv100", "thesis"}, folder) || Studies[w.Papers[0]] == "" || Lookup(w.Name) != w || slices.Contains(All(), w) {
			t.Errorf("%+v", w)
		}
		if first, _, _ := strings.Cut(w.PTX(), "\n"); !strings.HasPrefix(first, "// clang-19 ") || !strings.HasSuffix(first, " "+w.source+".cu -o "+w.source+".ptx") {
			t.Errorf("%s begins %q, want its command", w.Name, first)
		}
		t.Run(w.Name, func(t *testing.T) {
			t.Parallel()
			sizes, most := []int{1, 33, 1100}, max(2, 1+w.N/16) // with 1100 records, mars_step sorts in both directions
			if strings.HasPrefix(w.Name, "thesis/tiled") {
				sizes, most = []int{100}, w.Max // each size computes the whole matrix; the last tile has 56 rows
			}
			for i := range sizes {
				sizes[i] = min(sizes[i], most)
			}
			for i, n := range slices.Compact(sizes) {
				s := start(t, w.Name, interp.Config{}, n)
				if i > 0 {
					s.Prepare = func(l *interp.Launch) { l.Mode = interp.Vector }
				}
				if err := w.Run(s); err != nil || s.Summary == "" {
					t.Errorf("n = %d: %v, summary %q", n, err, s.Summary)
				}
			}
			for _, v := range w.Versions() {
				s := start(t, v.Name, interp.Config{}, min(33, most))
				if err := v.Run(s); err != nil || v.Block == w.Block || s.Block != v.Block {
					t.Errorf("%s, blocks of %d: %v", v.Name, s.Block, err)
				}
			}
		})
	}
	var files []string
	for _, suffix := range []string{".cu", ".ptx"} {
		files = files[:0]
		for _, folder := range []string{"caba", "gv100", "thesis"} {
			list, err := filepath.Glob("cuda/" + folder + "/*" + suffix)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range list {
				files = append(files, folder+"/"+strings.TrimSuffix(filepath.Base(f), suffix))
			}
		}
		if diff := cmp.Diff(used, files); diff != "" {
			t.Errorf("sources of workloads and files *%s (-workload +file):\n%s", suffix, diff)
		}
	}
}
