package matrix

// This file describes panels: the parts of the matrices of wgmma and tcgen05.mma that machine code multiplies at once.

// maxScalesPerRow is the maximum number of scales of a row of A or a column of B.
const maxScalesPerRow = 4

// ColumnScales has the scales of the rows of A or of the columns of B in a panel: numbers times powers of 2, first by the number of the
// scale in its row.
type ColumnScales[T any] struct{ Numbers, Exponents [maxScalesPerRow]T }

// PanelMetadata has the metadata of 16 rows of a sparse A, by group of four chunks and row. A chunk has four bits.
type PanelMetadata [8][ProductRows]uint32
