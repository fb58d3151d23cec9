use cudarc::driver::{CudaContext, LaunchConfig, PushKernelArg};

const SOURCE: &str = r#"
extern "C" __global__ void saxpy(int n, float a, const float *x, float *y)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		y[i] = a * x[i] + y[i];
}
"#;

#[test]
fn saxpy() -> Result<(), Box<dyn std::error::Error>> {
    let stream = CudaContext::new(0)?.default_stream();
    let module = stream.context().load_module(cudarc::nvrtc::compile_ptx(SOURCE)?)?;
    let kernel = module.load_function("saxpy")?;
    let host: Vec<f32> = (0..1000).map(|i| i as f32).collect();
    let x = stream.clone_htod(&host)?;
    let mut y = stream.clone_htod(&vec![1f32; 1000])?;
    let (n, a) = (1000i32, 2f32);
    let mut launch = stream.launch_builder(&kernel);
    launch.arg(&n).arg(&a).arg(&x).arg(&mut y);
    unsafe { launch.launch(LaunchConfig::for_num_elems(1000)) }?;
    let want: Vec<f32> = host.iter().map(|x| 2.0 * x + 1.0).collect();
    assert_eq!(stream.clone_dtoh(&y)?, want);
    Ok(())
}
