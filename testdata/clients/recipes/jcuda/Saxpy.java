import java.util.Arrays;
import jcuda.Pointer;
import jcuda.Sizeof;
import jcuda.driver.CUcontext;
import jcuda.driver.CUdevice;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.CUfunction;
import jcuda.driver.CUmodule;
import jcuda.driver.JCudaDriver;
import static jcuda.driver.JCudaDriver.*;

class Saxpy {
	public static void main(String[] arguments) throws Exception {
		JCudaDriver.setExceptionsEnabled(true);
		cuInit(0);
		CUdevice device = new CUdevice();
		cuDeviceGet(device, 0);
		CUcontext context = new CUcontext();
		cuCtxCreate(context, 0, device);
		CUmodule module = new CUmodule();
		cuModuleLoad(module, arguments[0]);
		CUfunction saxpy = new CUfunction();
		cuModuleGetFunction(saxpy, module, "saxpy");

		int n = 1000;
		float[] x = new float[n], y = new float[n];
		for (int i = 0; i < n; i++) {
			x[i] = i;
			y[i] = 1;
		}
		CUdeviceptr dx = new CUdeviceptr();
		cuMemAlloc(dx, n * Sizeof.FLOAT);
		cuMemcpyHtoD(dx, Pointer.to(x), n * Sizeof.FLOAT);
		CUdeviceptr dy = new CUdeviceptr();
		cuMemAlloc(dy, n * Sizeof.FLOAT);
		cuMemcpyHtoD(dy, Pointer.to(y), n * Sizeof.FLOAT);
		Pointer parameters = Pointer.to(Pointer.to(new int[] {n}), Pointer.to(new float[] {2}), Pointer.to(dx), Pointer.to(dy));
		cuLaunchKernel(saxpy, (n + 127) / 128, 1, 1, 128, 1, 1, 0, null, parameters, null);
		cuMemcpyDtoH(Pointer.to(y), dy, n * Sizeof.FLOAT);
		for (int i = 0; i < n; i++)
			if (y[i] != 2 * i + 1)
				throw new Exception("y[" + i + "] = " + y[i] + ", want " + (2 * i + 1));
		System.out.println(Arrays.toString(Arrays.copyOf(y, 4)));
	}
}
