package machine

// ExportedReconvergences are the reconvergences of a warp that machine code has.
type ExportedReconvergences struct {
	ByNumber []*Reconvergence // by native.Reconvergence.Number - 1
	Outer    *Reconvergence   // the innermost reconvergence that stayed in Go
}
