/* Calls that no capture permits, and that have nothing to do with copies. */
#include "interpose/capture/captures.h"
#include "interpose/driver/driver.h"
#include "interpose/driver/wrap.h"

#include "track/poison.h"

SC_DEFINE(cuMemAlloc_v2, (CUdeviceptr * address, size_t bytes),
          return SC_PERMITTED(REAL(address, bytes));)

SC_DEFINE(cuArrayCreate_v2, (CUarray * array, const CUDA_ARRAY_DESCRIPTOR *descriptor),
          return SC_PERMITTED(REAL(array, descriptor));)

SC_DEFINE(cuArray3DCreate_v2, (CUarray * array, const CUDA_ARRAY3D_DESCRIPTOR *descriptor),
          return SC_PERMITTED(REAL(array, descriptor));)

SC_DEFINE(cuArrayDestroy, (CUarray array), return SC_PERMITTED(REAL(array));)

SC_DEFINE(cuModuleUnload, (CUmodule module), return SC_PERMITTED(REAL(module));)

SC_DEFINE(cuMemPoolCreate, (CUmemoryPool * pool, const CUmemPoolProps *properties),
          return SC_PERMITTED(REAL(pool, properties));)

SC_DEFINE(cuMemPoolTrimTo, (CUmemoryPool pool, size_t bytes),
          return SC_PERMITTED(REAL(pool, bytes));)

SC_DEFINE(cuMemAllocPitch_v2,
          (CUdeviceptr * address, size_t *pitch, size_t width, size_t height, unsigned element),
          return SC_PERMITTED(REAL(address, pitch, width, height, element));)
