package assist

import (
	"embed"
	"sync"

	"gemu/ptx"
)

//go:embed *.ptx
var files embed.FS

// Source is the text of a module of PTX.
type Source struct {
	Name string // name of its file, in messages
	Text []byte // the text itself
}

// Standard returns the modules with the routines of gemu, for BDI, FPC and C-Pack. The compressing routines write the
// same forms as package codec: bdi_compress as codec.EncodeBDI, all others as Codec.Encode.
func Standard() (list []Source) {
	for _, name := range []string{"bdi.ptx", "fpc.ptx", "cpack.ptx"} {
		list = append(list, embedded(name))
	}
	return list
}

// embedded returns the module of an embedded file.
func embedded(name string) Source {
	text, err := files.ReadFile(name)
	if err != nil {
		panic(err)
	}
	return Source{name, text}
}

// Stride returns the module with the routine stride_ahead, which reads ahead of loads with a constant stride.
func Stride() Source { return embedded("stride.ptx") }

// StandardRoutines returns the routines of Standard, in the order of the text. The caller must not change them. A sandbox has routines of its
// own.
var StandardRoutines = sync.OnceValue(func() (list []*Routine) {
	for _, source := range Standard() {
		m, err := ptx.Parse(source.Name, source.Text)
		if err != nil {
			panic(err) // the text is embedded
		}
		routines, err := Routines(m)
		if err != nil {
			panic(err)
		}
		list = append(list, routines...)
	}
	return list
})
