package document

import (
	"cmp"
	"slices"
	"strings"

	"gemu/affinetrack"
	"gemu/profile"
	"gemu/ptx"
)

// KernelProfile is the profile of all launches of a kernel by line, with the functions that it calls. Failed launches count up to
// their fault.
type KernelProfile struct {
	Module   string         `json:"module"`   // name of the module in messages
	Kernel   string         `json:"kernel"`   // name of the kernel
	Launches int64          `json:"launches"` // number of launches, with failed ones
	Warps    int64          `json:"warps"`    // number of warps of the launches
	Total    profile.Counts `json:"total"`    // counts of all instructions
	Lines    []KernelLine   `json:"lines"`    // executed lines, by file and line
}

// KernelLine is an executed line of the source or of the PTX.
type KernelLine struct {
	ProfileLine
	Text string `json:"text,omitempty"` // text of a line of the PTX
}

// KernelProfiles returns the profile of each kernel. classes has the classes of results (ClassesOf). If inPTX is set, lines are those
// of the PTX, even if it names the lines of the source.
func KernelProfiles(p *profile.Profile, classes map[*ptx.Instr]affinetrack.ClassCounts, inPTX bool) (list []*KernelProfile) {
	for _, root := range p.Roots {
		m := root.Func.Module()
		k := &KernelProfile{Module: m.Name, Kernel: root.Func.Name, Warps: root.Calls, Total: root.Total(), Lines: []KernelLine{}}
		for _, l := range p.Launches {
			if l.Kernel == root.Func {
				k.Launches += int64(l.Count)
			}
		}
		own := profile.Profile{Roots: []*profile.Node{root}}
		for _, l := range own.Lines(inPTX) {
			if l.Execs == 0 {
				continue
			}
			c := LineClasses(l, classes)
			line := KernelLine{ProfileLine: ProfileLine{l.File, l.Line, l.Counts, c.Uniform, c.Affine, c.Generic}}
			if l.File == m.Name {
				line.Text = strings.Join(strings.Fields(m.Line(l.Line)), " ")
			}
			k.Lines = append(k.Lines, line)
		}
		list = AddKernelProfiles(list, k)
	}
	return list
}

// AddKernelProfiles adds profiles to a list, and returns the list. Profiles of the same kernel are summed up line by line; the
// profiles of more are not changed.
func AddKernelProfiles(list []*KernelProfile, more ...*KernelProfile) []*KernelProfile {
	for _, o := range more {
		i := slices.IndexFunc(list, func(k *KernelProfile) bool { return k.Module == o.Module && k.Kernel == o.Kernel })
		if i < 0 {
			i = len(list)
			list = append(list, &KernelProfile{Module: o.Module, Kernel: o.Kernel, Lines: []KernelLine{}})
		}
		list[i].add(o)
	}
	return list
}

// SumOfKernels returns the sum of the profiles of all kernels.
func SumOfKernels(list []*KernelProfile) *KernelProfile {
	sum := new(KernelProfile)
	for _, k := range list {
		sum.add(k)
	}
	return sum
}

// add adds the counts of another profile, line by line.
func (k *KernelProfile) add(o *KernelProfile) {
	k.Launches += o.Launches
	k.Warps += o.Warps
	k.Total.Add(&o.Total)
	for i := range o.Lines {
		l := &o.Lines[i]
		at, found := slices.BinarySearchFunc(k.Lines, l, func(a KernelLine, b *KernelLine) int {
			return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Text, b.Text))
		})
		if !found {
			k.Lines = slices.Insert(k.Lines, at, *l)
			continue
		}
		k.Lines[at].Counts.Add(&l.Counts)
		k.Lines[at].U += l.U
		k.Lines[at].A += l.A
		k.Lines[at].G += l.G
	}
}
