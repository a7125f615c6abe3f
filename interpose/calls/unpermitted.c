/* Calls that are wrapped for one reason: no capture permits them (docs/driver.md). */
#include "interpose/capture/permits.h"
#include "interpose/driver/driver.h"
#include "interpose/driver/wrap.h"

#include "track/poison.h"

CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value)
{
    SC_WRAPPER(cuMemPoolGetAttribute);
    return SC_PERMITTED(real(pool, attribute, value));
}

CUresult cuMemPoolGetAccess(CUmemAccess_flags *flags, CUmemoryPool pool, CUmemLocation *location)
{
    SC_WRAPPER(cuMemPoolGetAccess);
    return SC_PERMITTED(real(flags, pool, location));
}

CUresult cuPointerSetAttribute(const void *value, CUpointer_attribute attribute,
                               CUdeviceptr address)
{
    SC_WRAPPER(cuPointerSetAttribute);
    return SC_PERMITTED(real(value, attribute, address));
}

CUresult cuCtxSetCacheConfig(CUfunc_cache config)
{
    SC_WRAPPER(cuCtxSetCacheConfig);
    return SC_PERMITTED(real(config));
}

CUresult cuCtxSetSharedMemConfig(CUsharedconfig config)
{
    SC_WRAPPER(cuCtxSetSharedMemConfig);
    return SC_PERMITTED(real(config));
}

CUresult cuProfilerStart(void)
{
    SC_WRAPPER(cuProfilerStart);
    return SC_PERMITTED(real());
}

CUresult cuProfilerStop(void)
{
    SC_WRAPPER(cuProfilerStop);
    return SC_PERMITTED(real());
}
