// Package memory is the clocked part of a GPU's memory system outside the multiprocessors: a network, the L2, and channels of memory.
//
// A multiprocessor sends requests for sectors of lines that its L1 does not have, and receives replies (Memory). All times at the boundary
// are core cycles from 0 on. Inside, time is in ticks, the longest time of which the periods of all clocks are multiples; a part acts only
// at ticks of its clock.
//
// # Rules
//
// These rules determine each cycle. The tests have a second implementation of them, which visits each tick.
//
// In a tick replies arrive at multiprocessors first, then channels act, then slices of the L2, then the network of replies and that of
// requests; parts of a kind in the order of their numbers. Requests of a cycle are sent after its tick, and can start at the next.
//
// Network. Each multiprocessor and each slice has a port in each direction, with a queue of packets (net.queue; replies have no limit at a
// multiprocessor). The first packet of a queue starts if its port and that of its destination are free, and the queue there has a place
// besides the packets on the way. A destination takes the next source after that of its latest packet. A packet takes both ports for
// its bytes (net.bytes), and is at the destination net.latency cycles later. Between zones it also takes the link of the two zones, and
// link.latency more cycles; packets are then in the queue in the order of their arrival.
//
// Slice. Channels and slices share the lines by their place in memory, and slices of a channel by the exclusive or of all bits. A slice takes
// the sectors of one transfer from memory in a cycle, and passes one reply to the network: first of requests whose sectors have come, then
// of hits, which take l2.latency cycles. It takes no request while a hit waits. It accesses the L2 for the first request if the bank is
// free (l2.bytes), fewer than l2.queue of its transfers wait for a channel, and an MSHR is free if it needs one. Sectors that a store
// overwrites completely are not read; stores wait for no reply.
//
// L2. The lines of the L2 are those of a machine without a clock: an access makes its sectors valid at once, and the order of accesses
// decides which line leaves. Sectors on the way are an in-flight hit. A line that leaves is written back at once.
//
// Channel. Transfers arrive dram.latency cycles after their access and enter the queue of reads or that of writes when it has a place. A
// channel serves writes if no read is in its queue, or from dram.high writes on, until dram.low are left or none. In a cycle it issues a
// command: it reads or writes the oldest transfer of the chosen queue whose row is open, as soon as the bank (dram.rcd), the direction (dram.cdlr) and the
// data bus permit (first ready, first come: Rixner et al., ISCA 2000). Otherwise, for the oldest transfer of each bank in the order of
// their arrival, it closes the row, unless a transfer in the queue needs it (dram.ras, dram.wr), or opens a row (dram.rp, dram.rc,
// dram.rrd). A row stays open until it is closed for another. There is no refresh.
package memory
