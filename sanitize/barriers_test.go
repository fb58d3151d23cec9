package sanitize

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gemu/internal/corpus"
	"gemu/internal/part"
	"gemu/interp"
	"gemu/kernels"
	"gemu/probe"
	"gemu/sanitize/finding"
	"gemu/sanitize/race"
)

// watched returns the findings of the race detector in a program.
func watched(p *corpus.Program) ([]finding.Finding, *corpus.Outcome) {
	var log finding.Log
	observer := race.New(&log, 0)
	o := p.Run(func(l *interp.Launch) { l.Mode, l.Probes = interp.Vector, []probe.Probe{observer} })
	return log.Findings(), o
}

// compiledRaces explains the races in correct kernels of compilers, by file and line.
var compiledRaces = map[string]string{
	"corpus/triton_layernorm_90.ptx:110": "all lanes write the sum that they have got by exchanges in a butterfly, one step of it by fma: their last bits differ",
}

// TestCompiledKernelsHaveNoRaces checks that correct kernels of compilers have no other races. Same-value writes by
// several lanes are usual there.
func TestCompiledKernelsHaveNoRaces(t *testing.T) {
	part.SkipShort(t)
	paths, _ := filepath.Glob("../testdata/corpus/*.ptx")
	if len(paths) == 0 {
		t.Fatal("no files")
	}
	explained := 0
	for _, path := range paths {
		file := "corpus/" + filepath.Base(path)
		programs, err := corpus.ProgramsOf("../testdata", file)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range programs {
			list, o := watched(p)
			if o.Err != nil || o.WrongResult != nil {
				t.Errorf("%s: %v %v", p, o.Err, o.WrongResult)
			}
			for _, f := range list {
				if f.Severity != finding.Error {
					continue
				}
				if compiledRaces[fmt.Sprintf("%s:%d", file, f.Place.Line)] != "" {
					explained++
					continue
				}
				var b bytes.Buffer
				finding.Print(&b, []finding.Finding{f}, nil, 0)
				t.Errorf("%s:\n%s", p, b.String())
			}
		}
	}
	if explained != len(compiledRaces) {
		t.Errorf("%d of the races were found that are known, want %d", explained, len(compiledRaces))
	}
}

var (
	barrier = regexp.MustCompile(`(?m)^.*\b(bar\.sync|bar\.warp\.sync|barrier\.sync|barrier\.cluster\.wait)\b[^;\n]*;`)
	entry   = regexp.MustCompile(`\.entry\s+([\w$]+)`)
)

// without calls do for each barrier of a module: with the source without this barrier, its line and its kernel.
func without(src string, do func(line int, kernel, src string)) {
	for _, at := range barrier.FindAllStringIndex(src, -1) {
		kernel := ""
		if all := entry.FindAllStringSubmatch(src[:at[0]], -1); len(all) > 0 {
			kernel = all[len(all)-1][1]
		}
		do(1+strings.Count(src[:at[0]], "\n"), kernel, src[:at[0]]+src[at[1]:])
	}
}

// needless lists the barriers whose absence the detector does not notice, by file and line, with the reason.
var needless = map[string]string{}

func init() {
	for reason, list := range map[string][]string{
		"another barrier comes before anything is accessed that it could order": {
			"lps:127", "lps:135", "radixsort:678", "corpus/nvrtc_52.ptx:215", "corpus/nvrtc_90.ptx:215", "corpus/nvrtc_G_80.ptx:485",
			"corpus/clang_O0_50.ptx:1206", "corpus/triton_matmul_tf32_80.ptx:742",
			"corpus/triton_transpose_90.ptx:174", "corpus/triton_transpose_90.ptx:179",
			"corpus/triton_matmul_warps_100.ptx:655", "corpus/triton_matmul_warps_100.ptx:665", "corpus/triton_matmul_warps_100.ptx:666",
			"corpus/cutlass_mma_80.ptx:602", "corpus/cutlass_mma_80.ptx:664",
		},
		"nothing comes behind it that accesses what was accessed before": {
			"corpus/clang_O0_50.ptx:213", "corpus/clang_O1_70.ptx:112", "corpus/clang_O3_80.ptx:136", "corpus/clang_g_86.ptx:154",
			"corpus/triton_histogram_80.ptx:49", "corpus/triton_histogram_80.ptx:59", "corpus/triton_transpose_90.ptx:251",
			"corpus/triton_matmul_warps_100.ptx:399", "corpus/triton_scaled_mxfp8_100.ptx:1954", "corpus/triton_scaled_nvfp4_100.ptx:1320",
		},
		"it orders what tensormap.replace and tensormap.cp_fenceproxy access, which is not told": {
			"corpus/triton_transpose_90.ptx:53", "corpus/triton_transpose_90.ptx:96", "corpus/triton_transpose_90.ptx:106",
			"corpus/triton_transpose_90.ptx:110", "corpus/triton_transpose_90.ptx:154", "corpus/triton_transpose_90.ptx:163",
			"corpus/triton_matmul_warps_100.ptx:78", "corpus/triton_matmul_warps_100.ptx:122", "corpus/triton_matmul_warps_100.ptx:132",
			"corpus/triton_matmul_warps_100.ptx:138", "corpus/triton_matmul_warps_100.ptx:181", "corpus/triton_matmul_warps_100.ptx:190",
			"corpus/triton_matmul_warps_100.ptx:197", "corpus/triton_matmul_warps_100.ptx:240", "corpus/triton_matmul_warps_100.ptx:249",
		},
		"wgmma.wait_group has waited for what all warps of the warpgroup read, and the CTA is one": {
			"corpus/triton_attention_90.ptx:512", "corpus/triton_attention_90.ptx:715", "corpus/triton_attention_90.ptx:941",
			"corpus/triton_matmul_e4m3_90.ptx:355", "corpus/triton_matmul_e4m3_90.ptx:655",
			"corpus/triton_matmul_f16_90.ptx:344", "corpus/triton_matmul_f16_90.ptx:627", "corpus/triton_matmul_tf32_90.ptx:814",
		},
		"all wait behind it for the mbarrier that says that the multiplication is over": {
			"corpus/triton_attention_100.ptx:461", "corpus/triton_attention_100.ptx:958", "corpus/triton_attention_100.ptx:1279",
			"corpus/triton_matmul_e4m3_100.ptx:652", "corpus/triton_matmul_e4m3_100.ptx:843", "corpus/triton_matmul_f16_100.ptx:652",
			"corpus/triton_matmul_f16_100.ptx:846", "corpus/triton_matmul_tf32_100.ptx:878", "corpus/triton_matmul_tf32_100.ptx:1167",
			"corpus/triton_scaled_mxfp8_100.ptx:740", "corpus/triton_scaled_nvfp4_100.ptx:551",
		},
		"it orders what tcgen05 instructions do to tensor memory, which is not followed": {
			"corpus/triton_attention_100.ptx:718", "corpus/triton_attention_100.ptx:724", "corpus/triton_attention_100.ptx:1234",
			"corpus/triton_attention_100.ptx:1243", "corpus/triton_matmul_warps_100.ptx:344", "corpus/triton_scaled_mxfp8_100.ptx:2019",
			"corpus/triton_scaled_nvfp4_100.ptx:1428",
		},
		"lanes converge there for the instructions behind it, and it orders no accesses": {"gemm_tcgen05:272"},
		"tensor memory is given back behind it, and nothing else comes": {
			"gemm_tcgen05:299",
			"corpus/triton_attention_100.ptx:1556", "corpus/triton_matmul_e4m3_100.ptx:1152", "corpus/triton_matmul_f16_100.ptx:1154",
			"corpus/triton_matmul_tf32_100.ptx:1474", "corpus/triton_matmul_warps_100.ptx:442", "corpus/triton_matmul_warps_100.ptx:669",
			"corpus/triton_scaled_mxfp8_100.ptx:2507", "corpus/triton_scaled_nvfp4_100.ptx:1907",
		},
		"there is one before and one behind a proxy fence, and that matrix operations need the fence between is not told": {
			"corpus/triton_matmul_tf32_100.ptx:536", "corpus/triton_matmul_tf32_100.ptx:539", "corpus/triton_matmul_tf32_100.ptx:1099",
			"corpus/triton_matmul_tf32_100.ptx:1104",
		},
		"one thread goes on behind it, which has itself waited for the mbarrier": {
			"corpus/triton_matmul_warps_100.ptx:489", "corpus/triton_matmul_warps_100.ptx:554", "corpus/triton_matmul_warps_100.ptx:628",
			"corpus/triton_matmul_warps_100.ptx:633", "corpus/triton_matmul_warps_100.ptx:639",
		},
	} {
		for _, at := range list {
			needless[at] = reason
		}
	}
}

// mutant is a program without one of its barriers.
type mutant struct {
	place string // "FILE:LINE" of the barrier
	run   func() ([]finding.Finding, error)
}

// mutants returns the programs of the workload library and of compilers, each without one of its barriers.
func mutants(t *testing.T) (list []mutant) {
	for _, w := range kernels.All() {
		without(w.PTX(), func(line int, _, src string) {
			list = append(list, mutant{fmt.Sprintf("%s:%d", w.Name, line), func() ([]finding.Finding, error) {
				var log finding.Log
				dev := interp.NewDevice(interp.Config{Workers: 1, Probes: []probe.Probe{race.New(&log, 0)}})
				m, err := dev.Load(w.Name+".ptx", []byte(src))
				if err != nil {
					t.Fatal(err)
				}
				s := &kernels.Session{Context: context.Background(), Module: m, N: w.N, Block: w.Block, Prepare: func(l *interp.Launch) { l.Mode, l.MaxSteps = interp.Vector, 1<<22 }}
				w.Run(s) // the result may be wrong
				return log.Findings(), nil
			}})
		})
	}
	paths, _ := filepath.Glob("../testdata/corpus/*.ptx")
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		file := "corpus/" + filepath.Base(path)
		without(string(b), func(line int, kernel, src string) {
			list = append(list, mutant{fmt.Sprintf("%s:%d", file, line), func() (found []finding.Finding, err error) {
				dir := t.TempDir()
				os.Mkdir(filepath.Join(dir, "corpus"), 0o777)
				if err := os.WriteFile(filepath.Join(dir, file), []byte(src), 0o666); err != nil {
					t.Fatal(err)
				}
				programs, err := corpus.ProgramsOf(dir, file)
				if err != nil {
					t.Fatal(err)
				}
				for _, p := range programs {
					if p.Name == kernel {
						list, o := watched(p)
						found, err = append(found, list...), o.Err
					}
				}
				return found, err
			}})
		})
	}
	return list
}

// TestRemovedBarrierIsFound removes the barriers of kernels one at a time. Each time there must be a race, a trap, or
// a known reason.
func TestRemovedBarrierIsFound(t *testing.T) {
	part.SkipShort(t)
	list := mutants(t)
	random := rand.New(rand.NewPCG(part.Seed(t), 0))
	random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	missed := 0
	tried := list[:min(len(list), part.Count(5, 12, len(list)))]
	for _, m := range tried {
		found, err := m.run()
		races := 0
		for i := range found {
			if f := &found[i]; f.Severity == finding.Error && compiledRaces[fmt.Sprintf("corpus/%s:%d", f.Place.File, f.Place.Line)] == "" {
				races++
			}
		}
		switch known := needless[m.place] != ""; {
		case races == 0 && err == nil && !known:
			t.Errorf("nothing is found without the barrier of %s", m.place)
		case (races > 0 || err != nil) && known:
			t.Errorf("the barrier of %s is missed, which is said to be of no need: %s", m.place, needless[m.place])
		case !known:
			missed++
		}
	}
	t.Logf("%d of %d are missed, of %d", missed, len(tried), len(list))
}
