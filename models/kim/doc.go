// Package kim has what Kim, Torng, Srinath, Lockhart and Batten, "Microarchitectural Mechanisms to
// Exploit Value Structure in SIMT Architectures" (ISCA 2013) measure beyond the structure of the
// values of a launch under the policies kim and fgsimt:
//
//   - figure 2, for a warp without end (Figure2);
//   - what the units of their machines take at least (Use, GPSIMT, FGSIMT);
//   - what their machines take in cycles (Replay, GPMachine, FGMachine): GP-SIMT of sections 3.1 and
//     5.1, FG-SIMT of 3.2 and 5.2, which replay the instructions that warps have executed with the
//     dependences between them.
//
// What of the machines is the paper's, and what is a choice, is in docs/kim2013-time.md.
// They are first-order: there is no fetch, no instruction cache, no energy.
package kim
