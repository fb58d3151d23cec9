// A client that ends, or fails, as selected by its first argument. It ignores results after a launch.

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "load.h"

CUresult cuMemAlloc_v2(CUdeviceptr *, size_t), cuMemsetD8_v2(CUdeviceptr, unsigned char, size_t), cuCtxDestroy_v2(CUcontext), cuCtxGetCurrent(CUcontext *);
CUresult cuStreamCreate(CUstream *, unsigned), cuStreamWaitEvent(CUstream, CUevent, unsigned), cuEventCreate(CUevent *, unsigned), cuEventRecord(CUevent, CUstream);
CUresult cuLaunchHostFunc(CUstream, void (*)(void *), void *);
CUresult cuStreamBeginCapture_v2(CUstream, int), cuStreamEndCapture(CUstream, CUgraph *), cuGraphInstantiateWithFlags(CUgraphExec *, CUgraph, unsigned long long), cuGraphLaunch(CUgraphExec, CUstream);

static const char *const ptx =
	".version 7.8\n.target sm_80\n.address_size 64\n"
	".visible .entry k(.param .u64 x, .param .u32 what)\n" // what: 0 race, 1 out of bounds, 2 endless, 3 trap, 4 missing barrier
	"{\n"
	"  .reg .u32 %r<5>; .reg .u64 %rd<2>; .reg .pred %p<6>;\n"
	"  ld.param.u64 %rd1, [x];\n"
	"  ld.param.u32 %r1, [what];\n"
	"  mov.u32 %r2, %tid.x;\n"
	"  setp.eq.u32 %p1, %r1, 1; setp.eq.u32 %p2, %r1, 2; setp.eq.u32 %p3, %r1, 3; setp.eq.u32 %p4, %r1, 4;\n"
	"  @%p1 st.global.u32 [%rd1+4000000], %r2;\n"
	"  @%p3 trap;\n"
	"  @%p4 bra BARRIER;\n"
	"  mov.u32 %r3, 0;\n"
	"LOOP:\n"
	"  add.u32 %r3, %r3, 1;\n"
	"  @%p2 st.global.u32 [%rd1], %r3;\n" // without a store, gemu reports the loop as endless
	"  @%p2 bra LOOP;\n"
	"  st.global.u32 [%rd1], %r2;\n"
	"  ret;\n"
	"BARRIER:\n"
	"  setp.gt.u32 %p5, %r2, 31;\n"
	"  @%p5 bar.sync 0, 128;\n"
	"  ret;\n"
	"}\n";

static atomic_int launched;

// done is called after the launch has been submitted: it ends the process.
static void done(void *unused)
{
	(void)unused;
	while (!launched)
		usleep(1000);
	exit(0);
}

static void nothing(void *unused) { (void)unused; }

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	unsigned threads = 64, what = 0;
	CUfunction f = load(ptx, "k");
	CUdeviceptr x;
	CUstream a, b;
	CUevent e;
	CUgraph g;
	CUgraphExec exec;
	CUcontext c;
	void *args[] = {&x, &what};
	if (!f || cuMemAlloc_v2(&x, 4) || cuMemsetD8_v2(x, 0, 4) || cuStreamCreate(&a, 1) || cuStreamCreate(&b, 1) || cuEventCreate(&e, 2) || cuCtxGetCurrent(&c))
		return 1;
#define is(name) (strcmp(how, name) == 0)
#define launch(stream) cuLaunchKernel(f, 1, 1, 1, threads, 1, 1, 0, stream, args, 0)
	if (is("out of bounds"))
		what = 1;
	if (is("trap"))
		what = 3;
	if (is("deadlock"))
		what = 4;
	if (is("steps") || is("endless") || is("behind"))
		what = 2, threads = 32;
	if (is("refused"))
		threads = 2048;
	if (is("graph")) {
		if (cuStreamBeginCapture_v2(a, 0) || launch(a) || cuStreamEndCapture(a, &g) || cuGraphInstantiateWithFlags(&exec, g, 0))
			return 1;
		cuGraphLaunch(exec, b);
	} else if (is("event")) { // after an event of another stream
		cuLaunchHostFunc(a, nothing, 0);
		cuEventRecord(e, a);
		cuStreamWaitEvent(b, e, 0);
		launch(b);
	} else if (is("in stream") || is("nothing")) {
		if (is("in stream")) {
			cuLaunchHostFunc(a, done, 0);
			launch(a);
			launched = 1;
			pause();
		}
	} else {
		launch(a);
		if (is("trap") || is("out of bounds"))
			launch(a); // this launch does not begin
		if (is("behind"))
			launch(a);
	}
	if (is("out of bounds") || is("trap") || is("deadlock") || is("steps"))
		cuCtxSynchronize();
	if (is("destroyed"))
		cuCtxDestroy_v2(c);
	if (is("quick_exit"))
		quick_exit(0);
	if (is("_exit"))
		_exit(0);
	if (is("exec"))
		execlp("true", "true", (char *)0);
	return 0;
}
