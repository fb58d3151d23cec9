use candle_kernels::{Module, AFFINE, REDUCE};
use cudarc::driver::{CudaContext, CudaFunction, CudaStream, DriverError, LaunchConfig, PushKernelArg};
use std::sync::Arc;

type Result = std::result::Result<(), DriverError>;

fn kernel(module: &Module, name: &str) -> std::result::Result<(Arc<CudaStream>, CudaFunction), DriverError> {
    let context = CudaContext::new(0)?;
    let function = context.load_module(module.ptx().into())?.load_function(name)?;
    Ok((context.default_stream(), function))
}

#[test]
fn affine() -> Result {
    let (stream, affine) = kernel(&AFFINE, "affine_f32")?;
    let host: Vec<f32> = (0..1000).map(|i| i as f32).collect();
    let x = stream.clone_htod(&host)?;
    let mut y = stream.alloc_zeros::<f32>(1000)?;
    let (n, dimensions, contiguous) = (1000usize, 1usize, 0usize);
    let (factor, summand) = (2f32, 1f32);
    let mut launch = stream.launch_builder(&affine);
    launch.arg(&n).arg(&dimensions).arg(&contiguous).arg(&x).arg(&mut y).arg(&factor).arg(&summand);
    unsafe { launch.launch(LaunchConfig::for_num_elems(1000)) }?;
    let want: Vec<f32> = host.iter().map(|x| 2.0 * x + 1.0).collect();
    assert_eq!(stream.clone_dtoh(&y)?, want);
    Ok(())
}

#[test]
fn softmax() -> Result {
    const ROWS: usize = 4;
    const COLUMNS: usize = 100;
    let (stream, softmax) = kernel(&REDUCE, "softmax_f32")?;
    let host: Vec<f32> = (0..ROWS * COLUMNS).map(|i| (i * 37 % 101) as f32 / 10.0).collect();
    let x = stream.clone_htod(&host)?;
    let mut y = stream.alloc_zeros::<f32>(ROWS * COLUMNS)?;
    let columns = COLUMNS as i32;
    let mut launch = stream.launch_builder(&softmax);
    launch.arg(&x).arg(&mut y).arg(&columns);
    // A warp for each row, as candle launches it.
    unsafe { launch.launch(LaunchConfig { grid_dim: (ROWS as u32, 1, 1), block_dim: (1, 32, 1), shared_mem_bytes: 0 }) }?;
    for (row, have) in host.chunks(COLUMNS).zip(stream.clone_dtoh(&y)?.chunks(COLUMNS)) {
        let sum: f64 = row.iter().map(|&x| f64::from(x).exp()).sum();
        for (&x, &y) in row.iter().zip(have) {
            let want = f64::from(x).exp() / sum;
            assert!((f64::from(y) - want).abs() < 1e-5 * want, "softmax of {x}: {y}, want {want}");
        }
    }
    Ok(())
}
