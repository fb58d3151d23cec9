package accelsim

// This file writes .tracez files: the instructions of each warp are compressed separately, in chunks, with an index at
// the end, so that a simulator can read the warps of a CTA in parallel. The layout is that of tracez_format.h and
// warp_trace_stream.h of accel-sim-framework:
//
//	header, as in .traceg, up to a zero byte
//	u32 bytes of the dictionary, which is empty; u32 instructions of a chunk
//	for each warp: u32 instructions, u32 chunks; for each chunk u32 bytes, a zstd frame whose lines are instructions
//	index: u32 CTAs; for each its id, that of its cluster, its place in the cluster, its rank there, u32 warps;
//	for each warp u32 instructions, u32 chunks, u64 offset in the file, u32 instructions of each chunk
//	u64 offset of the index
//
// Numbers are little-endian.

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"

	"github.com/klauspost/compress/zstd"

	"gemu/probe"
	"gemu/ptx"
)

// chunkInstrs is the number of instructions of a chunk.
const chunkInstrs = 4096

// packer writes the warps of a .tracez file.
type packer struct {
	out    io.Writer
	offset uint64 // number of bytes written
	zstd   *zstd.Encoder
	index  []byte
	ctas   uint32
	chunk  []byte // scratch space: the instructions of a chunk
}

func newPacker(out io.Writer) (*packer, error) {
	z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithSingleSegment(true)) // even small frames state their length
	return &packer{out: out, zstd: z}, err
}

func (p *packer) Write(b []byte) (int, error) {
	n, err := p.out.Write(b)
	p.offset += uint64(n)
	return n, err
}

func (p *packer) numbers(list ...uint32) error {
	var b []byte
	for _, n := range list {
		b = binary.LittleEndian.AppendUint32(b, n)
	}
	_, err := p.Write(b)
	return err
}

// begin completes the header.
func (p *packer) begin() error {
	if _, err := p.Write([]byte{0}); err != nil {
		return err
	}
	return p.numbers(0, chunkInstrs)
}

// cta begins a CTA of a launch.
func (p *packer) cta(info *probe.LaunchInfo, id ptx.Dim3, warps int) {
	p.ctas++
	cluster := info.Cluster
	for _, n := range []*int{&cluster.X, &cluster.Y, &cluster.Z} {
		*n = max(*n, 1) // without clusters, each CTA is a cluster
	}
	place := ptx.Dim3{X: id.X % cluster.X, Y: id.Y % cluster.Y, Z: id.Z % cluster.Z}
	rank := place.X + cluster.X*(place.Y+cluster.Y*place.Z)
	for _, n := range []int{id.X, id.Y, id.Z, id.X / cluster.X, id.Y / cluster.Y, id.Z / cluster.Z, place.X, place.Y, place.Z, rank, warps} {
		p.index = binary.LittleEndian.AppendUint32(p.index, uint32(n))
	}
}

// warp writes the instructions of a warp, a line each.
func (p *packer) warp(instrs int, text io.Reader) error {
	chunks := (instrs + chunkInstrs - 1) / chunkInstrs
	p.index = binary.LittleEndian.AppendUint32(p.index, uint32(instrs))
	p.index = binary.LittleEndian.AppendUint32(p.index, uint32(chunks))
	p.index = binary.LittleEndian.AppendUint64(p.index, p.offset)
	if err := p.numbers(uint32(instrs), uint32(chunks)); err != nil {
		return err
	}
	in := bufio.NewReaderSize(text, 1<<16)
	for remaining := instrs; remaining > 0; {
		n := min(remaining, chunkInstrs)
		remaining -= n
		p.chunk = p.chunk[:0]
		for range n {
			for {
				line, err := in.ReadSlice('\n')
				if p.chunk = append(p.chunk, line...); err == nil {
					break
				}
				if !errors.Is(err, bufio.ErrBufferFull) {
					return err
				}
			}
		}
		frame := p.zstd.EncodeAll(p.chunk, nil) // states its uncompressed size
		if err := p.numbers(uint32(len(frame))); err != nil {
			return err
		}
		if _, err := p.Write(frame); err != nil {
			return err
		}
		p.index = binary.LittleEndian.AppendUint32(p.index, uint32(n))
	}
	return nil
}

// end writes the index.
func (p *packer) end() error {
	position := p.offset
	if err := p.numbers(p.ctas); err != nil {
		return err
	}
	_, err := p.Write(binary.LittleEndian.AppendUint64(p.index, position))
	return err
}
