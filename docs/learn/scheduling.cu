// The statements A and B on one side, X and Y on the other, then Z.
extern "C" __global__ void scheduling(unsigned *out) {
	unsigned x = 0;
	if (threadIdx.x < 4) {
		x += 1;   // A
		x += 2;   // B
	} else {
		x += 100; // X
		x += 200; // Y
	}
	x += 1000;    // Z
	out[threadIdx.x] = x;
}
