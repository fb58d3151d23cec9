package machine

// ExportedReconvergences is the list of a warp's reconvergences held by machine code.
type ExportedReconvergences struct {
	ByNumber []*Reconvergence // by native.Reconvergence.Number - 1
	Outer    *Reconvergence   // the innermost reconvergence held by Go
}
