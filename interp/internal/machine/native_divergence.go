package machine

// ExportedReconvergences has the reconvergences of a warp that Go has exported to machine code.
type ExportedReconvergences struct {
	ByNumber []*Reconvergence // by native.Reconvergence.Number - 1
	Outer    *Reconvergence   // the innermost reconvergence that is not exported; nil: none
}
