// A client whose kernels wait for kernels on other streams. It prints the turns of three kernels, which must be the same in each
// process, and ok.

#include <stdlib.h>

#include "load.h"

CUresult cuMemAlloc_v2(CUdeviceptr *, size_t), cuMemsetD32_v2(CUdeviceptr, unsigned, size_t), cuMemsetD32Async(CUdeviceptr, unsigned, size_t, CUstream);
CUresult cuMemcpyDtoH_v2(void *, CUdeviceptr, size_t), cuMemHostAlloc(void **, size_t, unsigned), cuMemHostGetDevicePointer_v2(CUdeviceptr *, void *, unsigned);
CUresult cuStreamCreate(CUstream *, unsigned), cuStreamCreateWithPriority(CUstream *, unsigned, int), cuStreamSynchronize(CUstream), cuStreamQuery(CUstream);
CUresult cuEventCreate(CUevent *, unsigned), cuEventRecord(CUevent, CUstream), cuStreamWaitEvent(CUstream, CUevent, unsigned), cuEventQuery(CUevent);
CUresult cuLaunchHostFunc(CUstream, CUhostFn, void *), cuStreamWriteValue32_v2(CUstream, CUdeviceptr, uint32_t, unsigned);
CUresult cuStreamBeginCapture_v2(CUstream, int), cuStreamEndCapture(CUstream, CUgraph *), cuGraphInstantiateWithFlags(CUgraphExec *, CUgraph, unsigned long long), cuGraphLaunch(CUgraphExec, CUstream);

// await waits until *flag is value, and stores value+1 at next; order takes n tickets and stores its id for each.
static const char *const ptx =
	".version 7.8\n.target sm_80\n.address_size 64\n"
	".visible .entry await(.param .u64 flag, .param .u32 value, .param .u64 next)\n"
	"{\n"
	"  .reg .u32 %r<3>; .reg .u64 %rd<2>; .reg .pred %p;\n"
	"  ld.param.u64 %rd0, [flag]; ld.param.u32 %r1, [value]; ld.param.u64 %rd1, [next];\n"
	"L: ld.acquire.sys.global.u32 %r0, [%rd0];\n"
	"  setp.ne.u32 %p, %r0, %r1;\n"
	"  @%p bra L;\n"
	"  add.u32 %r2, %r1, 1;\n"
	"  st.release.sys.global.u32 [%rd1], %r2;\n"
	"  ret;\n"
	"}\n"
	".visible .entry order(.param .u64 tickets, .param .u64 log, .param .u32 id, .param .u32 n)\n"
	"{\n"
	"  .reg .u32 %r<5>; .reg .u64 %rd<4>; .reg .pred %p;\n"
	"  ld.param.u64 %rd0, [tickets]; ld.param.u64 %rd1, [log]; ld.param.u32 %r0, [id]; ld.param.u32 %r1, [n];\n"
	"L: atom.global.add.u32 %r2, [%rd0], 1;\n"
	"  mul.wide.u32 %rd2, %r2, 4; add.u64 %rd3, %rd1, %rd2;\n"
	"  st.global.u32 [%rd3], %r0;\n"
	"  mov.u32 %r3, 400;\n"
	"M: sub.u32 %r3, %r3, 1; setp.ne.u32 %p, %r3, 0; @%p bra M;\n"
	"  sub.u32 %r1, %r1, 1; setp.ne.u32 %p, %r1, 0; @%p bra L;\n"
	"  ret;\n"
	"}\n";

static CUfunction await, order;
static CUdeviceptr words;

static void check(int line, const char *what, int got, int want)
{
	if (got == want)
		return;
	printf("line %d: %s is %d, want %d\n", line, what, got, want);
	exit(1);
}
#define IS(want, call) check(__LINE__, #call, (call), (want))
#define OK(call) IS(0, call)

static CUdeviceptr word(int i) { return words + 4 * i; }

// wait_for launches the kernel await on a stream.
static CUresult wait_for(CUstream s, CUdeviceptr flag, unsigned value, CUdeviceptr next)
{
	void *args[] = {&flag, &value, &next};
	return cuLaunchKernel(await, 1, 1, 1, 1, 1, 1, 0, s, args, 0);
}

static CUresult clear(void) { return cuMemsetD32_v2(words, 0, 1024) ? 1 : cuCtxSynchronize(); }

static unsigned value(int i)
{
	unsigned v;
	OK(cuMemcpyDtoH_v2(&v, word(i), 4));
	return v;
}

static void set_host_word(void *p) { __atomic_store_n((unsigned *)p, 1, __ATOMIC_SEQ_CST); }

int main(void)
{
	enum { n = 50 };
	CUmodule m;
	CUstream s[3], blocking;
	CUevent e, fork, join;
	CUgraph g;
	CUgraphExec x;
	CUdeviceptr flag;
	unsigned *host, log[3 * n];
	if (!(await = load(ptx, "await")) || cuModuleLoadData(&m, ptx) || cuModuleGetFunction(&order, m, "order"))
		return 1;
	OK(cuMemAlloc_v2(&words, 4096));
	for (int i = 0; i < 2; i++)
		OK(cuStreamCreate(&s[i], 1));
	OK(cuStreamCreateWithPriority(&s[2], 1, -5));
	OK(cuStreamCreate(&blocking, 0));
	OK(cuEventCreate(&e, 0));
	OK(cuEventCreate(&fork, 0));
	OK(cuEventCreate(&join, 0));
	OK(cuMemHostAlloc((void **)&host, 8, 0));
	OK(cuMemHostGetDevicePointer_v2(&flag, host, 0));

	// A ring of three streams, launched in both directions. The kernel that begins it is launched last.
	for (int direction = 0; direction < 2; direction++) {
		OK(clear());
		for (int k = 0; k < 3; k++) {
			int i = direction ? k : 2 - k;
			OK(wait_for(s[i], word(i), i + 1, word((i + 1) % 3)));
		}
		OK(wait_for(blocking, word(5), 0, word(0)));
		for (int i = 0; i < 3; i++)
			OK(cuStreamSynchronize(s[i]));
		IS(4, value(0));
		IS(3, value(2));
	}

	// The host polls an event, and a function of the host sets the flag of a kernel.
	host[0] = host[1] = 0;
	OK(wait_for(s[0], flag, 1, flag + 4));
	OK(cuEventRecord(e, s[0]));
	OK(cuLaunchHostFunc(s[1], set_host_word, host));
	CUresult r;
	while ((r = cuEventQuery(e)) == 600)
		;
	OK(r);
	IS(2, __atomic_load_n(&host[1], __ATOMIC_SEQ_CST));

	// The host sets the flag itself, and polls memory without a call.
	host[0] = host[1] = 0;
	OK(wait_for(s[0], flag, 1, flag + 4));
	set_host_word(host);
	while (__atomic_load_n(&host[1], __ATOMIC_SEQ_CST) != 2)
		;
	OK(cuCtxSynchronize());

	// A write of a stream and a fill; the default stream waits, too.
	OK(clear());
	OK(wait_for(0, word(0), 1, word(1)));
	OK(wait_for(s[1], word(1), 2, word(2)));
	OK(cuStreamWriteValue32_v2(s[2], word(0), 1, 0));
	OK(cuStreamSynchronize(s[1]));
	IS(3, value(2));

	// Branches of a captured graph.
	OK(clear());
	OK(cuStreamBeginCapture_v2(s[0], 0));
	OK(cuEventRecord(fork, s[0]));
	OK(cuStreamWaitEvent(s[1], fork, 0));
	OK(wait_for(s[0], word(0), 1, word(1)));
	OK(wait_for(s[1], word(2), 0, word(0)));
	OK(cuEventRecord(join, s[1]));
	OK(cuStreamWaitEvent(s[0], join, 0));
	OK(cuStreamEndCapture(s[0], &g));
	OK(cuGraphInstantiateWithFlags(&x, g, 0));
	OK(cuGraphLaunch(x, s[0]));
	OK(cuCtxSynchronize());
	IS(2, value(1));

	// Three kernels take turns. They become ready together, when the kernel before the event ends.
	OK(clear());
	host[0] = 0;
	OK(wait_for(blocking, flag, 1, word(1)));
	OK(cuEventRecord(e, blocking));
	for (unsigned i = 0, count = n; i < 3; i++) {
		CUdeviceptr tickets = word(2), to = word(3);
		void *args[] = {&tickets, &to, &i, &count};
		OK(cuStreamWaitEvent(s[i], e, 0));
		OK(cuLaunchKernel(order, 1, 1, 1, 1, 1, 1, 0, s[i], args, 0));
	}
	set_host_word(host);
	OK(cuCtxSynchronize());
	OK(cuMemcpyDtoH_v2(log, word(3), sizeof log));
	for (int i = 0; i < 3 * n; i++)
		printf("%u", log[i]);

	// A wait for work that comes later in the order of the default stream is a deadlock.
	OK(clear());
	OK(wait_for(blocking, word(0), 1, word(1)));
	OK(wait_for(0, word(2), 0, word(0)));
	IS(702, cuStreamSynchronize(blocking));
	printf("\nok\n");
	return 0;
}
