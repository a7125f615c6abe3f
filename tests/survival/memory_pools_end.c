// expect-exit: 0
// link: cuda
//
// One thread makes pools and destroys them while another one asks who holds the memory: of a pool
// that is gone the driver must not be asked.
#include <cuda.h>
#include <pthread.h>
#include <stdatomic.h>

#include "../../include/safecopy.h"
#include "survival.h"

enum { ASKED = 300, KB = 1 << 10 };

static atomic_bool stops;

static void *churn_pools(void *unused)
{
    const CUmemPoolProps properties = {
        .allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0},
    };
    while (!atomic_load(&stops)) {
        CUmemoryPool pool = NULL;
        CHECK(cuMemPoolCreate(&pool, &properties));
        CHECK(cuMemPoolDestroy(pool));
    }
    return unused;
}

int main(void)
{
    static char json[256 * KB];
    CUcontext context = NULL;
    pthread_t churning;
    CHECK(cuInit(0));
    CHECK(cuDevicePrimaryCtxRetain(&context, 0));
    CHECK(cuCtxSetCurrent(context));
    CHECK(pthread_create(&churning, NULL, churn_pools, NULL));
    for (unsigned i = 0; i < ASKED; i++)
        (void)safecopy_get_memory(json, sizeof json);
    atomic_store(&stops, true);
    CHECK(pthread_join(churning, NULL));
    return 0;
}
