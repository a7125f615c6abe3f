// expect: SC501 action=ordered origin=cuExternalMemoryGet* direction=D2H event=cuMemcpyHtoD*
// options: device=1
// needs: sim
//
// A buffer of external memory, which the simulated GPU takes as a file: one stream is to read what
// another one overwrites.
#include "twin_driver.h"

#include <sys/mman.h>
#include <unistd.h>

static CUdeviceptr external_buffer(CUexternalMemory *memory)
{
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC handle;
    CUDA_EXTERNAL_MEMORY_BUFFER_DESC buffer;
    CUdeviceptr address = 0;
    memset(&handle, 0, sizeof handle);
    memset(&buffer, 0, sizeof buffer);
    handle.type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD;
    handle.handle.fd = memfd_create("external", 0);
    handle.size = buffer.size = SMALL;
    CHECK(ftruncate(handle.handle.fd, SMALL));
    CHECK(cuImportExternalMemory(memory, &handle));
    CHECK(cuExternalMemoryGetMappedBuffer(&address, *memory, &buffer));
    return address;
}

int main(void)
{
    driver_start();
    CUexternalMemory memory = NULL;
    CUdeviceptr buffer = external_buffer(&memory);
    CUstream first = driver_new_stream(), second = driver_new_stream();
    CUevent read = driver_new_event();
    void *wanted = driver_pinned_block(SMALL, WANTED),
         *source = driver_pinned_block(SMALL, FOREIGN);
    void *target = driver_pinned_block(SMALL, 0);

    CHECK(cuMemcpyHtoD(buffer, wanted, SMALL));
    CHECK(cuCtxSynchronize());
    driver_busy(first);
    CHECK(cuMemcpyDtoHAsync(target, buffer, SMALL, first));
    CHECK(cuEventRecord(read, first));
    if (fixed)
        CHECK(cuStreamWaitEvent(second, read, 0));
    CHECK(cuMemcpyHtoDAsync(buffer, source, SMALL, second));

    CHECK(cuCtxSynchronize());
    CHECK(cuMemFree(buffer));
    CHECK(cuDestroyExternalMemory(memory));
    return finish(holds(target, SMALL, WANTED));
}
