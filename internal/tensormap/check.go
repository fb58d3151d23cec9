package tensormap

// This file checks tensor maps by the rules that the driver API states where maps are made (cuTensorMapEncodeTiled,
// cuTensorMapEncodeIm2col, cuTensorMapEncodeIm2colWide), and the manual in 9.7.9.25.5.1.

import "fmt"

const (
	maxBox    = 256
	maxStep   = 8
	maxPixels = 1024
)

// Check returns an error if the map violates a rule.
func (m *Map) Check() error {
	minimum := 1
	if m.Mode != Tiled || m.Interleave != NoInterleave {
		minimum = 3
	}
	switch {
	case m.Mode >= modeCount || m.Type >= TypeCount || m.Interleave >= InterleaveCount || m.Swizzle.Mode >= SwizzleModeCount || m.Swizzle.Atomicity >= AtomicityCount || m.L2 > 3:
		return fmt.Errorf("a tensor map of an unknown kind")
	case m.Rank < minimum || m.Rank > Rank:
		return fmt.Errorf("a rank of %d, want %d to %d", m.Rank, minimum, Rank)
	case m.NaN && !m.Type.Float():
		return fmt.Errorf("NaN cannot fill the elements outside a tensor of .%s", m.Type)
	}
	align := uint64(16)
	if m.Interleave == Interleave32 || m.Type.Padded() {
		align = 32
	}
	if m.Address%align != 0 {
		return fmt.Errorf("a tensor at %#x, want a multiple of %d", m.Address, align)
	}
	for i := range m.Rank {
		if m.Dim[i] == 0 || m.Dim[i] > 1<<32 {
			return fmt.Errorf("an extent of %d elements in dimension %d, want 1 to 2^32", m.Dim[i], i)
		}
		if m.Step[i] == 0 || m.Step[i] > maxStep {
			return fmt.Errorf("a traversal stride of %d in dimension %d, want 1 to %d", m.Step[i], i, maxStep)
		}
		if i > 0 && (m.Stride[i-1]%align != 0 || m.Stride[i-1] >= 1<<40) {
			return fmt.Errorf("a stride of %d bytes in dimension %d, want a multiple of %d below 2^40", m.Stride[i-1], i, align)
		}
	}
	if unit := map[Type]uint64{B4x16: 2, B4x16P64: 128, B6x16P32: 128}[m.Type]; unit != 0 && m.Dim[0]%unit != 0 {
		return fmt.Errorf("an extent of %d elements of .%s in dimension 0, want a multiple of %d", m.Dim[0], m.Type, unit)
	}
	if err := m.checkBox(); err != nil {
		return err
	}
	return m.checkSwizzle()
}

// checkBox checks the box, or channels, pixels and corners for im2col.
func (m *Map) checkBox() error {
	boxes := m.Rank
	if m.Mode != Tiled {
		boxes = 1
	}
	for i := range boxes {
		if m.Box[i] == 0 || m.Box[i] > maxBox {
			return fmt.Errorf("a box of %d elements in dimension %d, want 1 to %d", m.Box[i], i, maxBox)
		}
	}
	inner := uint64(m.Box[0]) * uint64(m.Type.Bits())
	switch {
	case m.Type.Padded() && m.Box[0] != 128:
		return fmt.Errorf("a box of %d elements of .%s in dimension 0, want 128", m.Box[0], m.Type)
	case m.Interleave == NoInterleave && inner%128 != 0:
		return fmt.Errorf("a box of %d elements of .%s in dimension 0, want a multiple of 16 bytes", m.Box[0], m.Type)
	case m.Mode == Tiled:
		return nil
	case m.Mode != Im2colW128 && (m.Box[1] == 0 || m.Box[1] > maxPixels):
		return fmt.Errorf("%d pixels per column, want 1 to %d", m.Box[1], maxPixels)
	}
	spatial := m.Rank - 2
	if m.Mode != Im2col {
		spatial = 1
	}
	bits := [...]int{16, 8, 5}[spatial-1]
	for i := range spatial {
		maximum := int32(1)<<(bits-1) - 1
		switch lower, upper := m.Lower[i], m.Upper[i]; {
		case lower < -maximum-1 || lower > maximum || upper < -maximum-1 || upper > maximum:
			return fmt.Errorf("a bounding box from %d to %d in dimension %d, want corners from %d to %d", lower, upper, i+1, -maximum-1, maximum)
		case int64(m.Dim[i+1])+int64(upper)-int64(lower) <= 0:
			return fmt.Errorf("an empty bounding box in dimension %d: from %d to %d, of %d elements", i+1, lower, upper, m.Dim[i+1])
		}
	}
	return nil
}

// checkSwizzle checks the swizzle against the size of the rows.
func (m *Map) checkSwizzle() error {
	s := m.Swizzle
	bytes := uint64(m.Box[0]) * uint64(m.Type.sharedBits()) / 8
	wide := m.Mode == Im2colW || m.Mode == Im2colW128
	switch {
	case s.Atomicity != Atom16 && s.Mode != Swizzle128:
		return fmt.Errorf("a swizzle of %d bytes needs pieces of 16 bytes", s.Mode.Span())
	case m.Interleave == Interleave32 && s.Mode != Swizzle32:
		return fmt.Errorf("an interleaved layout of 32 bytes without a swizzle of 32")
	case m.Interleave != NoInterleave && (wide || m.Type.Padded() || s.Mode == Swizzle96):
		return fmt.Errorf("an interleaved layout with a mode, type or swizzle that does not allow it")
	case m.Type.Padded() && (s.Mode != NoSwizzle && s.Mode != Swizzle128 || s.Atomicity == Atom32Flip8):
		return fmt.Errorf("a swizzle of %d bytes of elements of .%s", s.Mode.Span(), m.Type)
	case wide && (s.Mode == NoSwizzle || s.Mode == Swizzle32 || s.Atomicity == Atom32Flip8 || s.Mode == Swizzle96 && m.Mode == Im2colW128):
		return fmt.Errorf("a swizzle of %d bytes for .%s", s.Mode.Span(), m.Mode)
	case s.Mode != NoSwizzle && m.Interleave == NoInterleave && bytes > s.Mode.Span():
		return fmt.Errorf("a box whose innermost dimension has %d bytes, and a swizzle of %d", bytes, s.Mode.Span())
	}
	return nil
}
