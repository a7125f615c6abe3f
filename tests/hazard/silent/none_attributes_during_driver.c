// expect: none
// sim: driver=13020
// needs: sim
//
// A copy that reads its source during the call, on the stack of a function that has returned.
#include "newer.h"

static TWIN_HELPER void send(CUdeviceptr device, CUstream stream)
{
    unsigned char local[4096];
    fill(local, sizeof local, WANTED);
    copy_with_order(device, local, sizeof local, CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL,
                    stream);
    fill(local, sizeof local, FOREIGN);
}

int main(void)
{
    driver_start();
    CUstream stream = driver_new_stream();
    CUdeviceptr device = driver_device_block(4096, 0);

    driver_busy(stream);
    send(device, stream);
    CHECK(cuStreamSynchronize(stream));
    return finish(driver_device_holds(device, 4096, WANTED));
}
