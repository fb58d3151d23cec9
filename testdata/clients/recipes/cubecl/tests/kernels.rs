use cubecl::cuda::{CudaDevice, CudaRuntime};
use cubecl::prelude::*;

#[cube(launch)]
fn saxpy(a: f32, x: &Array<f32>, y: &mut Array<f32>) {
    if ABSOLUTE_POS < x.len() {
        y[ABSOLUTE_POS] = a * x[ABSOLUTE_POS] + y[ABSOLUTE_POS];
    }
}

// Each cube of 64 units adds its part of x in shared memory.
#[cube(launch)]
fn sums(x: &Array<u32>, sums: &mut Array<u32>) {
    let mut shared = SharedMemory::<u32>::new(64usize);
    shared[UNIT_POS as usize] = x[ABSOLUTE_POS];
    sync_cube();
    let mut width = 32u32;
    while width > 0 {
        if UNIT_POS < width {
            let other = shared[(UNIT_POS + width) as usize];
            shared[UNIT_POS as usize] += other;
        }
        sync_cube();
        width /= 2;
    }
    if UNIT_POS == 0 {
        sums[CUBE_POS] = shared[0];
    }
}

#[test]
fn saxpy_of_arrays() {
    let client = CudaRuntime::client(&CudaDevice::default());
    let host: Vec<f32> = (0..1000).map(|i| i as f32).collect();
    let x = client.create_from_slice(f32::as_bytes(&host));
    let y = client.create_from_slice(f32::as_bytes(&vec![1f32; 1000]));
    let (from, to) = unsafe { (ArrayArg::from_raw_parts(x, 1000), ArrayArg::from_raw_parts(y.clone(), 1000)) };
    saxpy::launch::<CudaRuntime>(&client, CubeCount::Static(8, 1, 1), CubeDim::new_1d(128), 2.0, from, to);
    let have = client.read_one(y).unwrap();
    let want: Vec<f32> = host.iter().map(|x| 2.0 * x + 1.0).collect();
    assert_eq!(f32::from_bytes(&have), want);
}

#[test]
fn sums_in_shared_memory() {
    let client = CudaRuntime::client(&CudaDevice::default());
    let host: Vec<u32> = (0..512).map(|i| i * i).collect();
    let x = client.create_from_slice(u32::as_bytes(&host));
    let to = client.empty(8 * size_of::<u32>());
    let (from, into) = unsafe { (ArrayArg::from_raw_parts(x, 512), ArrayArg::from_raw_parts(to.clone(), 8)) };
    sums::launch::<CudaRuntime>(&client, CubeCount::Static(8, 1, 1), CubeDim::new_1d(64), from, into);
    let have = client.read_one(to).unwrap();
    let want: Vec<u32> = host.chunks(64).map(|part| part.iter().sum()).collect();
    assert_eq!(u32::from_bytes(&have), want);
}
