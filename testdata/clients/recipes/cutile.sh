#!/usr/bin/env bash
# cuTile: the programs of testdata/clients/cutile. tileiras, the compiler of tiles, calls the ptxas next to it: gemu's must be there.
source "$(dirname "$0")/common.sh"
packages cuda-tile==1.7.0 nvidia-cuda-tileiras==13.5.37 "nvidia-cuda-nvcc==13.5.*" "nvidia-nvvm==13.5.*" numpy==2.4.6 pytest
ptxas=$(gemu exec --environment | sed -n 's/^TRITON_PTXAS_PATH=//p')
ln -sf "$ptxas" "$(python -c 'import sysconfig; print(sysconfig.get_path("platlib"))')/nvidia/cu13/bin/ptxas"
export CUDA_TILE_CACHE_DIR=$work/cache
gemu exec --require-launches -- python -m pytest -q -p no:cacheprovider "$here/../cutile"
