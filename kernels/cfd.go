package kernels

import (
	"fmt"
	"math"

	"gemu/interp"
	"gemu/ptx"
)

func init() {
	register(&Workload{
		Name: "cfd", Doc: "flow of a gas on an unstructured mesh, by the Euler equations",
		N: 1 << 12, Max: 1 << 21, SizeDoc: "cells",
		Origin: "Corrigan et al., Running unstructured grid-based CFD solvers on modern graphics hardware (AIAA 2009); cfd of Rodinia",
		Papers: []string{"collange2011", "thesis2019"},
		Run:    cfd,
	})
}

// gas is the state of a cell: the five variables and the values derived from them.
type gas struct {
	density, energy    float32
	momentum, velocity [3]float32
	pressure, speed    float32
}

// gasOf returns the state of cell i of n.
func gasOf(variables []float32, i, n int) gas {
	g := gas{density: variables[i], energy: variables[4*n+i]}
	volume := 1 / g.density
	for d := range 3 {
		g.momentum[d] = variables[(d+1)*n+i]
		g.velocity[d] = g.momentum[d] * volume
	}
	square := dot32(g.velocity, g.velocity)
	const gamma, excess = float32(1.4), float32(0.4)
	g.pressure = fma32(-0.5*excess*g.density, square, excess*g.energy)
	g.speed = sqrt32(square) + sqrt32(gamma*g.pressure*volume)
	return g
}

func cfd(s *Session) error {
	const faces, wall, far, stages, steps, block = 4, -1, -2, 3, 2, 192
	n := s.N
	r := newRNG(1)
	// The cells lie on a square, row after row. Their numbers follow their places, but are shuffled in groups of 64.
	side := int(math.Ceil(math.Sqrt(float64(n))))
	number := make([]int, n)
	for i := range number {
		number[i] = i
		if j := i - r.intn(i%64+1); j != i {
			number[i], number[j] = number[j], number[i]
		}
	}
	neighbour, normal, area := make([]int32, faces*n), make([]float32, faces*3*n), make([]float32, n)
	for p, i := range number {
		area[i] = 0.5 + r.float()
		for f, step := range [faces][2]int{{1, 0}, {0, 1}, {-1, 0}, {0, -1}} {
			x, y := p%side+step[0], p/side+step[1]
			q := y*side + x
			along := [3]float32{float32(step[0]), float32(step[1]), 0}
			if f < 2 {
				for d := range along {
					along[d] += float32(0.1 * (r.float() - 0.5))
				}
			}
			switch {
			case y < 0 || y == side || q >= n:
				neighbour[f*n+i] = wall
			case x < 0 || x == side:
				neighbour[f*n+i] = far
			default:
				neighbour[f*n+i] = int32(number[q])
				if f >= 2 { // the normal of the face points to the opposite side
					for d := range along {
						along[d] = -normal[(3*(f-2)+d)*n+number[q]]
					}
				}
			}
			for d, v := range along {
				normal[(3*f+d)*n+i] = v
			}
		}
	}
	// The gas streams along x at 1.2 times the speed of sound, with disturbances.
	around := []float32{1.4, 1.68, 0, 0, 3.508}
	setVar(s, "far", around)
	variables := make([]float32, 5*n)
	for i := range variables {
		variables[i] = around[i/n] + float32(0.1*(r.float()-0.5))
	}
	before := append([]float32(nil), variables...)
	grid, size := ptx.Dim(blocks(n, block)), ptx.Dim(block)
	dNeighbour, dNormal, dArea, dFlux, dStep := upload(s, neighbour), upload(s, normal), upload(s, area), alloc[float32](s, 5*n), alloc[float32](s, n)
	dVariables, dBefore := upload(s, variables), upload(s, variables)
	for range steps {
		if err := s.Launch("cfd_step", grid, size, n, dVariables, dArea, dStep); err != nil {
			return err
		}
		copy(dBefore.Bytes(), dVariables.Bytes())
		for stage := range stages {
			if err := s.Launch("cfd_flux", grid, size, n, dNeighbour, dNormal, dVariables, dFlux); err != nil {
				return err
			}
			if err := s.Launch("cfd_advance", grid, size, n, 1/float32(stages-stage), dStep, dFlux, dBefore, dVariables); err != nil {
				return err
			}
		}
	}
	step, flux := make([]float32, n), make([][5]float32, n)
	for range steps {
		for i := range step {
			step[i] = 0.5 / (sqrt32(area[i]) * gasOf(variables, i, n).speed)
		}
		copy(before, variables)
		for stage := range stages {
			for i := range flux {
				own, sum := gasOf(variables, i, n), [5]float32{}
				for f := range faces {
					var along [3]float32
					for d := range along {
						along[d] = normal[(3*f+d)*n+i]
					}
					var beyond gas
					switch j := neighbour[f*n+i]; j {
					case wall:
						for d, v := range along {
							sum[1+d] = fma32(own.pressure, v, sum[1+d])
						}
						continue
					case far:
						beyond = gasOf(around, 0, 1)
					default:
						beyond = gasOf(variables, int(j), n)
					}
					viscosity := 0.1 * sqrt32(dot32(along, along)) * (own.speed + beyond.speed)
					out, in := 0.5*dot32(own.velocity, along), 0.5*dot32(beyond.velocity, along)
					// through adds the flux of a variable; work is the contribution of pressure.
					through := func(v int, a, b, workA, workB float32) {
						sum[v] = fma32(viscosity, a-b, sum[v])
						sum[v] = fma32(out, a+workA, fma32(in, b+workB, sum[v]))
					}
					through(0, own.density, beyond.density, 0, 0)
					through(4, own.energy, beyond.energy, own.pressure, beyond.pressure)
					for d, v := range along {
						through(1+d, own.momentum[d], beyond.momentum[d], 0, 0)
						sum[1+d] = fma32(0.5*(own.pressure+beyond.pressure), v, sum[1+d])
					}
				}
				flux[i] = sum
			}
			for i, f := range flux {
				length := 1 / float32(stages-stage) * step[i]
				for v := range f {
					variables[v*n+i] = fma32(-length, f[v], before[v*n+i])
				}
			}
		}
	}
	s.Summary = fmt.Sprintf("%d steps on %d cells", steps, n)
	return Equal("variables", interp.Slice[float32](dVariables), variables)
}
