package machine

// ExportedReconvergences is the list of reconvergences of a warp that machine code holds.
type ExportedReconvergences struct {
	ByNumber []*Reconvergence // by native.Reconvergence.Number - 1
	Outer    *Reconvergence   // the innermost reconvergence that stayed in Go
}
