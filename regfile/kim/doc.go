// Package kim has what Kim, Torng, Srinath, Lockhart and Batten, "Microarchitectural Mechanisms to
// Exploit Value Structure in SIMT Architectures" (ISCA 2013) measure beyond the warps that a
// launch runs in: figure 2, for a warp without end. What their machines make of the warps
// that there are is the structure of a launch under the policies kim and fgsimt.
package kim
